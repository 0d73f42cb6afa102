"""What all tests need of the process that they run in."""

import signal

# A shell without job control starts programs in the background with Ctrl-C ignored, and they and
# their children never see one. Tests that press it need it to be heard.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
