"""The safe model file."""

from kernelet.persistence.errors import ModelFileError
from kernelet.persistence.files import load, load_predictor, save
from kernelet.persistence.machines import register_machines
from kernelet.persistence.record import Record
from kernelet.persistence.registry import from_record, register, skops_trusted, to_record
from kernelet.persistence.summary import read_summary

__all__ = [
    "ModelFileError",
    "Record",
    "from_record",
    "load",
    "load_predictor",
    "read_summary",
    "register",
    "save",
    "skops_trusted",
    "to_record",
]

register_machines()
