package shop

import groovy.json.JsonSlurper

class Cart {
    int limit = 10

    def add(String item) {
        items.add(item)
    }
}

def total(cart) {
    return cart.sum()
}
