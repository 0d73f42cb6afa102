"""How files for other programs are written.

`kernelet export` does it, and so do `kernelet fit` and `compress` where the name of their output
is not that of a model file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelet.cli.errors import CommandError, ModelError, UsageError, one_line
from kernelet.cli.formats import (
    DTYPES,
    check_dtype,
    ending_of,
    endings_text,
    formats,
    name_by_ending,
)
from kernelet.cli.output import size
from kernelet.cli.writing import check_output, free_name, writing_errors

if TYPE_CHECKING:
    from kernelet.cli.model import Model
    from kernelet.export.formats import Format
    from kernelet.machine.columns import ColumnEncoder

MODEL_ENDING = ".kernelet"


@dataclass(frozen=True)
class Written:
    """What has been written.

    Attributes
    ----------
    files : list of str
    dtype : str
        The type of stored numbers.
    memory : MemoryUse or None
        Where the exporter knows it.
    """

    files: list[str]
    dtype: str
    memory: Any = None

    @property
    def n_bytes(self) -> list[int]:
        """Of each file."""
        return [Path(file).stat().st_size for file in self.files]

    def facts(self) -> list[tuple[str, str]]:
        """A line for each file."""
        pairs = zip(self.files, self.n_bytes, strict=True)
        return [("file", f"{file} ({size(n)})") for file, n in pairs]

    def memory_facts(self) -> list[tuple[str, str]]:
        """Flash and RAM."""
        if self.memory is None:
            return []
        flash, ram = size(self.memory.flash_bytes), size(self.memory.ram_bytes)
        return [("flash", f"{flash} of tables"), ("RAM", f"{ram} of stack")]

    def memory_document(self) -> dict[str, int]:
        """Flash and RAM for ``--json``."""
        memory = self.memory
        if memory is None:
            return {}
        return {"flash_bytes": memory.flash_bytes, "ram_bytes": memory.ram_bytes}


@dataclass(frozen=True)
class Export:
    """A format, and the file that it goes into.

    Attributes
    ----------
    form : Format
    path : str
    dtype : str or None
        None for the default of the model.
    """

    form: Format
    path: str
    dtype: str | None = None

    @property
    def files(self) -> list[str]:
        """All files: the header is beside the first."""
        form, path = self.form, Path(self.path)
        for ending, header in zip(form.endings, form.headers, strict=False):
            if path.suffix.lower() == header:
                return [str(path.with_suffix(ending)), self.path]
        second = form.header_path(path)
        return [self.path] if second is None else [self.path, str(second)]

    @property
    def target(self) -> str:
        """What the writer is given."""
        return self.files[0]

    @property
    def writer(self) -> Callable[..., Any]:
        """What writes them."""
        return self.form.write

    @property
    def options(self) -> dict[str, Any]:
        """Of the writer, besides the type of numbers."""
        return {}

    def check(self) -> None:
        """Refuse a name that does not fit, or files that cannot be written."""
        form = self.form
        if form.headers and len(self.files) == 1:
            ending = form.endings[0]
            named = Path(self.path).with_suffix(ending)
            raise UsageError(
                f"{self.path} is no name for {form.name}; say -o {named}, beside which "
                f"{named.with_suffix(form.headers[0])} is written"
            )
        for file in self.files:
            check_output(file, is_model=True)

    def write(self, model: Model) -> Written:
        """Write all files."""
        from kernelet.cli.c_costs import own_dtype
        from kernelet.export.formats import MemoryUse

        form, machine, files = self.form, model.machine, self.files
        dtype = self.dtype or (own_dtype(machine) if form.name == "c" else None)
        options = self.options | ({} if dtype is None else {"dtype": dtype})
        with writing_errors(self.path):
            try:
                result = self.writer(model.content, self.target, **options)
            except ImportError as error:
                raise CommandError(one_line(error).rstrip(".")) from error
            except (TypeError, ValueError) as error:
                raise ModelError(f"{model.path}: {one_line(error).rstrip('.')}") from error
        memory = result if isinstance(result, MemoryUse) else None
        return Written(files, dtype or form.dtype or str(machine.dtype), memory)


@dataclass(frozen=True)
class PackageExport(Export):
    """A folder that npm installs and publishes.

    Attributes
    ----------
    name : str or None
        None for that of the folder.
    """

    name: str | None = None

    @property
    def files(self) -> list[str]:
        """Those in the folder."""
        from kernelet.export.javascript_package import FILES

        return [str(Path(self.path) / file) for file in FILES]

    @property
    def target(self) -> str:
        """The folder."""
        return self.path

    @property
    def writer(self) -> Callable[..., Any]:
        """What writes it."""
        from kernelet.export import javascript_package

        return javascript_package

    @property
    def options(self) -> dict[str, Any]:
        """The name, if one is asked for."""
        return {} if self.name is None else {"name": self.name}

    def check(self) -> None:
        """Refuse names that npm does not take, or files that cannot be written."""
        from kernelet.export.javascript_package import checked_package_name

        try:
            checked_package_name(self.name or Path(self.path).resolve().name)
        except ValueError as error:
            raise UsageError(f"{one_line(error).rstrip('.')}; choose one with --name") from error
        for file in self.files if Path(self.path).is_dir() else [self.path]:
            check_output(file, is_model=True)


@dataclass(frozen=True)
class ModelOutput:
    """Where `kernelet fit` and `compress` write: a model file, or an export.

    Attributes
    ----------
    path : str
    export : Export or None
        None for a model file.
    """

    path: str
    export: Export | None = None

    @classmethod
    def of(cls, path: str, dtype: str | None) -> ModelOutput:
        """As the ending of a name says; without one it is a model file."""
        ending = ending_of(path)
        if ending in ("", MODEL_ENDING):
            return cls(path)
        name = name_by_ending(ending)
        if name is None:
            raise UsageError(
                f"the ending {ending} of {path} is not known; say {MODEL_ENDING} for a model file, "
                f"or export it: {endings_text()}"
            )
        return cls(path, Export(formats()[name], path, dtype))

    def check_files(self) -> None:
        """Refuse files that cannot be written."""
        if self.export is None:
            check_output(self.path, is_model=True)
        else:
            self.export.check()

    def save(
        self, estimator: Any, encoder: ColumnEncoder | None, target: str | None
    ) -> tuple[Model, Written]:
        """Write an estimator, with the encoding of its columns where there is one.

        Raises
        ------
        CommandError
            If the format cannot hold the model, which is then kept in a model file.
        """
        from kernelet.cli.model import Model, saved_model

        if self.export is None:
            model = saved_model(self.path, estimator, encoder, target)
            return model, Written([self.path], str(model.machine.dtype))
        model = Model.of(estimator, encoder, target, self.path)
        try:
            return model, self.export.write(model)
        except CommandError as error:
            kept = free_name(str(Path(self.path).with_suffix("")), MODEL_ENDING)
            saved_model(kept, estimator, encoder, target)
            text = f"{error}; nothing is lost: the model is saved in {kept}"
            raise type(error)(text) from error


def check_model_output(path: str | None, dtype: str | None) -> None:
    """Refuse an output whose ending is unknown, or which cannot be written."""
    if path is not None:
        ModelOutput.of(path, dtype).check_files()


def check_output_dtype(path: str | None, dtype: str | None) -> None:
    """Refuse a type of numbers that the output cannot have."""
    ending = MODEL_ENDING if path is None else ending_of(path) or MODEL_ENDING
    if dtype is not None and ending == MODEL_ENDING:
        raise UsageError(
            f"--dtype {dtype} is for exports, not for a model file; leave it out, or name a file "
            f"such as -o model.c (for C: {', '.join(DTYPES)})"
        )
    name = name_by_ending(ending)
    check_dtype(dtype, None if name is None else formats()[name])
