"""Minimal kernel classifiers (Fung, Mangasarian, Smola 2002)."""

from kernelet.learners.minimal_kernel.svc import MinimalKernelSVC

__all__ = ["MinimalKernelSVC"]
