#include <stdio.h>
#include "list.h"

int tree_walk(struct node *node, int (*check)(int));

#define TWICE(x) ((x) * 2)

typedef int (*operation)(int);

static int visitor(int value) {
    printf("%d\n", value);
    return TWICE(value);
}

static int negate(int value) {
    return -value;
}

static operation table[] = { visitor, negate };

struct handler {
    operation run;
};

static struct handler handlers = { .run = negate };

int main(int argc, char **argv) {
    list_t *list = list_new(); //> list_new
    list_add(list, 1); //> list_add
    operation chosen = visitor;
    chosen(2); //> visitor
    table[1](3); //> negate
    handlers.run(4); //> negate
    tree_walk(0, visitor); //> tree_walk
    int grow = list_size(list); //> list_size
    list_free(list); //> list_free
    return grow;
}
