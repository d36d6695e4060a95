local json = require("json")

local M = {}

-- How often to try.
local RETRIES = 3

-- Reads a file.
function M.read(path)
  local file = io.open(path)
  return json.decode(file:read("*a"))
end

function M:close()
  self.handle:close()
end

local function helper(x)
  return tostring(x)
end

M.write = function(path, value)
  helper(value)
end

return M
