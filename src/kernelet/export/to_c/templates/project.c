// The features in use, or combinations of them.
//if projects
//if matrix
/* The combinations of the features that the kernel takes. */
//else
/* The features that the kernel uses; NaN where any feature is NaN. */
//end
static void project(const $real *x, $real *combined)
{
//if some_features
    $real nothing = 0.0$f;
//end
//if matrix
    int f, i;
//else
    int f;
//end

//if some_features
    for (f = 0; f < ${prefix}_FEATURES; f++)
        if (x[f] != x[f])
            nothing = x[f];
//end
//if matrix
    for (i = 0; i < ${prefix}_COMBINATIONS; i++)
        combined[i] = $nothing;
    for (f = 0; f < ${prefix}_$used_features; f++) {
        const $real value = x[$used]$from_origin;

        for (i = 0; i < ${prefix}_COMBINATIONS; i++)
            combined[i] += ${cast}matrix[f][i] * value;
    }
//else
    for (f = 0; f < ${prefix}_USED_FEATURES; f++)
        combined[f] = x[used[f]] + nothing;
//end
}

//end
