// The number of a text in a column of categories.
//if categories
int ${name}_category(int column, const char *text)
{
    int i, k;

    if (column < 0 || column >= ${prefix}_COLUMNS || indicators[column] < 0)
        return -1;
    if (text[0] == '\0')
        return (int)fills[column];
    for (i = category_start[column]; i < category_start[column + 1]; i++) {
        for (k = 0; text[k] != '\0' && text[k] == categories[i][k]; k++)
            ;
        if (text[k] == categories[i][k])
            return i - category_start[column];
    }
    return -1;
}

//end
