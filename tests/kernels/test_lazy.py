"""Attributes that are computed once, without a lock."""

import threading

from kernelet.kernels.numerics.lazy import lazy


class Slow:
    def __init__(self, go_on):
        self.go_on, self.n_computed = go_on, 0

    @lazy
    def value(self):
        """Computed."""
        self.n_computed += 1
        assert self.go_on.wait(10)
        return object()


def test_it_is_computed_once():
    go_on = threading.Event()
    go_on.set()
    slow = Slow(go_on)
    assert slow.value is slow.value
    assert slow.n_computed == 1
    assert Slow.value.__doc__ == "Computed."


def test_a_thread_that_computes_keeps_no_other_from_it():
    """With a lock, as `functools.cached_property` has it before Python 3.12, the second waits."""
    held, free = threading.Event(), threading.Event()
    free.set()
    first, second = Slow(held), Slow(free)
    one = threading.Thread(target=lambda: first.value)
    other = threading.Thread(target=lambda: second.value, daemon=True)
    one.start()
    while not first.n_computed:
        pass
    other.start()
    other.join(5)
    is_done = not other.is_alive()
    held.set()
    one.join()
    assert is_done
