"""Convex problems over an explicit n x m feature matrix."""

from __future__ import annotations

from kernelet.solvers.blocks.rows import BlockRows
from kernelet.solvers.enclosing_ball.minimum_ball import EnclosingBall, minimum_enclosing_ball
from kernelet.solvers.hinge.norm import hinge_norm
from kernelet.solvers.hinge.ridge import hinge_ridge, hinge_ridge_many
from kernelet.solvers.linear_program.hinge_lasso import hinge_lasso, hinge_lasso_many
from kernelet.solvers.rows import ArrayRows, Rows
from kernelet.solvers.solution import Solution, Status
from kernelet.solvers.squared_hinge.ridge import squared_hinge_ridge, squared_hinge_ridge_many

__all__ = [
    "ArrayRows",
    "BlockRows",
    "EnclosingBall",
    "Rows",
    "Solution",
    "Status",
    "hinge_lasso",
    "hinge_lasso_many",
    "hinge_norm",
    "hinge_ridge",
    "hinge_ridge_many",
    "minimum_enclosing_ball",
    "squared_hinge_ridge",
    "squared_hinge_ridge_many",
]
