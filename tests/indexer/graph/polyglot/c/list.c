#include "list.h"
#include <stdlib.h>

static void grow(list_t *list) {
    list->size++;
}

static int check(int value) {
    return value > 0;
}

list_t *list_new(void) {
    return malloc(sizeof(list_t));
}

int list_add(list_t *list, int value) {
    if (!check(value)) { //> check@list.c
        return -1;
    }
    grow(list); //> grow@list.c
    return list_size(list); //> list_size
}

void list_free(list_t *list) {
    free(list);
}
