package main

import (
	"fmt"

	st "example.com/shop/store"
)

type Printer interface {
	Print(text string)
}

type console struct {
	prefix string
}

func (c *console) Print(text string) {
	fmt.Println(c.decorate(text)) //> console.decorate
}

func (c *console) decorate(text string) string {
	return c.prefix + text
}

type app struct {
	*console
	cache   *st.Cache
	printer Printer
}

func newApp() *app {
	cache := st.NewCache(10) //> NewCache
	return &app{console: &console{}, cache: cache}
}

func (a *app) run() {
	a.cache.Put("k", "v") //> Cache.Put
	a.Print("embedded") //> console.Print
	a.printer.Print("interface") //> Printer.Print
	item, ok := a.cache.Get("k") //> Cache.Get
	if ok {
		item.Touch() //> Item.Touch
	}
	for _, each := range a.cache.Items() { //> Cache.Items
		each.Touch() //> Item.Touch
	}
}

func helper() string {
	return "main"
}

func main() {
	a := newApp() //> newApp
	a.run() //> app.run
	format := func(text string) string {
		return helper() + text //> helper
	}
	format("x") //> main.format
	var s st.Stack
	s.Push(helper()) //> Stack.Push, helper
	var helper = func() int { return 1 }
	defer a.cache.Close() //> Cache.Close
	go apply(format) //> apply
	st.Default.Get("x") //> Cache.Get
	st.Stack{}.Len() //> Stack.Len
	size := len("x")
	_ = size
	_ = helper
}

func apply(f func(string) string) {
	f("y") //> main.format
}
