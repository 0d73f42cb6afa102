"""Processes that run cases, and that are replaced when a case hangs or ends them."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait

from threadpoolctl import threadpool_limits

from benchmarks.hardening.campaign import Campaign, Outcome, get
from benchmarks.runner_pool import end_with_parent

# spawn: forked children share the state of BLAS and OpenMP threads
_CONTEXT = multiprocessing.get_context("spawn")


def outcomes(name: str, numbers: Iterable[int], n_jobs: int) -> Iterator[tuple[int, Outcome]]:
    """Yield the outcomes of cases in the order of their numbers."""
    campaign, waiting = get(name), iter(numbers)
    workers = [_Worker(name, campaign) for _ in range(n_jobs)]
    asked: list[int] = []
    found: dict[int, Outcome] = {}
    try:
        while True:
            for worker in workers:
                if worker.number is None and (number := next(waiting, None)) is not None:
                    worker.ask(number)
                    asked.append(number)
            if not asked:
                return
            wait([worker.pipe for worker in workers if worker.number is not None], timeout=0.5)
            for worker in workers:
                found |= worker.answers()
            while asked and asked[0] in found:
                yield asked[0], found.pop(asked.pop(0))
    finally:
        for worker in workers:
            worker.stop()


def _serve(name: str, pipe: Connection) -> None:
    """Answer numbers with outcomes, one thread each, until the parent has no more."""
    end_with_parent()
    campaign = get(name)
    with threadpool_limits(limits=1):
        while (number := pipe.recv()) is not None:
            try:
                outcome = campaign.case(number)
            except Exception as error:  # what no case expects is what a campaign looks for
                detail = f"{type(error).__name__}: {error}"
                group = campaign.group_of(number)
                outcome = Outcome(group, "an unexpected error", is_defect=True, detail=detail)
            pipe.send(outcome)


class _Worker:
    """A process with at most one case; ``number`` is None while it has none."""

    def __init__(self, name: str, campaign: Campaign) -> None:
        self.name, self.campaign = name, campaign
        self.number: int | None = None
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_serve, args=(self.name, theirs))
        self.process.start()
        # the parent keeps one end only: the other is closed when the process ends
        theirs.close()

    def ask(self, number: int) -> None:
        self.number, self.began = number, time.monotonic()
        self.pipe.send(number)

    def answers(self) -> dict[int, Outcome]:
        """The outcome of its case if there is one by now."""
        if self.number is None:
            return {}
        number, late = self.number, time.monotonic() - self.began > self.campaign.seconds
        try:
            if self.pipe.poll():
                outcome = self.pipe.recv()
            elif late:
                outcome = self._replace(f"no answer within {self.campaign.seconds:g} s")
            else:
                return {}
        except EOFError:
            self.process.join()
            outcome = self._replace(f"the process ended with code {self.process.exitcode}")
        self.number = None
        return {number: outcome}

    def _replace(self, reason: str) -> Outcome:
        assert self.number is not None
        self.process.kill()
        self.process.join()
        self._start()
        return Outcome(self.campaign.group_of(self.number), reason, is_defect=True, detail=reason)

    def stop(self) -> None:
        if self.number is None and self.process.is_alive():
            self.pipe.send(None)
        else:
            self.process.kill()
        self.process.join()
