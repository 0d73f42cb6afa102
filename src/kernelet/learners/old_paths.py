"""Where classes lived before each paper had its folder.

Pickles and skops files name a class by its module, so those of old files are found here. Model
files name no modules and need none of this.
"""

from __future__ import annotations

from importlib import import_module

from kernelet.persistence.registry import moved

# Old module -> new module, both below kernelet.learners.
OLD_PATHS = {
    "calibrate": "compression.calibrated_classifier",
    "compressed": "compression.compressed_models",
    "core_vector_svc": "core_vectors.svc",
    "kernel_fisher": "direct.kernel_fisher",
    "kernel_fisher_discriminant": "direct.kernel_fisher_discriminant",
    "kernel_subspace": "lp_subspace.kernel_subspace",
    "max_margin_discriminant": "core_vectors.mmda",
    "minimal_kernel": "minimal_kernel.svc",
    "minimal_kernel_rows": "minimal_kernel.candidates",
    "norm_kernel_ridge": "arbitrary_norm.kernel_ridge",
    "norm_svc": "arbitrary_norm.svc",
    "norm_svr": "arbitrary_norm.svr",
    "reduced_svc": "direct.reduced_svc",
    "relevance_classifier": "relevance.classifier",
    "relevance_regressor": "relevance.regressor",
    "sparse_kernel_pca": "direct.sparse_kernel_pca",
    "sparse_kernel_ridge": "direct.sparse_kernel_ridge",
    "sparse_one_class": "direct.sparse_one_class",
    "sparse_svc": "direct.sparse_svc",
    "sparse_svr": "direct.sparse_svr",
    "subspace_lp": "lp_subspace.svc",
    "table_model": "wrappers.table_model",
    # which still imports the class, so pickles find it there; skops needs its name
    "wrappers.calibrate": "compression.calibrated_classifier",
}


def register() -> None:
    """Make the old paths known; called once, when `kernelet.learners` is imported."""
    for old, new in OLD_PATHS.items():
        path = f"kernelet.learners.{new}"
        import_module(path)
        moved(f"kernelet.learners.{old}", path)
