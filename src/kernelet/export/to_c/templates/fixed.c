$about

#include $header

$tables
//include category.c
//include power.c
/* exp(-gamma r^2), 1 being $one. */
static int32_t kernel(const int16_t *q, const int16_t *z)
{
    uint64_t squared = 0;
    int i;

    for (i = 0; i < $kernel_length; i++) {
        const int32_t difference = (int32_t)q[i] - (int32_t)z[i];
        const uint32_t size = (uint32_t)(difference < 0 ? -difference : difference);

        squared += (uint64_t)(size * size);
    }
    squared = (squared >> $pre_shift) * UINT64_C($multiplier);
    return (int32_t)power(squared >> $post_shift);
}

//include encode.c
//include project.c
//include rounded.c
int ${name}_quantize(const float x[$given_length], int16_t q[$kernel_length])
{
//if by_column
// Scales of columns are part of the rates, so that no row of floats is needed.
//if categories
    int c, i, feature = 0, outside = 0;
//else
    int c, feature = 0, outside = 0;
//end

    for (c = 0; c < ${prefix}_COLUMNS; c++) {
        const float value = $cell;

//if categories
        if (indicators[c] < 0)
            outside += rounded((value - centres[c]) * rates[c], q + feature++);
        for (i = 0; i < indicators[c]; i++, feature++)
            q[feature] = value == (float)i ? present[feature] : absent[feature];
//else
        outside += rounded((value - centres[c]) * rates[c], q + feature++);
//end
    }
//else
//if encodes
    float row[${prefix}_FEATURES];
//end
//if projects
    float combined[$kernel_length];
//end
    int i, outside = 0;

//if encodes
    encode(x, row);
//end
//if projects
    project($encoded, combined);
//end
    for (i = 0; i < $kernel_length; i++)
        outside += rounded(($point[i] - centres[i]) * $rate, q + i);
//end
    return outside;
}

void ${name}_decision_function(const int16_t q[$row_length], int32_t scores[${prefix}_SCORES])
{
    int64_t sums[$outputs];
    int j, o;

    for (o = 0; o < $outputs; o++)
        sums[o] = intercepts[o];
    for (j = 0; j < ${prefix}_VECTORS; j++) {
        const int32_t value = kernel(q, vectors[j]);

        for (o = 0; o < $outputs; o++)
            sums[o] += (int64_t)(coefficients[j][o] * value);
    }
    for (o = 0; o < $outputs; o++)
        scores[o] = (int32_t)(sums[o] / (INT64_C(1) << $score_shift));
}

//include answers.c
