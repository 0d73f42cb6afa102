"""Cases that end as cases can: with a model, an error, a defect, a dead process, or never."""

import os
import time

from benchmarks.hardening.campaign import Campaign, Outcome


def case(number):
    if number == 3:
        os._exit(7)
    if number == 5:
        time.sleep(60)
    if number == 6:
        raise ZeroDivisionError("by nothing")
    if number == 8:
        return Outcome("odd", "worse than a constant", is_defect=True, detail="0.3 < 0.5")
    return Outcome("odd" if number % 2 else "even", "a model")


CAMPAIGN = Campaign("made up", case, lambda number: f"group of {number}", n=12, seconds=5.0)
