// Labels and probabilities from integer scores, and batches.
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
