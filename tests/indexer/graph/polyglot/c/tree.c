#include "list.h"

struct node {
    struct node *next;
    list_t *items;
};

static int check(int value) {
    return value < 0;
}

static void grow(struct node *node) {
    node->items = list_new(); //> list_new
    list_add(node->items, check(1)); //> list_add, check@tree.c
}

int tree_walk(struct node *node, int (*check)(int)) {
    if (node->next) {
        return tree_walk(node->next, check); //> tree_walk
    }
    check(3); //> visitor
    grow(node); //> grow@tree.c
    return 0;
}
