"""Kernels k(x, z): values, diagonals, and gradients pulled back to the vectors z."""

from kernelet.kernels.base import Kernel, PreparedKernel, require_input_gradient
from kernelet.kernels.composite import Product, Scaled, Sum
from kernelet.kernels.dot import DotKernel, Linear, Polynomial, Sigmoid
from kernelet.kernels.function import CallableKernel
from kernelet.kernels.laplacian import Laplacian
from kernelet.kernels.projected_features import ProjectedFeatures
from kernelet.kernels.radial import (
    Exponential,
    Gaussian,
    Matern32,
    Matern52,
    RadialKernel,
    RationalQuadratic,
)
from kernelet.kernels.registry import register_kernel
from kernelet.kernels.resolve import resolve_kernel
from kernelet.kernels.scaled_features import ScaledFeatures
from kernelet.kernels.specification import kernel_from_specification

__all__ = [
    "CallableKernel",
    "DotKernel",
    "Exponential",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern32",
    "Matern52",
    "Polynomial",
    "PreparedKernel",
    "Product",
    "ProjectedFeatures",
    "RadialKernel",
    "RationalQuadratic",
    "Scaled",
    "ScaledFeatures",
    "Sigmoid",
    "Sum",
    "kernel_from_specification",
    "register_kernel",
    "require_input_gradient",
    "resolve_kernel",
]
