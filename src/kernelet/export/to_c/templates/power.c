// Powers of 2 from a table; the same in all integer arithmetic.
//if takes_powers
/* 2^(-fraction / 65536), 1 being 2^$mantissa_digits; the fraction is less than 65536. */
static uint32_t mantissa(uint32_t fraction)
{
    const uint32_t value = powers[fraction >> 10];
    const uint32_t next = powers[(fraction >> 10) + 1];

    return (value << 10) - (value - next) * (fraction & 0x3ffu);
}

//end
//if long_powers
/* 2^-u, 1 being $one; u has 16 binary digits after the point. */
static uint32_t power(uint64_t u)
{
    if (u >= UINT64_C(16) << 16)
        return 0;
    return (mantissa((uint32_t)(u & 0xffffu)) + 0x200u) >> 10 >> (u >> 16);
}

//end
