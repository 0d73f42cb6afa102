"""Values that a model has not seen in training: counted over all pieces, reported once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kernelet.cli.errors import listed
from kernelet.cli.model import Model
from kernelet.cli.output import Output
from kernelet.cli.tables.table import Table, missing_cells
from kernelet.machine.cells import as_texts
from kernelet.machine.columns import UnknownCategoryWarning


@dataclass
class Surprises:
    """Counts of unknown categories and missing numbers by column."""

    output: Output
    unknown: dict[str, int] = field(default_factory=dict)
    examples: dict[str, dict[str, None]] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def noted(self, model: Model, table: Table) -> Iterator[None]:
        """Count what the encoding of a piece of the table, in the block, would warn about."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            warnings.simplefilter("always", UnknownCategoryWarning)
            yield
        if any(issubclass(item.category, UnknownCategoryWarning) for item in caught):
            self._count_unknown(model, table)
        for name in model.number_columns if model.encoder is not None else []:
            if name in table.columns and (count := int(missing_cells(table.columns[name]).sum())):
                self.missing[name] = self.missing.get(name, 0) + count

    def _count_unknown(self, model: Model, table: Table) -> None:
        for column in model.encoder.columns:
            if not hasattr(column, "categories"):
                continue
            known = {None, *column.categories}
            texts = [text for text in as_texts(table.column(column.name)) if text not in known]
            if texts:
                self.unknown[column.name] = self.unknown.get(column.name, 0) + len(texts)
                seen = self.examples.setdefault(column.name, {})
                for text in texts:
                    if len(seen) < 4:  # three are shown, a fourth is "more"
                        seen[str(text)] = None

    def warn(self, n_rows: int) -> None:
        """One warning for each column."""
        for name, count in self.unknown.items():
            examples = list(self.examples[name])
            shown = listed(examples[:3]) + (" ..." if len(examples) > 3 else "")
            self.output.warn(
                f"column {name!r} has values that were not there in training ({shown}) in {count} "
                f"of {n_rows} rows; they count as none of the known ones"
            )
        for name, count in self.missing.items():
            self.output.warn(
                f"column {name!r} misses {count} of {n_rows} numbers; the mean of the training "
                "rows stands for them"
            )
