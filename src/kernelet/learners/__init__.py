"""One folder = one paper: pure functions, and the estimators over them."""

from __future__ import annotations

from kernelet.learners import old_paths
from kernelet.learners.arbitrary_norm.kernel_ridge import NormKernelRidge
from kernelet.learners.arbitrary_norm.svc import NormSVC
from kernelet.learners.arbitrary_norm.svr import NormSVR
from kernelet.learners.compression.compress import compress
from kernelet.learners.core_vectors.mmda import MaxMarginDiscriminantAnalysis
from kernelet.learners.core_vectors.svc import CoreVectorSVC
from kernelet.learners.direct.kernel_fisher import KernelFisherClassifier
from kernelet.learners.direct.kernel_fisher_discriminant import KernelFisherDiscriminant
from kernelet.learners.direct.losses import MarginLoss, SmoothLoss, register_loss
from kernelet.learners.direct.reduced_svc import ReducedSVC
from kernelet.learners.direct.sparse_kernel_pca import SparseKernelPCA
from kernelet.learners.direct.sparse_kernel_ridge import SparseKernelRidge
from kernelet.learners.direct.sparse_one_class import SparseOneClassSVM
from kernelet.learners.direct.sparse_svc import SparseSVC
from kernelet.learners.direct.sparse_svr import SparseSVR
from kernelet.learners.lp_subspace.kernel_subspace import KernelSubspace
from kernelet.learners.lp_subspace.svc import SubspaceLPSVC
from kernelet.learners.minimal_kernel.svc import MinimalKernelSVC
from kernelet.learners.relevance.classifier import RelevanceVectorClassifier
from kernelet.learners.relevance.regressor import RelevanceVectorRegressor
from kernelet.learners.wrappers.calibrate import CalibratedClassifier, calibrate

old_paths.register()

__all__ = [
    "CalibratedClassifier",
    "CoreVectorSVC",
    "KernelFisherClassifier",
    "KernelFisherDiscriminant",
    "KernelSubspace",
    "MarginLoss",
    "MaxMarginDiscriminantAnalysis",
    "MinimalKernelSVC",
    "NormKernelRidge",
    "NormSVC",
    "NormSVR",
    "ReducedSVC",
    "RelevanceVectorClassifier",
    "RelevanceVectorRegressor",
    "SmoothLoss",
    "SparseKernelPCA",
    "SparseKernelRidge",
    "SparseOneClassSVM",
    "SparseSVC",
    "SparseSVR",
    "SubspaceLPSVC",
    "calibrate",
    "compress",
    "register_loss",
]
