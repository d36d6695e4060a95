pub mod cache;

pub struct Entry;

impl Entry {
    pub fn touch(&self) {}

    pub fn area(&self) {}
}
