package store

type Stack struct {
	values []string
}

func (s *Stack) Push(value string) {
	s.values = append(s.values, value)
	if s.Len() > 10 { //> Stack.Len
		s.Close() //> Stack.Close
	}
}

func (s Stack) Len() int {
	return len(s.values)
}

func (s *Stack) Close() {}

func evict(c *Cache, name string) {
	for _, item := range c.items {
		item.Touch() //> Item.Touch
	}
	c.Close() //> Cache.Close
}

func helper() string {
	return "store"
}
