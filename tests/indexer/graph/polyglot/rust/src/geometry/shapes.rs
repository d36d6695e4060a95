use super::area;

pub struct Circle {
    pub radius: f64,
}

impl Circle {
    pub fn unit() -> Circle {
        Circle { radius: corner() } //> corner
    }

    pub fn radius(&self) -> f64 {
        self.radius
    }

    pub fn grow(&self, by: f64) -> f64 {
        area(self) * by //> area
    }
}

pub fn corner() -> f64 {
    1.0
}
