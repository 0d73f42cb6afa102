$about

#include $header

$tables
//include category.c
//include power.c
//if vectors
/* 2^-t, 1 being 2^$value_digits; t has $digits binary digits after the point. */
static int32_t kernel($word t)
{
    const $word octaves = t >> $digits;

    if (t >> $sign) /* below 0, but for rounding */
        return INT32_C(1) << $value_digits;
    if (octaves > $value_digits)
        return 0;
    return (int32_t)(mantissa((uint32_t)(t >> $dropped_digits) & 0xffffu) >> (octaves + $lowered));
}

//end
//if varying
//if wide_words
/* The nearest integer to product * 2^(32 - shift). */
static uint64_t weight(int32_t product, uint32_t shift)
{
    const uint64_t sign = UINT64_C(1) << 63;
    const uint64_t moved = ((uint64_t)((uint32_t)product + UINT32_C(0x80000000)) << 32);

    return ((moved + (UINT64_C(1) << (shift - 1))) >> shift) - (sign >> shift);
}
//else
/* The nearest integer to product / 2^shift. */
static uint32_t weight(int32_t product, uint32_t shift)
{
    const uint32_t sign = UINT32_C(0x80000000);

    return (((uint32_t)product + sign + (UINT32_C(1) << (shift - 1))) >> shift) - (sign >> shift);
}
//end

//end
//include rounded.c
//include compact_quantize.c
void ${name}_decision_function(const int16_t q[$row_length], int32_t scores[${prefix}_SCORES])
{
//if wide_sums
    int64_t sums[$outputs];
//end
//if vectors
//if varying
    $word weights[$n_varying];
//end
    $word start = 0;
    uint64_t squared = 0;
//if varying
    const $code_type *code = vectors;
//if reads_codes
    uint32_t held = 0;
    int left = 0;
//end
//if odd_codes
    int half_read = 0;
//end
//end
    const $coefficient_type *coefficient = coefficients;
//if reads_coefficients
    uint32_t kept = 0;
    int rest = 0;
//end
//if some_vary
    int i, j, o, n_near, n = 0;
//else
    int i, j, o, n_near;
//end
//else
    int o;

    (void)q;
//end

    for (o = 0; o < $outputs; o++)
        $sums[o] = ($sum_type)intercepts[o] * $intercept_factor;
//if vectors
    for (i = 0; i < $kernel_length; i++) {
        const int32_t entry = q[i];
//if varying
//if steps
        const uint32_t step = (uint32_t)(step_codes[i] + $plus);
        const int32_t factor = powers[(step & 7) << 3];
//if limited_steps
        const uint32_t shift = step >> 3 < $largest_shift ? step >> 3 : $largest_shift;
//else
        const uint32_t shift = step >> 3;
//end
//else
        const int32_t factor = $factor;
        const uint32_t shift = $shift;
//end
//end

        squared += (uint32_t)(entry * entry);
//if varying
//if some_vary
        if ((varying[i >> 3] >> (i & 7) & 1) == 0)
            continue;
        weights[n] = weight(entry * factor, shift);
        start += weights[n++];
//else
        weights[i] = weight(entry * factor, shift);
        start += weights[i];
//end
//end
    }
    squared = (squared >> $pre_shift) * UINT64_C($multiplier) >> $post_shift;
    start = start * $half + ($word)squared;
    /* far from all vectors, where exponents would not fit, values are 0 */
    n_near = squared < UINT64_C($far) ? ${prefix}_VECTORS : 0;
    for (j = 0; j < n_near; j++) {
        $word t = start + ($word)lengths[j] * $length_factor;
        int32_t value;

//if varying
//if pairs_of_codes
//if odd_codes
// Every other vector begins in the middle of a byte.
        i = 0;
        if (half_read)
            t -= weights[i++] * (uint32_t)(*code++ >> 4);
        for (; i < ${n_varying} - 1; i += 2, code++) {
//else
        for (i = 0; i < $n_varying; i += 2, code++) {
//end
            t -= weights[i] * (*code & 15u);
            t -= weights[i + 1] * (uint32_t)(*code >> 4);
        }
//if odd_codes
        half_read = i < $n_varying;
        if (half_read)
            t -= weights[i] * (*code & 15u);
//end
//else
        for (i = 0; i < $n_varying; i++) {
//if reads_codes
            if (left < $bits) {
                held |= (uint32_t)*code++ << left;
                left += 8;
            }
            t -= weights[i] * (held & ${largest_code}u);
            held >>= $bits;
            left -= $bits;
//else
            t -= weights[i] * *code++;
//end
        }
//end
//end
        value = kernel(t);
        for (o = 0; o < $outputs; o++) {
//if reads_coefficients
            if (rest < $coefficient_bits) {
                kept |= (uint32_t)*coefficient++ << rest;
                rest += 8;
            }
            $sums[o] += value * ((int32_t)(kept & ${largest_coefficient}u) - $half_coefficient);
            kept >>= $coefficient_bits;
            rest -= $coefficient_bits;
//else
            $sums[o] += value * *coefficient++;
//end
        }
    }
//end
//if wide_sums
    for (o = 0; o < $outputs; o++)
        scores[o] = (int32_t)(sums[o] / (INT64_C(1) << $score_shift));
//end
}

//include answers.c
