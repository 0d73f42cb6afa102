/* Starts the processor, talks to the debugger (ARM's semihosting), and measures the stack. */
#include "board.h"

#define PAINT 0xa5a5a5a5u
#define DEPTH 2048 /* words that are looked at */

extern uint32_t stack_top;
int main(void);

static void ask(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void put_text(const char *text)
{
    ask(0x04, text);
}

void put_words(const void *data, size_t bytes)
{
    const uint8_t *byte = data;
    char text[3] = {0};
    size_t i;

    for (i = 0; i < bytes; i++) {
        text[0] = "0123456789abcdef"[byte[i] >> 4];
        text[1] = "0123456789abcdef"[byte[i] & 15];
        put_text(text);
    }
    put_text("\n");
}

__attribute__((noinline)) uint32_t stack_of(void (*function)(void))
{
    volatile uint32_t *here, *lowest;

    __asm__ volatile("mov %0, sp" : "=r"(here));
    for (lowest = here - DEPTH; lowest < here; lowest++)
        *lowest = PAINT;
    function();
    for (lowest = here - DEPTH; lowest < here && *lowest == PAINT; lowest++)
        ;
    return (uint32_t)((const char *)here - (const char *)lowest);
}

void reset(void)
{
    volatile uint32_t *const coprocessors = (volatile uint32_t *)0xe000ed88;

    *coprocessors |= 0xfu << 20; /* the floating-point unit is off after a reset */
    __asm__ volatile("dsb\n\tisb");
    main();
    ask(0x18, (const void *)0x20026); /* the end */
    for (;;)
        ;
}

static void fault(void)
{
    put_text("fault\n");
    ask(0x18, (const void *)0x20023);
    for (;;)
        ;
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    &stack_top, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
};
