#include <stdio.h>
#include "list.h"

#define MAX_ITEMS 16
#define SQUARE(x) ((x) * (x))

/* One link of the list. */
struct node {
    int value;
    struct node *next;
};

enum color { RED, GREEN };

typedef struct node node_t;

static int counter = 0;

/* Adds a value at the front. */
struct node *list_push(struct node *head, int value)
{
    struct node *node = malloc(sizeof(*node));
    node->value = SQUARE(value);
    return node;
}

int main(void)
{
    printf("%d\n", counter);
    return 0;
}
