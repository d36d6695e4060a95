package store

import "sync"

type Item struct {
	count int
	owner *Cache
}

func (i *Item) Touch() {
	i.count++
	i.owner.log("touch") //> Cache.log
}

type Cache struct {
	sync.Mutex
	items map[string]*Item
	limit int
}

var Default = NewCache(1) //> NewCache

func NewCache(limit int) *Cache {
	return &Cache{limit: limit, items: map[string]*Item{}}
}

func (c *Cache) Get(key string) (*Item, bool) {
	c.Lock()
	defer c.Unlock()
	item, ok := c.items[key]
	return item, ok
}

func (c *Cache) Put(key, value string) {
	c.items[key] = &Item{owner: c}
	c.items[key].Touch() //> Item.Touch
	evict(c, helper()) //> evict, helper
}

func (c *Cache) Items() []*Item {
	var all []*Item
	return all
}

func (c *Cache) Close() { c.log("close") } //> Cache.log

func (c *Cache) log(text string) {}
