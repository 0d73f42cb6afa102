"""The kernel machine: what every method ends in, and all that prediction needs."""

from kernelet.machine.machine import KernelMachine

__all__ = ["KernelMachine"]
