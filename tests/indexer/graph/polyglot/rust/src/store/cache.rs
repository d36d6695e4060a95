use super::Entry;

pub struct Cache {
    limit: usize,
    entries: Vec<Entry>,
}

impl Cache {
    pub fn new(limit: usize) -> Self {
        Cache { limit, entries: vec![] }
    }

    pub fn put(&mut self, key: &str) {
        self.entries[0].touch(); //> Entry.touch
        self.evict(key); //> Cache.evict
    }

    pub fn find(&self, key: &str) -> Option<&Entry> {
        self.entries.first()
    }

    fn evict(&mut self, key: &str) {}
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.evict(""); //> Cache.evict
    }
}
