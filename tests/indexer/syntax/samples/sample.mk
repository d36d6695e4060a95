include common.mk

CC := gcc

# Builds everything.
all: main.o
	$(CC) -o app main.o

clean:
	rm -f app

.PHONY: all clean
