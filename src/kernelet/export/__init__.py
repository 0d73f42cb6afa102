"""Fitted models as code for other places than Python."""

from kernelet.export.c import c
from kernelet.export.javascript import javascript
from kernelet.export.onnx import onnx
from kernelet.export.onnx_pipeline import register_skl2onnx

__all__ = ["c", "javascript", "onnx", "register_skl2onnx"]
