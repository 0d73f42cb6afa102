"""One file = one method: pure functions, and the estimators over them."""

from __future__ import annotations

from kernelet.learners.calibrate import CalibratedClassifier, calibrate
from kernelet.learners.compress import compress
from kernelet.learners.core_vector_svc import CoreVectorSVC
from kernelet.learners.kernel_fisher import KernelFisherClassifier
from kernelet.learners.kernel_fisher_discriminant import KernelFisherDiscriminant
from kernelet.learners.kernel_subspace import KernelSubspace
from kernelet.learners.max_margin_discriminant import MaxMarginDiscriminantAnalysis
from kernelet.learners.minimal_kernel import MinimalKernelSVC
from kernelet.learners.norm_kernel_ridge import NormKernelRidge
from kernelet.learners.norm_svc import NormSVC
from kernelet.learners.norm_svr import NormSVR
from kernelet.learners.reduced_svc import ReducedSVC
from kernelet.learners.relevance_classifier import RelevanceVectorClassifier
from kernelet.learners.relevance_regressor import RelevanceVectorRegressor
from kernelet.learners.sparse_kernel_pca import SparseKernelPCA
from kernelet.learners.sparse_kernel_ridge import SparseKernelRidge
from kernelet.learners.sparse_one_class import SparseOneClassSVM
from kernelet.learners.sparse_svc import SparseSVC
from kernelet.learners.sparse_svr import SparseSVR
from kernelet.learners.subspace_lp import SubspaceLPSVC

__all__ = [
    "CalibratedClassifier",
    "CoreVectorSVC",
    "KernelFisherClassifier",
    "KernelFisherDiscriminant",
    "KernelSubspace",
    "MaxMarginDiscriminantAnalysis",
    "MinimalKernelSVC",
    "NormKernelRidge",
    "NormSVC",
    "NormSVR",
    "ReducedSVC",
    "RelevanceVectorClassifier",
    "RelevanceVectorRegressor",
    "SparseKernelPCA",
    "SparseKernelRidge",
    "SparseOneClassSVM",
    "SparseSVC",
    "SparseSVR",
    "SubspaceLPSVC",
    "calibrate",
    "compress",
]
