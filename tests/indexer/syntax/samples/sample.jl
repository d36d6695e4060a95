module Shapes

using LinearAlgebra
import Base: show

const LIMIT = 10

abstract type Shape end

struct Circle <: Shape
    radius::Float64
end

"The area."
function area(c::Circle)
    return square(c.radius) * pi
end

square(x) = x * x

macro twice(e)
    return esc(e)
end

end
