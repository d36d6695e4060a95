#pragma once
#include <memory>
#include <string>
#include <vector>

namespace geo {

class Shape {
public:
    explicit Shape(std::string name);
    virtual ~Shape() = default;
    virtual double area() const = 0;
    std::string describe() const;
    static Shape *make(int sides);

protected:
    std::string name_;
};

class Square : public Shape {
public:
    Square(double side) : Shape("square"), side_(side) {} //> Shape.Shape
    double area() const override { return side_ * side_; }
    void scale(double by);
    void scale(double by, int times) {
        scale(by); //> Square.scale#1
    }

private:
    double side_;
};

struct Point {
    double x;
    double norm() const { return helper(x); } //> helper@shape.hpp
    static double helper(double v) { return v; }
};

inline double helper(double v) { return v; }

template <typename T>
class Stack {
public:
    void push(T value) { items_.push_back(value); }
    T &top() { return items_.back(); }

private:
    std::vector<T> items_;
};

}  // namespace geo
