$about

#include $header

$tables
//include category.c
/* 2^-u, 1 being $one; u has 16 binary digits after the point. */
static uint32_t power(uint64_t u)
{
    uint32_t fraction, value, next;

    if (u >= UINT64_C(16) << 16)
        return 0;
    fraction = (uint32_t)(u & 0xffffu);
    value = powers[fraction >> 10];
    next = powers[(fraction >> 10) + 1];
    value -= ((value - next) * (fraction & 0x3ffu) + 0x200u) >> 10;
    return value >> (u >> 16);
}

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
/* The nearest integer of 16 bits; 1 if it is not near. */
static int rounded(float scaled, int16_t *q)
{
    const float end = $largest.0f;

    if (scaled >= -end && scaled <= end) {
        *q = (int16_t)(scaled + (scaled < 0.0f ? -0.5f : 0.5f));
        return 0;
    }
    *q = scaled > end ? $largest : -$largest;
    return 1;
}

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

//if probabilities
/* Logits in base 2, with 16 binary digits after the point. */
static void logits(const int32_t *scores, int64_t *t)
{
    int o;

    for (o = 0; o < $outputs; o++)
        t[o] = scores[o] * multipliers[o] / (INT64_C(1) << $logit_shift) + offsets[o];
}

//end
//if labels
int ${name}_predict(const int16_t q[$row_length])
{
    int32_t scores[$outputs];
//if pairs
// The class of most votes: the first of them, or by the sum of its scores.
//if break_ties
    int64_t confidence[$classes] = {0};
//end
    int votes[$classes] = {0};
    int i, j, pair = 0, best = 0;

    ${name}_decision_function(q, scores);
    for (i = 0; i < $classes; i++) {
        for (j = i + 1; j < $classes; j++, pair++) {
            votes[scores[pair] > 0 ? i : j]++;
//if break_ties
            confidence[i] += scores[pair];
            confidence[j] -= scores[pair];
//end
        }
    }
    for (i = 1; i < $classes; i++)
//if break_ties
        if (votes[i] > votes[best] || (votes[i] == votes[best] && confidence[i] > confidence[best]))
//else
        if (votes[i] > votes[best])
//end
            best = i;
    return best;
//else
//if by_probability
    int64_t t[$outputs];
//end
//if not one_output
    int o, best = 0;
//end

    ${name}_decision_function(q, scores);
//if by_probability
// The largest logit is that of the largest probability.
    logits(scores, t);
//end
//if not one_output
    for (o = 1; o < $outputs; o++)
        if ($compared[o] > $compared[best])
            best = o;
    return best;
//else
//if outliers
    return scores[0] >= 0 ? 1 : -1;
//else
    return $compared[0] > 0;
//end
//end
//end
}

//end
//if probabilities
//if logistic
/*
 * 1 / (1 + 2^-t), 1 being $one, divided by 2^top where not even the largest of several
 * reaches a half, so that they do not vanish together.
 */
static uint32_t logistic(int64_t t, int64_t top)
{
    const uint32_t small = power((uint64_t)(t < 0 ? -t : t));
    const uint32_t share = t < 0 ? power((uint64_t)(top - t)) : ${one}u;

    return share * ${one}u / (${one}u + small);
}

//end
void ${name}_predict_proba(const int16_t q[$row_length], uint16_t probabilities[${prefix}_CLASSES])
{
    int32_t scores[$outputs];
//if one_output
    int64_t t[$outputs];

    ${name}_decision_function(q, scores);
    logits(scores, t);
    probabilities[1] = (uint16_t)logistic(t[0], 0);
    probabilities[0] = (uint16_t)(${one}u - probabilities[1]);
//else
    int64_t t[$outputs], top;
    uint32_t shares[$outputs], total = 0;
    int o;

    ${name}_decision_function(q, scores);
    logits(scores, t);
    top = t[0];
    for (o = 1; o < $outputs; o++)
        top = t[o] > top ? t[o] : top;
    for (o = 0; o < $outputs; o++) {
//if softmax
        shares[o] = power((uint64_t)(top - t[o]));
//else
        shares[o] = logistic(t[o], top < 0 ? top : 0);
//end
        total += shares[o];
    }
    for (o = 0; o < $outputs; o++)
        probabilities[o] = (uint16_t)(shares[o] * ${one}u / total);
//end
}

//end
//include batch.c
