#include "shape.hpp"

namespace geo {

namespace {
int counter() {
    return 1;
}
}  // namespace

Shape::Shape(std::string name) : name_(name) {
    counter(); //> counter
}

std::string Shape::describe() const {
    return name_ + std::to_string(area()); //> Shape.area
}

Shape *Shape::make(int sides) {
    return new Square(sides); //> Square.Square
}

void Square::scale(double by) {
    side_ *= helper(by); //> helper@shape.hpp
    this->describe(); //> Shape.describe
}

}  // namespace geo
