package shop;

public class Book extends Item implements Priced {
    private final Shelf shelf = new Shelf();

    public Book(String title) {
        super(title); //> Item.Item#1
    }

    @Override
    public int price() {
        return super.price() + shelf.price(); //> Item.price, Shelf.price
    }

    public String show() {
        return tag() + base(); //> Priced.tag, Item.base
    }

    private static class Shelf {
        int price() {
            return 3;
        }
    }

    enum Size {
        SMALL, LARGE;

        int scale() {
            return 2;
        }
    }
}
