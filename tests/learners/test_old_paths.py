"""Pickles and skops files that name a class by the module it lived in before."""

import io
import json
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal

import kernelet
from kernelet import learners
from kernelet.learners.old_paths import OLD_PATHS
from kernelet.persistence import skops_trusted

X = np.random.default_rng(0).normal(size=(40, 2))
Y = (X[:, 0] > 0).astype(int)
# The module of each class when the first files were written.
CLASSES = {
    "calibrate": ["CalibratedClassifier"],
    "compressed": [
        "CompressedClassifier",
        "CompressedOutlierDetector",
        "CompressedPairwiseClassifier",
        "CompressedRegressor",
        "CompressedTransformer",
    ],
    "core_vector_svc": ["CoreVectorSVC"],
    "kernel_fisher": ["KernelFisherClassifier"],
    "kernel_fisher_discriminant": ["KernelFisherDiscriminant"],
    "kernel_subspace": ["KernelSubspace"],
    "max_margin_discriminant": ["MaxMarginDiscriminantAnalysis"],
    "minimal_kernel": ["MinimalKernelSVC"],
    "minimal_kernel_rows": ["Kept", "ReducedKernel"],
    "norm_kernel_ridge": ["NormKernelRidge"],
    "norm_svc": ["NormSVC"],
    "norm_svr": ["NormSVR"],
    "reduced_svc": ["ReducedSVC"],
    "relevance_classifier": ["RelevanceVectorClassifier"],
    "relevance_regressor": ["RelevanceVectorRegressor"],
    "sparse_kernel_pca": ["SparseKernelPCA"],
    "sparse_kernel_ridge": ["SparseKernelRidge"],
    "sparse_one_class": ["SparseOneClassSVM"],
    "sparse_svc": ["SparseSVC"],
    "sparse_svr": ["SparseSVR"],
    "subspace_lp": ["SubspaceLPSVC"],
    "table_model": ["TableModel"],
    "wrappers.calibrate": ["CalibratedClassifier"],
}


def fitted(name):
    make = {
        "minimal_kernel": lambda: kernelet.MinimalKernelSVC(random_state=0),
        "sparse_svc": lambda: kernelet.SparseSVC(2, random_state=0),
    }
    return make[name]().fit(X, Y)


def old_pickle(model):
    """Protocol 0 spells names as text, on lines of their own."""
    data = pickle.dumps(model, protocol=0)
    for old, new in OLD_PATHS.items():
        data = data.replace(
            f"kernelet.learners.{new}\n".encode(), f"kernelet.learners.{old}\n".encode()
        )
    return data


def old_skops(model):
    new = {f"kernelet.learners.{new}": f"kernelet.learners.{old}" for old, new in OLD_PATHS.items()}

    def renamed(value):
        if isinstance(value, dict):
            return {key: renamed(item) for key, item in value.items()}
        if isinstance(value, list):
            return [renamed(item) for item in value]
        return new.get(value, value) if isinstance(value, str) else value

    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(skops.io.dumps(model))) as source,
        zipfile.ZipFile(written, "w") as target,
    ):
        for name in source.namelist():
            content = source.read(name)
            if name == "schema.json":
                content = json.dumps(renamed(json.loads(content))).encode()
            target.writestr(name, content)
    return written.getvalue()


@pytest.mark.parametrize("module", CLASSES)
def test_a_class_is_found_by_its_old_path(module):
    for name in CLASSES[module]:
        path = f"kernelet.learners.{module}"
        found = pickle.loads(f"c{path}\n{name}\n.".encode())
        assert isinstance(found, type)
        assert found.__name__ == name
        assert f"{path}.{name}" in skops_trusted()


def test_every_old_path_is_tested():
    assert set(OLD_PATHS) == set(CLASSES)


@pytest.mark.parametrize("name", ["minimal_kernel", "sparse_svc"])
def test_an_old_pickle_predicts(name):
    model = fitted(name)
    data = old_pickle(model)
    assert f"kernelet.learners.{name}\n".encode() in data
    assert_array_equal(pickle.loads(data).decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("name", ["minimal_kernel", "sparse_svc"])
def test_an_old_skops_file_predicts(name):
    model = fitted(name)
    data = old_skops(model)
    assert any(
        f"kernelet.learners.{name}." in kind for kind in skops.io.get_untrusted_types(data=data)
    )
    loaded = skops.io.loads(data, trusted=skops_trusted())
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("module", ["calibrate", "table_model", "minimal_kernel_rows"])
def test_in_a_process_that_has_imported_nothing(module):
    (name, *_) = CLASSES[module]
    data = f"ckernelet.learners.{module}\n{name}\n.".encode()
    code = f"import pickle; print(pickle.loads({data!r}).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == name


def test_functions_of_the_same_name_stay_functions():
    pickle.loads(b"ckernelet.learners.calibrate\nCalibratedClassifier\n.")
    assert callable(learners.calibrate)
    assert callable(learners.compress)
