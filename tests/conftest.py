"""What all tests need of the process that they run in."""

import signal

import processors

# A shell without job control starts programs in the background with Ctrl-C ignored, and they and
# their children never see one. Tests that press it need it to be heard.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure():
    processors.check_active_loops()
