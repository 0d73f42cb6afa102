$about

#ifndef KERNELET_${prefix}_H
#define KERNELET_${prefix}_H

#include <stddef.h>
//if fixed
#include <stdint.h>
//end

//if columns
#define ${prefix}_COLUMNS $n_columns
//end
#define ${prefix}_FEATURES $n_features
#define ${prefix}_VECTORS $n_vectors
//if some_features
#define ${prefix}_USED_FEATURES $n_used
//end
//if matrix
#define ${prefix}_COMBINATIONS $n_combinations
//end
#define ${prefix}_SCORES $n_scores
//if classes
#define ${prefix}_CLASSES $classes
//end
//if feature_names

/* Features: $feature_names */
//end

#ifdef __cplusplus
extern "C" {
#endif

//if fixed
/* A score times this is the value of the decision function. */
#define ${prefix}_SCORE_UNIT $score_unit

//end
//if columns
$columns_explained
$column_names

//if categories
/*
 * The number that stands for a text in a column of categories: -1, none of the known
 * ones, for a text that was not there in training; an empty text is a missing value.
 */
int ${name}_category(int column, const char *text);

//end
//end
//if fixed
/*
 * The integers that stand for a row, which the other functions take. It returns how many
//if matrix
 * combinations of features are NaN or out of range, where all kernel values are 0 but for rounding.
//else
//if some_features
 * features in use are NaN or out of range, where all kernel values are 0 but for rounding.
//else
 * features are NaN or out of range, where all kernel values are 0 but for rounding.
//end
//end
//if some_features
 * NaN in a feature that is not in use counts as NaN in all that are.
//end
 */
int ${name}_quantize(const float x[$given_length], int16_t q[$kernel_length]);

//end
//if nan
/* The scores of a row, and of n rows that follow each other; NaN if it holds NaN. */
//else
/* The scores$of_pairs of a row, and of n rows that follow each other. */
//end
void ${name}_decision_function(const $row_type $row[$row_length], $score_type scores[${prefix}_SCORES]);
void ${name}_decision_function_batch(const $row_type *$row, size_t n, $score_type *scores);

//if labels
//if outliers
//if nan
/* 1 for a row like those of the training, -1 for an outlier, 0 if it holds NaN. */
//else
/* 1 for a row like those of the training, -1 for an outlier. */
//end
//else
//if nan
/* The number of the class of a row, from 0; -1 if it holds NaN. */
//else
/* The number of the class of a row, from 0. */
//end
//end
int ${name}_predict(const $row_type $row[$row_length]);
void ${name}_predict_batch(const $row_type *$row, size_t n, int *predicted);

//end
//if probabilities
//if fixed
/* Probabilities of the classes; 1 is $one. */
//else
/* Probabilities of the classes. */
//end
void ${name}_predict_proba(const $row_type $row[$row_length], $share_type probabilities[${prefix}_CLASSES]);
void ${name}_predict_proba_batch(const $row_type *$row, size_t n, $share_type *probabilities);

//end
//if class_names
/* What the classes are called. */
$class_names

//end
#ifdef __cplusplus
}
#endif

#endif
