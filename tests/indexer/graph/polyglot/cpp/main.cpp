#include "shape.hpp"

namespace g = geo;
using geo::Square;

namespace app {

double helper(double v) { return v; }

class Runner {
public:
    Runner() : square_(2) {} //> Square.Square

    void run() {
        square_.scale(1.0); //> Square.scale#1
        square_.scale(1.0, 2); //> Square.scale#2
        pointer_->describe(); //> Shape.describe
        owned_->area(); //> Square.area
        helper(1.0); //> helper@main.cpp
        geo::helper(2.0); //> helper@shape.hpp
        point_.norm(); //> Point.norm
    }

private:
    Square square_;
    geo::Shape *pointer_;
    std::unique_ptr<Square> owned_;
    g::Point point_;
};

}  // namespace app

void use(const geo::Shape &shape) {
    shape.area(); //> Shape.area
}

template <typename T>
void each(T callback) {
    callback();
}

int main() {
    app::Runner runner; //> Runner.Runner
    runner.run(); //> Runner.run
    Square square(3); //> Square.Square
    use(square); //> use
    auto *made = geo::Shape::make(4); //> Shape.make
    made->describe(); //> Shape.describe
    auto other = std::make_unique<Square>(5); //> Square.Square
    other->scale(1.0); //> Square.scale#1
    auto lambda = [&](int n) { return square.area(); }; //> Square.area
    lambda(1); //> main.lambda
    geo::Stack<Square> stack;
    stack.push(square); //> Stack.push
    stack.top().area(); //> Stack.top, Square.area
    each(lambda); //> each
    Square{6}.area(); //> Square.Square, Square.area
    return 0;
}
