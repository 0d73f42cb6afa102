/* What a program on the emulated board has: words to the outside, and a look at its own stack. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

void put_text(const char *text);
void put_words(const void *data, size_t bytes);

/* Bytes of stack that a call of the function takes at most. */
uint32_t stack_of(void (*function)(void));

#endif
