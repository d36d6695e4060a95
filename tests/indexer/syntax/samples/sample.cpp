#include <vector>
#include "shape.hpp"

namespace geo {

// A point in the plane.
template <typename T>
class Point {
public:
    Point(T x, T y) : x_(x), y_(y) {}
    T length() const { return std::sqrt(x_ * x_ + y_ * y_); }
    virtual ~Point();

private:
    T x_, y_;
};

struct Box {
    int width;
};

enum class Side { Left, Right };

double Circle::area() const {
    return pi() * radius_;
}

template <typename T>
T largest(const std::vector<T>& values) {
    return *std::max_element(values.begin(), values.end());
}

}  // namespace geo

int main() {
    geo::Point<int> p(1, 2);
    return run(p);
}
