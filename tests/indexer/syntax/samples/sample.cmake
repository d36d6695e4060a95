include(CTest)

function(add_tool name)
  add_executable(${name} ${name}.c)
endfunction()

add_tool(app)
