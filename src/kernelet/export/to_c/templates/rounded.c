// What a number of a row becomes.
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

