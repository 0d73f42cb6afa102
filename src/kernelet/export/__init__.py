"""Fitted models as code for other places than Python."""

from kernelet.export.c import c
from kernelet.export.javascript import javascript

__all__ = ["c", "javascript"]
