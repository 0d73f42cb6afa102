"""The safe model file."""

from kernelet.persistence import machines as _machines  # registers what machines are made of
from kernelet.persistence.errors import ModelFileError
from kernelet.persistence.files import load, save
from kernelet.persistence.record import Record
from kernelet.persistence.registry import from_record, register, to_record
from kernelet.persistence.summary import read_summary

__all__ = [
    "ModelFileError",
    "Record",
    "from_record",
    "load",
    "read_summary",
    "register",
    "save",
    "to_record",
]

del _machines
