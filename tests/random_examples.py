"""How many examples hypothesis draws, and `make test-random`, which draws new ones.

    python tests/random_examples.py [--seconds 600] [--seed 123] [arguments of pytest]

runs every test that uses hypothesis with one seed after the other until the time is up (the last
seed is finished), or with the one seed that is given. It stops at the first seed that fails a test,
with the falsifying example, the command that repeats it and exit code 1.
"""

from __future__ import annotations

import argparse
import re
import secrets
import shlex
import subprocess
import sys
import time

from hypothesis import HealthCheck, settings

# hypothesis's own number, which `examples` counts in, and profiles multiply
_USUAL = 100
_PYTEST = [sys.executable, "-m", "pytest", "--hypothesis-profile=random"]
# of hypothesis's statistics; older versions say "60 passing examples, 0 failing examples"
_PASSED = re.compile(r"- (\d+) passing")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


def examples(number: int, **others: object) -> settings:
    """This many examples of a test, or more where the profile asks for more; at any speed."""
    factor = settings.default.max_examples / _USUAL
    # a busy machine is no defect of a test: neither a deadline nor a limit on drawing the examples
    others.setdefault("suppress_health_check", [HealthCheck.too_slow])
    return settings(max_examples=max(1, round(factor * number)), deadline=None, **others)


def run(seed: int, arguments: list[str]) -> int:
    """One seed, on all tests that hypothesis marks as its own; returns pytest's exit code."""
    start = time.monotonic()
    options = [f"--hypothesis-seed={seed}", "--hypothesis-show-statistics", "-rfE"]
    # doctests of src are none of hypothesis's, and take a while to be found
    options += ["-m", "hypothesis", "--override-ini=testpaths=tests"]
    finished = subprocess.run(
        [*_PYTEST, *options, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    number = sum(map(int, _PASSED.findall(finished.stdout)))
    seconds = time.monotonic() - start
    print(f"seed {seed}: {number} examples passed in {seconds:.0f} s", flush=True)
    if finished.returncode:
        print(finished.stdout)
        print(f"Seed {seed} fails. To repeat all of it, or one test:")
        extra = f' ARGS="{shlex.join(arguments)}"' if arguments else ""
        print(f"    make test-random SEED={seed}{extra}")
        for test in _FAILED.findall(finished.stdout):
            print(f"    {shlex.join([*_PYTEST, options[0], test])}")
    return finished.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="no new seed after this time")
    parser.add_argument("--seed", type=int, help="run this seed only")
    options, arguments = parser.parse_known_args()
    if options.seed is not None:
        return run(options.seed, arguments)
    end, seeds = time.monotonic() + options.seconds, []
    while not seeds or time.monotonic() < end:
        seeds.append(secrets.randbelow(2**32))
        if code := run(seeds[-1], arguments):
            return code
    print(f"No failure; number of seeds: {len(seeds)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
