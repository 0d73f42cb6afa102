"""The linear programming SVM as a function: from coordinates and programs to a machine."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.exceptions import ConvergenceWarning

from kernelet.kernels.caller import warn_caller
from kernelet.learners.base.progress import Loop
from kernelet.learners.direct.reduced_set import learn_reduced_set
from kernelet.learners.lp_subspace.coordinates import Coordinates, stage
from kernelet.learners.lp_subspace.programs import Programs, SubspaceMachine
from kernelet.machine import KernelMachine
from kernelet.subspace import PrincipalMap

# Rows that the linear programs are solved on after Ctrl-C: few enough that nobody waits for them,
# and enough for a usable model. The number is not critical.
_INTERRUPTED_ROWS = 2000


@dataclass(frozen=True, eq=False)
class LearnedSubspaceMachine:
    """A machine, and what it was made of.

    Attributes
    ----------
    machine : KernelMachine
        Over the sample points, or fewer vectors.
    over_landmarks : KernelMachine
        Over all sample points.
    relative_error : float
        Between the two.
    solved : SubspaceMachine
        The solution of the linear programs.
    space : PrincipalMap
    seconds : dict
        Processor time of the stages.
    interrupted : bool
        Whether Ctrl-C came before the fit was over.
    on_part : bool
        Whether it left the machine of a part of the rows, and not only rough vectors.
    """

    machine: KernelMachine
    over_landmarks: KernelMachine
    relative_error: float
    solved: SubspaceMachine
    space: PrincipalMap
    seconds: dict[str, float]
    interrupted: bool
    on_part: bool

    def warn_unless_solved(self, who: str) -> None:
        """Warn of what Ctrl-C left, and of linear programs that did not reach their tolerance."""
        stuck = [solution for solution in self.solved.solutions if not solution.is_optimal]
        if self.interrupted and not self.on_part:
            warn_caller(
                f"{who} was stopped by Ctrl-C: the search for {self.machine.n_vectors} vectors "
                "ended early. The model is usable.",
                ConvergenceWarning,
            )
        elif self.interrupted:
            warn_caller(
                f"{who} was stopped by Ctrl-C: the linear programs are solved on about "
                f"{_INTERRUPTED_ROWS} of the rows. The model is usable.",
                ConvergenceWarning,
            )
        elif stuck:
            warn_caller(
                f"{who} only reached a relative gap of {self.solved.gap:.1e}: "
                f"{stuck[0].status.value}.",
                ConvergenceWarning,
            )


def learn_subspace_machine(
    coordinates: Coordinates,
    programs: Programs,
    loop: Loop,
    n_vectors: int | None = None,
    last: SubspaceMachine | None = None,
) -> LearnedSubspaceMachine:
    """Solve the linear programs, and push the weights through the projection.

    Parameters
    ----------
    coordinates : Coordinates
        Of the rows.
    programs : Programs
    loop : Loop
        After Ctrl-C the programs are solved for a part of the rows, which takes a moment.
    n_vectors : int, default=None
        Compress the machine to this many vectors; None keeps all sample points.
    last : SubspaceMachine, default=None
        Solution for another C, to start from.

    Returns
    -------
    LearnedSubspaceMachine
    """

    def solve() -> SubspaceMachine:
        if loop.interrupted:
            return coordinates.part(_INTERRUPTED_ROWS).solve(programs)
        return coordinates.solve(programs, last)

    space, seconds = coordinates.space, dict(coordinates.seconds)
    with stage(seconds, "linear_programs"):
        solved = loop.finish(solve)
    on_part = loop.interrupted
    with stage(seconds, "compression"):
        beta = space.coefficients(solved.weights)
        whole = KernelMachine(space.kernel, space.vectors, beta, solved.intercepts)
        machine, relative_error = whole, 0.0
        if n_vectors is not None and n_vectors < whole.n_vectors:
            # after Ctrl-C nobody waits for more than a step
            limits = {"max_iter": 1} if on_part else {}
            reduced = learn_reduced_set(whole, n_vectors, **limits)
            if reduced.interrupted:
                loop.interrupt()
            machine, relative_error = reduced.machine, float(reduced.relative_error)
    stages = ", ".join(f"{name} {spent:.1f} s" for name, spent in seconds.items())
    loop.say(f"{stages}; objective {solved.objective:.6e}")
    return LearnedSubspaceMachine(
        machine, whole, relative_error, solved, space, seconds, loop.interrupted, on_part
    )
