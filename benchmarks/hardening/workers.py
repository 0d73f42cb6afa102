"""Processes that run cases, and that are replaced when a case hangs or ends them."""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
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
    asked: deque[int] = deque()
    found: dict[int, Outcome] = {}
    try:
        while True:
            for worker in workers:
                if not worker.numbers and (batch := list(islice(waiting, campaign.batch))):
                    worker.ask(batch)
                    asked.extend(batch)
            if not asked:
                return
            wait([worker.pipe for worker in workers if worker.numbers], timeout=0.5)
            for worker in workers:
                found |= worker.answers()
            while asked and asked[0] in found:
                number = asked.popleft()
                yield number, found.pop(number)
    finally:
        for worker in workers:
            worker.stop()


def _serve(name: str, pipe: Connection) -> None:
    """Answer numbers with outcomes, one thread each, until the parent has no more."""
    end_with_parent()
    campaign = get(name)
    with threadpool_limits(limits=1):
        while (numbers := pipe.recv()) is not None:
            for number in numbers:
                pipe.send(_outcome(campaign, number))


def _outcome(campaign: Campaign, number: int) -> Outcome:
    try:
        return campaign.case(number)
    except Exception as error:  # what no case expects is what a campaign looks for
        detail = f"{type(error).__name__}: {error}"
        return Outcome(campaign.group_of(number), "an unexpected error", True, detail)


class _Worker:
    """A process with the cases of ``numbers`` before it, which it answers in their order."""

    def __init__(self, name: str, campaign: Campaign) -> None:
        self.name, self.campaign = name, campaign
        self.numbers: deque[int] = deque()
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_serve, args=(self.name, theirs))
        self.process.start()
        # the parent keeps one end only: the other is closed when the process ends
        theirs.close()

    def ask(self, numbers: Sequence[int]) -> None:
        self.numbers, self.began = deque(numbers), time.monotonic()
        self.pipe.send(numbers)

    def answers(self) -> dict[int, Outcome]:
        """The outcomes that there are by now."""
        found: dict[int, Outcome] = {}
        try:
            while self.numbers and self.pipe.poll():
                outcome = self.pipe.recv()
                found[self.numbers.popleft()], self.began = outcome, time.monotonic()
            if self.numbers and time.monotonic() - self.began > self.campaign.seconds:
                found |= self._replace(f"no answer within {self.campaign.seconds:g} s")
        except EOFError:
            self.process.join()
            found |= self._replace(f"the process ended with code {self.process.exitcode}")
        return found

    def _replace(self, reason: str) -> dict[int, Outcome]:
        """The outcome of the case before the process; another process has those behind it."""
        self.process.kill()
        self.process.join()
        self._start()
        number = self.numbers.popleft()
        if self.numbers:
            self.ask(list(self.numbers))
        return {number: Outcome(self.campaign.group_of(number), reason, True, reason)}

    def stop(self) -> None:
        if not self.numbers and self.process.is_alive():
            self.pipe.send(None)
        else:
            self.process.kill()
        self.process.join()
