package app;

import shop.Book;
import shop.Item;
import static shop.Item.of;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

public class Main {
    private Book book;
    private List<Book> books = new ArrayList<>();

    Main(Book book) {
        this.book = book;
    }

    void run(Item item) {
        item.price(); //> Item.price
        book.show(); //> Book.show
        item.add(1, 2); //> Item.add#2
        item.add("x"); //> Item.add#3
        item.add(7); //> Item.add#1
        for (Book each : books) {
            each.price(); //> Book.price
        }
        books.forEach(b -> b.show());
        var made = of("y"); //> Item.of
        made.rename("z").price(); //> Item.rename, Item.price
        Book first = books.get(0);
        first.show(); //> Book.show
        String price = "1";
        price.trim();
        Supplier<Book> supplier = () -> create(); //> Main.create
        Runnable task = this::finish;
        Item anonymous = new Item("a") { //> Item.Item#1
            @Override
            public int price() {
                return base(); //> Item.base
            }
        };
    }

    private static Book create() {
        return new Book("t"); //> Book.Book
    }

    void finish() {
        create().show(); //> Main.create, Book.show
        Item.Builder builder = new Item.Builder();
        builder.with("n").build().price(); //> Item.Builder.with, Item.Builder.build, Item.price
        Book.Size.SMALL.scale(); //> Book.Size.scale
    }

    public static void main(String[] args) {
        Main main = new Main(create()); //> Main.Main, Main.create
        main.run(new Book("b")); //> Main.run, Book.Book
        Object other = args;
        other.toString();
    }
}
