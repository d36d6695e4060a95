mod geometry;
mod store;

use geometry::{area as measure, Circle, Shape};
use store::cache::Cache;
use store::*;

struct App {
    cache: Cache,
    shapes: Vec<Circle>,
}

impl App {
    fn new(cache: Cache) -> Self {
        App { cache, shapes: Vec::new() }
    }

    fn run(&mut self) {
        self.cache.put("a"); //> Cache.put
        for shape in self.shapes.iter() {
            shape.grow(2.0); //> Circle.grow
        }
        for shape in &self.shapes {
            shape.describe(); //> Shape.describe
        }
        if let Some(found) = self.cache.find("a") { //> Cache.find
            found.touch(); //> Entry.touch
        }
        self.finish(); //> App.finish
        Self::helper(); //> App.helper
    }

    fn finish(&self) {
        helper(); //> helper
    }

    fn helper() {}
}

fn helper() {}

fn main() {
    let cache = Cache::new(3); //> Cache.new
    let mut app = App::new(cache); //> App.new
    app.run(); //> App.run
    let circle = Circle::unit(); //> Circle.unit
    circle.area(); //> Circle.area
    measure(&circle); //> area
    let double = |x: f64| scale(x); //> scale
    double(2.0); //> main.double
    let boxed: Box<Circle> = Box::new(circle);
    boxed.grow(1.0); //> Circle.grow
    geometry::shapes::corner(); //> corner
    apply(helper); //> apply
    let entry = make_entry().unwrap(); //> make_entry
    entry.touch(); //> Entry.touch
    let text = String::new();
    text.len();
    show(&Circle { radius: 1.0 }); //> show
}

fn scale(x: f64) -> f64 {
    x * 2.0
}

fn apply(f: fn()) {
    f(); //> helper
}

fn show(shape: &dyn Shape) {
    shape.area(); //> Shape.area
}

fn show_all<T: Shape>(shape: T) {
    shape.describe(); //> Shape.describe
}

fn make_entry() -> Option<Entry> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn helper() {}

    #[test]
    fn runs() {
        helper(); //> tests.helper
        super::helper(); //> helper
        scale(1.0); //> scale
        crate::geometry::area(&Circle::unit()); //> area, Circle.unit
    }
}
