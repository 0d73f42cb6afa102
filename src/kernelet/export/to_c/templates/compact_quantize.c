// A row as integers, a feature at a time: no row of floats is kept.
//if has_eighths
/* 2^(-code / 8); an octave is 1 in the exponent of a float. */
static float power_of(uint8_t code)
{
    union {
        float value;
        uint32_t bits;
    } power;

    power.value = eighths[code & 7];
    power.bits -= (uint32_t)(code >> 3) << 23;
    return power.value;
}

//end
int ${name}_quantize(const float x[$given_length], int16_t q[$kernel_length])
{
//if matrix
    float combined[$kernel_length] = {0.0f};
    const $matrix_type *number = matrix;
//if reads_matrix
    uint32_t held = 0;
    int left = 0;
//end
//end
//if some_features
    float nothing = 0.0f;
//end
//if matrix
    int i;
//end
//if categories
    int c = 0, k = 0;
//end
//if counts_features
    int f, n = 0, outside = 0;
//else
    int f, outside = 0;
//end

    for (f = 0; f < ${prefix}_FEATURES; f++) {
//if encodes
//if categories
// The next column, or the next indicator of one of categories.
        float value;

        while (k == indicators[c]) {
            c++;
            k = 0;
        }
        value = $cell;
        if (indicators[c] == -1) {
            value = $scaled;
            c++;
        } else {
            value = value == (float)k ? 1.0f : 0.0f;
            k++;
        }
//else
        const int c = f;
        float value = $cell;

        value = $scaled;
//end
//else
        float value = x[f];
//end

//if some_features
        if ((used[f >> 3] >> (f & 7) & 1) == 0) {
            if (value != value)
                nothing = value;
            continue;
        }
//end
//if matrix
        value *= $rate;
        for (i = 0; i < $kernel_length; i++) {
//if reads_matrix
            if (left < $bits) {
                held |= (uint32_t)*number++ << left;
                left += 8;
            }
            combined[i] += (float)((int)(held & ${largest_code}u) - $half) * value;
            held >>= $bits;
            left -= $bits;
//else
            combined[i] += (float)(*number++ - $half) * value;
//end
        }
//if counts_features
        n++;
//end
//else
        value *= $rate;
        outside += rounded(value$offset, q + $place);
//if counts_features
        n++;
//end
//end
    }
//if matrix
    for (i = 0; i < $kernel_length; i++)
        outside += rounded(combined[i]$offset, q + i);
//end
//if some_features
    if (nothing != nothing) {
        for (f = 0; f < $kernel_length; f++)
            q[f] = -$largest;
        return $kernel_length;
    }
//end
    return outside;
}

