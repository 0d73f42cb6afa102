"""Run what depends on digits as other processors would compute it: `make test-kernels`.

OpenBLAS, NumPy and numba choose their loops by the processor, and loops that add in another order
differ in the last digits. Each run below asks for the loops of another processor, the test process
checks that it got them (`tests/conftest.py`), and a table closes with what passed.

    python tests/processors.py [name ...] [-- arguments of pytest]
    python tests/processors.py --run name program [argument ...]

The second form is for runs that differ in something else as well, as `make test-oldest
LOOPS=Prescott` does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# Where a test process finds what it is to check, as JSON.
EXPECTED = "KERNELET_EXPECTED_LOOPS"
# By the names that OpenBLAS reports, where one set of loops has several.
ARCHITECTURES = {
    "Prescott": ("Prescott", "Katmai"),
    "Nehalem": ("Nehalem",),
    "Sandybridge": ("Sandybridge",),
    "Haswell": ("Haswell",),
    "Zen": ("Zen", "Haswell"),
    "SkylakeX": ("SkylakeX",),
}
NAMES = (*ARCHITECTURES, "numpy-baseline", "numba-generic", "without-numba", "two-threads")
# Command line, files, exports, pages and benchmarks: their digits are those of the machines below
# them, or are read from files.
NOT_ABOUT_DIGITS = [
    "architecture",
    "benchmarks",
    "c_templates",
    "cli*",
    "columns",
    "dask_faults",
    "documents",
    "direct_rest",
    "doors",
    "estimators",
    "export_*",
    "formats",
    "gallery",
    "house",
    "howto_*",
    "javascript_*",
    "makefile",
    "no_probabilities",
    "notebook",
    "numpy_alone",
    "package",
    "packaging",
    "persistence*",
    "plotting",
    "predictors",
    "registered_kernels",
    "report",
    "row_files",
    "scale",
    "site",
    "tables",
]


def active_loops() -> dict[str, object]:
    """What the libraries of this process compute with."""
    import numpy as np
    import scipy.linalg  # noqa: F401  (its BLAS is another one than NumPy's)
    from threadpoolctl import threadpool_info

    umath = np.core if np.__version__ < "2" else np._core
    features = umath._multiarray_umath
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    loops: dict[str, object] = {
        "blas": sorted({str(pool.get("architecture")) for pool in pools}),
        "threads": sorted({pool["num_threads"] for pool in pools}),
        "numpy": [name for name in features.__cpu_dispatch__ if features.__cpu_features__[name]],
    }
    try:
        from numba import config
    except ImportError:
        return loops
    return {**loops, "numba": config.CPU_NAME}


def check_active_loops() -> None:
    """Raise if this process was to have loops that it does not have."""
    if EXPECTED not in os.environ:
        return
    active = active_loops()
    for what, wanted in json.loads(os.environ[EXPECTED]).items():
        if active.get(what) not in wanted:
            raise RuntimeError(f"{what} has {active.get(what)}, which is none of {wanted}")


def asked(name: str) -> tuple[dict[str, str], dict[str, list[object]]]:
    """Environment of a run, and the loops that it may have."""
    threads = 2 if name == "two-threads" else 1
    environment = {"OMP_NUM_THREADS": str(threads)}
    expected: dict[str, list[object]] = {"threads": [[threads]]}
    if name in ARCHITECTURES:
        environment["OPENBLAS_CORETYPE"] = name
        expected["blas"] = [[alias] for alias in ARCHITECTURES[name]]
    if name == "numpy-baseline":
        # The names of the features changed with NumPy 2.4, so they are asked for.
        environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(probe({})["numpy"])
        expected["numpy"] = [[]]
    if name == "numba-generic":
        environment["NUMBA_CPU_NAME"], expected["numba"] = "generic", ["generic"]
    if name == "without-numba":
        path = [str(HERE / "without_numba"), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
        expected["numba"] = [None]
    return environment, expected


def probe(environment: dict[str, str]) -> dict[str, object]:
    """The loops of a new process."""
    program = "import json, processors; print(json.dumps(processors.active_loops()))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        cwd=HERE,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def replace_process(name: str, command: list[str]) -> None:
    """Become another program, one with the loops of another processor if this machine has them."""
    environment, expected = asked(name)
    found = probe(environment)
    if all(found.get(what) in expected[what] for what in expected):
        os.environ.update({**environment, EXPECTED: json.dumps(expected)})
    else:
        print(f"{name} is not on this machine, which uses its own loops: {found}", flush=True)
    os.execvp(command[0], command)


def run(name: str, arguments: list[str], done: dict[str, str]) -> tuple[str, bool]:
    """The result of a run in a few words, and whether it is good; done holds earlier ones."""
    environment, expected = asked(name)
    found = probe(environment)
    missing = [what for what in expected if found.get(what) not in expected[what]]
    if missing in (["blas"], ["numba"]):
        # OpenBLAS takes other loops where the processor lacks the instructions for these.
        return f"not on this machine: {missing[0]} has {found.get(missing[0])}", True
    same = done.setdefault(json.dumps(found), name)
    if same != name:
        return f"the same loops as {same}", True
    ignored = [f"--ignore-glob={HERE.parent}/*/test_{pattern}.py" for pattern in NOT_ABOUT_DIGITS]
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses=auto", "--dist=loadscope"]
    print(f"== {name}: {environment}", flush=True)
    with subprocess.Popen(
        [*command, "-m", "not slow", *ignored, *arguments],
        env={**os.environ, **environment, EXPECTED: json.dumps(expected)},
        cwd=HERE.parent,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        last = ""
        for line in process.stdout:
            # dots say nothing here
            if not re.fullmatch(r"[.]+ *\[ *\d+%\]\n", line):
                print(line, end="", flush=True)
            last = line.strip() or last
    return last, process.returncode == 0


def main() -> int:
    """Exit with 1 if any run failed."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--run"]:
        replace_process(arguments[1], arguments[2:])
    split = arguments.index("--") if "--" in arguments else len(arguments)
    names, rest = arguments[:split] or list(NAMES), arguments[split + 1 :]
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    done: dict[str, str] = {}
    results = {name: run(name, rest, done) for name in names}
    print("\n| loops | result |\n|---|---|")
    for name, (text, _) in results.items():
        print(f"| {name} | {text} |")
    failed = [name for name, (_, is_well) in results.items() if not is_well]
    n_run = len(done)
    print(f"{n_run - len(failed)} passed, {len(failed)} failed, {len(results) - n_run} skipped")
    return int(bool(failed) or not n_run)


if __name__ == "__main__":
    sys.exit(main())
