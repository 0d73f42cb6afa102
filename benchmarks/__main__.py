"""The command line: ``python -m benchmarks list | run | show | frontier | quote``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from benchmarks import datasets, methods, small
from benchmarks.frontier import BUDGETS, run_frontier
from benchmarks.frontier_bytes import draw_front_page, run_frontier_bytes
from benchmarks.frontier_bytes_table import kilobytes
from benchmarks.frontier_bytes_table import render as render_bytes
from benchmarks.frontier_limits import against_byte_limits
from benchmarks.results import bytes_ledger, table_ledger
from benchmarks.results_admitted import read_lines
from benchmarks.results_blocks import quote
from benchmarks.results_quoted import ROOT, documents
from benchmarks.runner import run_table
from benchmarks.runner_tables import Table, read_table, table_names
from benchmarks.show import compare, render
from benchmarks.show_summaries import summarise


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="tables, data sets and methods, and what is missing")

    run = commands.add_parser("run", help="run what is missing of a table")
    run.add_argument("table", choices=table_names(), metavar="TABLE")
    run.add_argument("--only", nargs="+", default=[], metavar="DATASET")
    run.add_argument("--method", nargs="+", default=[], metavar="METHOD")
    run.add_argument(
        "--where", nargs="+", default=[], metavar="PARAMETER=VALUE", help="rows with these only"
    )
    run.add_argument("--jobs", type=int, default=1, help="processes")
    run.add_argument("--slow", action="store_true", help="also what takes hours")

    show = commands.add_parser("show", help="our figures next to the paper's")
    show.add_argument("table", choices=table_names(), metavar="TABLE")
    show.add_argument("--only", nargs="+", default=[], metavar="DATASET")
    show.add_argument("--method", nargs="+", default=[], metavar="METHOD")
    show.add_argument(
        "--where", nargs="+", default=[], metavar="PARAMETER=VALUE", help="rows with these only"
    )

    frontier = commands.add_parser("frontier", help="error against vectors, time and bytes")
    frontier.add_argument("dataset", nargs="+", choices=datasets.names(), metavar="DATASET")
    frontier.add_argument(
        "--bytes", action="store_true", help="error against bytes, with what is shipped instead"
    )
    frontier.add_argument(
        *("--methods", "--method"), nargs="+", default=[], metavar="METHOD", dest="methods"
    )
    frontier.add_argument(
        *("--budgets", "--budget"),
        nargs="+",
        type=kilobytes,
        default=[],
        metavar="M",
        dest="budgets",
        help="numbers of vectors; with --bytes, kB",
    )
    frontier.add_argument("--jobs", type=int, default=1, help="processes")
    frontier.add_argument("--slow", action="store_true", help="also what takes hours")
    frontier.add_argument("--draw", action="store_true", help="draw what is there, run nothing")
    frontier.add_argument(
        "--table",
        action="store_true",
        help="with --bytes: print errors and who is best, run nothing",
    )

    commands.add_parser("quote", help="write the tables in our documents from the csv files")
    return top


def quote_figures() -> None:
    """Bring the tables in all documents up to date."""
    for path in documents():
        text = path.read_text(encoding="utf-8")
        quoted = quote(text)
        if quoted != text:
            path.write_text(quoted, encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: written")


def list_everything() -> None:
    """Print tables, data sets and methods."""
    print("Tables")
    for name in table_names():
        table = read_table(name)
        print(f"  {name:30} {len(table.rows):4} rows  {table.title} ({table.paper})")
    print("\nData sets")
    for name in datasets.names():
        shape = datasets.describe(name).shape
        size = f"{shape.train}/{shape.test} x {shape.columns}, {shape.classes} classes"
        print(f"  {name:20} {size:36} {_where_found(name)}")
    print("\nMethods")
    for name in methods.names():
        method = methods.get(name)
        missing = method.why_unavailable()
        print(f"  {name:20} {method.title}" + (f"  [{missing}]" if missing else ""))


def _where_found(name: str) -> str:
    """Say where a data set is, without downloading it."""
    specification = datasets.describe(name)
    here = tuple(source for source in specification.sources if source.kind != "openml")
    try:
        found = datasets.load_specification(replace(specification, sources=here))
    except datasets.Unavailable as reason:
        online = len(here) < len(specification.sources)
        return f"{'OpenML, when run' if online else 'MISSING'} ({reason})"
    return f"{found.source}, {found.origin}"


def narrowed(table: Table, conditions: Sequence[str]) -> Table:
    """Return the table with the rows that have the parameters asked for."""
    wanted = dict(condition.split("=", 1) for condition in conditions)
    rows = tuple(
        row
        for row in table.rows
        if all(str(row.parameters.get(key)) == value for key, value in wanted.items())
    )
    if not rows:
        raise SystemExit(f"no row of {table.name} has {' '.join(conditions)}")
    return replace(table, rows=rows)


def show_table(table: Table, only: Sequence[str], chosen_methods: Sequence[str]) -> None:
    """Print a table, our figures next to the paper's."""
    everything = compare(table, table_ledger(table.name))
    comparisons = [
        comparison
        for comparison in (*everything, *summarise(table, everything))
        if (not only or comparison.row.dataset in only)
        and (not chosen_methods or comparison.row.method in chosen_methods)
    ]
    print(render(table, comparisons))
    outside = sum(comparison.outside for comparison in comparisons)
    measured = sum(bool(comparison.values) for comparison in comparisons)
    print(f"\n{measured} of {len(comparisons)} figures measured, {outside} outside the tolerance.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    options = parser().parse_args(arguments)
    if options.command == "list":
        list_everything()
    elif options.command == "quote":
        quote_figures()
    elif options.command == "show":
        table = narrowed(read_table(options.table), options.where)
        show_table(table, options.only, options.method)
    elif options.command == "run":
        table = narrowed(read_table(options.table), options.where)
        succeeded = run_table(table, options.only, options.method, options.jobs, options.slow)
        return 0 if succeeded else 1
    else:
        return 0 if run_frontiers(options) else 1
    return 0


def run_frontiers(options: argparse.Namespace) -> bool:
    """Run or draw frontiers; return whether all of them succeeded."""
    known = small.names() if options.bytes else methods.names()
    unknown = sorted(set(options.methods) - set(known))
    if unknown:
        raise SystemExit(f"no method {', '.join(unknown)}; there are: {', '.join(known)}")
    if not options.bytes and any(isinstance(budget, float) for budget in options.budgets):
        raise SystemExit("--budgets are whole numbers of vectors; --bytes takes kilobytes")
    if options.bytes and options.table:
        for dataset in options.dataset:
            records = read_lines(bytes_ledger(dataset).path)
            print(render_bytes(dataset, records) if records else f"{dataset}: not measured")
            print(*against_byte_limits(dataset, records), "", sep="\n")
        return True
    succeeded = True
    for dataset in options.dataset:
        if options.bytes:
            succeeded &= run_frontier_bytes(
                dataset, options.methods, options.budgets, options.jobs, options.draw
            )
        else:
            succeeded &= run_frontier(
                dataset,
                options.methods,
                options.jobs,
                options.slow,
                options.draw,
                budgets=options.budgets or BUDGETS,
            )
    if options.bytes:
        draw_front_page()
    return succeeded


if __name__ == "__main__":
    sys.exit(main())
