// A row of columns as the features of the machine.
//if encodes
/* Numbers are scaled, categories become indicators. */
static void encode(const $real *x, $real *row)
{
//if categories
    int c, i;
//else
    int c;
//end

    for (c = 0; c < ${prefix}_COLUMNS; c++) {
        const $real value = $cell;

//if categories
        if (indicators[c] == -1)
            *row++ = $scaled;
        for (i = 0; i < indicators[c]; i++)
            *row++ = value == ($real)i ? 1.0$f : 0.0$f;
//else
        row[c] = $scaled;
//end
    }
}

//end
