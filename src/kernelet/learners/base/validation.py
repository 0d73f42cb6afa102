"""scikit-learn's checks of arguments, for use in several threads.

They change warning filters for a moment. These belong to the whole process, and
a thread takes the change of another for the original: predictions in eight threads left a filter
that turns ComplexWarning into an error.
"""

from __future__ import annotations

from sklearn.utils import multiclass, validation

from kernelet.kernels.silence import restoring_filters

check_array = restoring_filters(validation.check_array)
check_X_y = restoring_filters(validation.check_X_y)
column_or_1d = restoring_filters(validation.column_or_1d)
check_sample_weight = restoring_filters(validation._check_sample_weight)
check_classification_targets = restoring_filters(multiclass.check_classification_targets)
validate_data = restoring_filters(validation.validate_data)
