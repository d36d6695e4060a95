package com.acme.orders;

import java.util.List;
import static java.util.stream.Collectors.toList;

/**
 * Handles orders.
 */
@Service
public class OrderService extends Base implements Orders {
    private static final int LIMIT = 10;
    private final OrderRepository repository;

    public OrderService(OrderRepository repository) {
        this.repository = repository;
    }

    @Override
    public List<Order> open() {
        return repository.findAll().stream().filter(Order::isOpen).collect(toList());
    }

    enum State { OPEN, PAID }
}

interface Orders {
    List<Order> open();
}

record Line(String name, int price) {
    int total() {
        return Math.max(price, 0);
    }
}
