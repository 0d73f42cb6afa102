"""The loop around the steps of a fit: what Ctrl-C leaves."""

from __future__ import annotations

import pytest

from kernelet import SparseSVC
from kernelet.learners.base.progress import Loop


class TestFinish:
    def test_what_it_returns(self):
        loop = Loop(SparseSVC())
        assert loop.finish(lambda: 3) == 3
        assert not loop.interrupted

    def test_ctrl_c_takes_the_shorter_way(self):
        loop = Loop(SparseSVC())

        def work():
            if loop.interrupted:
                return "short"
            raise KeyboardInterrupt

        assert loop.finish(work) == "short"
        # what comes afterwards is short from the start
        assert loop.interrupted
        assert loop.finish(work) == "short"

    def test_ctrl_c_once_more_is_passed_on(self):
        def work():
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Loop(SparseSVC()).finish(work)
