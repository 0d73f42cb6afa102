"""What all tests need of the process that they run in."""

import signal

import pytest
from hypothesis import settings

import processors

# A shell without job control starts programs in the background with Ctrl-C ignored, and they and
# their children never see one. Tests that press it need it to be heard.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests import them by this name; a second import, for doctests, would register their classes again.
collect_ignore = ["contributed.py", "own_kernels.py"]

# Of `make test-random` (random_examples.py): ten times as many examples as `@examples` says, new
# ones for every seed even in CI, where the default is the same every time; and a failure is printed
# in a form that repeats it.
settings.register_profile(
    "random",
    max_examples=10 * settings.default.max_examples,
    derandomize=False,
    deadline=None,
    print_blob=True,
)


def pytest_configure():
    processors.check_active_loops()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Let a test fail whose own Ctrl-C gets through to it; it would end the session."""
    try:
        return (yield)
    except KeyboardInterrupt as error:
        if not any(word in pyfuncitem.name for word in ("ctrl_c", "interrupt")):
            raise
        raise AssertionError("Ctrl-C was let through") from error
