#ifndef LIST_H
#define LIST_H

typedef struct list list_t;

struct list {
    int size;
    void (*visit)(int);
};

list_t *list_new(void);
int list_add(list_t *list, int value);
void list_free(list_t *list);

static inline int list_size(list_t *list) {
    return list->size;
}

#endif
