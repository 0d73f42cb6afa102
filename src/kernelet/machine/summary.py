"""What a notebook shows of a machine, or of a model that ends in one."""

from __future__ import annotations

import html
from collections.abc import Mapping

from kernelet.machine.machine import KernelMachine
from kernelet.machine.storage import stored_bytes
from kernelet.machine.texts import readable_bytes, visible

_ROW = '<tr><th style="text-align: left">{}</th><td style="text-align: left">{}</td></tr>'
# A kernel of many features has a representation of as many numbers.
_LONGEST = 200


def shipped_bytes(machine: KernelMachine) -> int:
    """Bytes of a machine: of its numbers, or of the integers that are stored if it has few bits.

    Parameters
    ----------
    machine : KernelMachine
    """
    return machine.nbytes if machine.compact is None else stored_bytes(machine)


def machine_facts(machine: KernelMachine) -> dict[str, str]:
    """What matters about a machine, by name.

    Parameters
    ----------
    machine : KernelMachine
    """
    facts = {
        "kernel": repr(machine.kernel),
        "vectors": str(machine.n_vectors),
        "features": str(machine.n_features),
        "outputs": str(machine.n_outputs),
        "size": readable_bytes(shipped_bytes(machine)),
    }
    if machine.compact is None:
        facts["numbers"] = str(machine.dtype)
    return facts


def facts_table(title: str, facts: Mapping[str, str]) -> str:
    """A table in HTML; all texts are escaped.

    Parameters
    ----------
    title : str
    facts : mapping of str to str
    """
    rows = "".join(_ROW.format(_escaped(name), _escaped(fact)) for name, fact in facts.items())
    return (
        '<table class="kernelet-summary"><caption style="text-align: left">'
        f"{_escaped(title)}</caption><tbody>{rows}</tbody></table>"
    )


def _escaped(text: str) -> str:
    shown = visible(text)
    return html.escape(shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}...")
