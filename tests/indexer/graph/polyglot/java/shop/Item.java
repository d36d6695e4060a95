package shop;

import java.util.List;

public class Item {
    protected final String name;
    private static int count = 0;

    public Item(String name) {
        this.name = name;
        count++;
    }

    public Item() {
        this("none"); //> Item.Item#1
    }

    public int price() {
        return base() * 2; //> Item.base
    }

    protected int base() {
        return 1;
    }

    public static Item of(String name) {
        return new Item(name); //> Item.Item#1
    }

    public Item rename(String to) {
        return new Item(to); //> Item.Item#1
    }

    public int add(int a) {
        return a;
    }

    public int add(int a, int b) {
        return add(a) + b; //> Item.add#1
    }

    public int add(String a) {
        return 0;
    }

    static class Builder {
        private Item item;

        Builder with(String name) {
            this.item = Item.of(name); //> Item.of
            return this;
        }

        Item build() {
            return item.rename("x"); //> Item.rename
        }
    }
}
