$about

#include $header

#include <math.h>

$tables
//include encode.c
//include category.c
//include project.c
$kernel
static void outputs(const $real *x, $real *values)
{
//if encodes
    $real row[${prefix}_FEATURES];
//end
//if projects
    $real combined[$kernel_length];
//end
    int j, o;

//if encodes
    encode(x, row);
//end
//if projects
    project($encoded, combined);
//end
    for (o = 0; o < $outputs; o++)
        values[o] = intercepts[o];
    for (j = 0; j < ${prefix}_VECTORS; j++) {
        const $real value = kernel($point, vectors[j]);

// Outputs by fours, which compilers add at once, and the rest.
//if fours
        for (o = 0; o < $fours; o++)
            values[o] += coefficients[j][o] * value;
//end
//if rest
        for (o = $fours; o < $outputs; o++)
            values[o] += coefficients[j][o] * value;
//end
    }
}

//if probabilities
// What the sigmoid or the softmax is taken of, in place.
static void logits($real *values)
{
    int o;

    for (o = 0; o < ${prefix}_SCORES; o++)
//if softmax
        values[o] *= $inverse_temperature;
//else
        values[o] = -(values[o] * slopes[o] + offsets[o]);
//end
}

//end
//if pairs
// As scikit-learn counts them.
/* Votes of the classes; shares below a third of a vote order equal counts. */
static void count_votes(const $real *values, $real *votes, int with_shares)
{
    $real confidence[$classes];
    int i, j, pair = 0;

    for (i = 0; i < $classes; i++)
        votes[i] = confidence[i] = 0.0$f;
    for (i = 0; i < $classes; i++) {
        for (j = i + 1; j < $classes; j++, pair++) {
            votes[values[pair] > 0.0$f ? i : j] += 1.0$f;
            confidence[i] += values[pair];
            confidence[j] -= values[pair];
        }
    }
    for (i = 0; i < $classes; i++) {
        const $real size = fabs$f(confidence[i]);
        const $real share = confidence[i] / (3.0$f * (size + 1.0$f));

        /* NaN stays NaN */
        if (with_shares || share != share)
            votes[i] += share;
    }
}

//end
void ${name}_decision_function(const $real x[$row_length], $real scores[${prefix}_SCORES])
{
//if votes
    $real values[$outputs];

    outputs(x, values);
    count_votes(values, scores, 1);
//else
    outputs(x, scores);
//end
}

//if classes
/* The first of the largest values; -1 if one of them is NaN. */
static int largest(const $real *values, int n)
{
    int i, best = 0;

    for (i = 0; i < n; i++) {
        if (values[i] != values[i])
            return -1;
        if (values[i] > values[best])
            best = i;
    }
    return best;
}

int ${name}_predict(const $real x[$row_length])
{
//if pairs
//if by_probability
    $real scores[$classes];

    ${name}_decision_function(x, scores);
    logits(scores);
    return largest(scores, $classes);
//else
    $real values[$outputs], votes[$classes];

    outputs(x, values);
    count_votes(values, votes, $with_shares);
    return largest(votes, $classes);
//end
//else
//if one_output
    $real values[$classes] = {0.0$f, 0.0$f};

    outputs(x, values + 1);
//else
    $real values[$classes];

    outputs(x, values);
//end
//if by_probability
// The largest logit is that of the largest probability, and not rounded to 1.
//if one_output
    logits(values + 1);
//else
    logits(values);
//end
//end
    return largest(values, $classes);
//end
}

//end
//if outliers
int ${name}_predict(const $real x[$row_length])
{
    $real value;

    outputs(x, &value);
    if (value != value)
        return 0;
    return value >= 0.0$f ? 1 : -1;
}

//end
//if probabilities
//if logistic
static $real logistic($real t)
{
    const $real small = exp$f(-fabs$f(t));

    return (t >= 0.0$f ? 1.0$f : small) / (1.0$f + small);
}

//end
void ${name}_predict_proba(const $real x[$row_length], $real probabilities[${prefix}_CLASSES])
{
//if one_output
    $real value;

    outputs(x, &value);
    logits(&value);
//if softmax
// The softmax of -t and t is the sigmoid of 2 t.
    probabilities[1] = logistic(2.0$f * value);
    probabilities[0] = logistic(-(2.0$f * value));
//else
    probabilities[1] = logistic(value);
    probabilities[0] = logistic(-(value));
//end
//else
//if softmax
    $real top, total = 0.0$f;
//else
    $real total = 0.0$f;
//end
    int o;

    ${name}_decision_function(x, probabilities);
    logits(probabilities);
//if softmax
    top = probabilities[0];
    for (o = 1; o < ${prefix}_SCORES; o++)
        top = fmax$f(top, probabilities[o]);
//end
    for (o = 0; o < ${prefix}_SCORES; o++) {
//if softmax
        probabilities[o] = exp$f(probabilities[o] - top);
//else
        probabilities[o] = logistic(probabilities[o]);
//end
        total += probabilities[o];
    }
    for (o = 0; o < ${prefix}_SCORES; o++)
//if softmax
        probabilities[o] /= total;
//else
        probabilities[o] = total == 0.0$f ? $even_share : probabilities[o] / total;
//end
//end
}

//end
//include batch.c
