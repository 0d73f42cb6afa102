"""How many vectors a machine should have: cross-validated error against cost."""

from __future__ import annotations

from kernelet.selection.search import BudgetSearchCV

__all__ = ["BudgetSearchCV"]
