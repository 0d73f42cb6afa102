"""The command `kernelet`."""

from kernelet.cli.main import main

__all__ = ["main"]
