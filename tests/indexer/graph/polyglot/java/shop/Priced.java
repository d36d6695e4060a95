package shop;

public interface Priced {
    int price();

    default String tag() {
        return "p" + price(); //> Priced.price
    }
}
