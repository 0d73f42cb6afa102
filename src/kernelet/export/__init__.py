"""Fitted models as code for other places than Python."""

from kernelet.export.formats import register_format
from kernelet.export.javascript import javascript
from kernelet.export.javascript_package import javascript_package
from kernelet.export.libsvm import libsvm
from kernelet.export.to_c.exporter import c
from kernelet.export.to_json.exporter import json, json_schema
from kernelet.export.to_json.reader import read_json
from kernelet.export.to_onnx.exporter import onnx
from kernelet.export.to_onnx.pipeline import register_skl2onnx

__all__ = [
    "c",
    "javascript",
    "javascript_package",
    "json",
    "json_schema",
    "libsvm",
    "onnx",
    "read_json",
    "register_format",
    "register_skl2onnx",
]
