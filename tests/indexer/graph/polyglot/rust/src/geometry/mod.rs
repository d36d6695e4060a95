pub mod shapes;
pub use self::shapes::Circle;

pub trait Shape {
    fn area(&self) -> f64;

    fn describe(&self) -> String {
        format!("{}", self.area()) //> Shape.area
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.radius() * 2.0 //> Circle.radius
    }
}

pub fn area(shape: &Circle) -> f64 {
    shape.area() //> Circle.area
}
