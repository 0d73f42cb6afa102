"""Fitted models as code for other places than Python."""

from kernelet.export.c import c
from kernelet.export.javascript import javascript
from kernelet.export.json import json, json_schema
from kernelet.export.json_reading import read_json
from kernelet.export.libsvm import libsvm
from kernelet.export.onnx import onnx
from kernelet.export.onnx_pipeline import register_skl2onnx

__all__ = [
    "c",
    "javascript",
    "json",
    "json_schema",
    "libsvm",
    "onnx",
    "read_json",
    "register_skl2onnx",
]
