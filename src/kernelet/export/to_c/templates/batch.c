// Each function for rows that follow each other, the same for all types of numbers.
void ${name}_decision_function_batch(const $row_type *$row, size_t n, $score_type *scores)
{
    size_t i;

    for (i = 0; i < n; i++)
        ${name}_decision_function($row + i * $row_length, scores + i * ${prefix}_SCORES);
}

//if labels
void ${name}_predict_batch(const $row_type *$row, size_t n, int *predicted)
{
    size_t i;

    for (i = 0; i < n; i++)
        predicted[i] = ${name}_predict($row + i * $row_length);
}

//end
//if probabilities
void ${name}_predict_proba_batch(const $row_type *$row, size_t n, $share_type *probabilities)
{
    size_t i;

    for (i = 0; i < n; i++)
        ${name}_predict_proba($row + i * $row_length, probabilities + i * ${prefix}_CLASSES);
}

//end
