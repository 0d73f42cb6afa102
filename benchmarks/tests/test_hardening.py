"""Campaigns go on after cases that hang or kill their process, and after they were stopped."""

from dataclasses import replace

import pytest

from benchmarks.hardening import workers
from benchmarks.hardening.__main__ import main, run, show
from benchmarks.hardening.campaign import NAMES, Outcome, get
from benchmarks.hardening.counts import Counts
from benchmarks.hardening.tables import CampaignTable
from benchmarks.hardening.workers import outcomes

MADE_UP = "tests.made_up_campaign"


@pytest.mark.parametrize(("n_jobs", "batch"), [(1, 1), (2, 5)])
def test_each_case_has_one_outcome(n_jobs, batch, monkeypatch):
    monkeypatch.setattr(workers, "get", lambda name: replace(get(name), batch=batch))
    found = list(outcomes(MADE_UP, range(12), n_jobs))
    assert [number for number, _ in found] == list(range(12))
    defects = {number: outcome for number, outcome in found if outcome.is_defect}
    assert {n: (o.group, o.detail) for n, o in defects.items()} == {
        3: ("group of 3", "the process ended with code 7"),
        5: ("group of 5", "no answer within 5 s"),
        6: ("group of 6", "ZeroDivisionError: by nothing"),
        8: ("odd", "0.3 < 0.5"),
    }


def test_counts_go_on_and_defects_are_replaced(tmp_path):
    folder = tmp_path / "hardening"
    for numbers in (range(5), range(5, 10)):
        counts = Counts.read(MADE_UP, folder)
        assert counts.n_done == numbers[0]
        run(MADE_UP, numbers, counts, 1)
    again = Counts.read(MADE_UP, folder)
    assert again == counts
    assert (again.n_done, sorted(again.defects)) == (10, [3, 5, 6, 8])
    assert "worse than a constant: 1" in show([MADE_UP], tmp_path)
    again.add(8, Outcome("odd", "a model"))
    again.write()
    mended = Counts.read(MADE_UP, folder)
    assert (mended.n_done, sorted(mended.defects)) == (10, [3, 5, 6])
    assert "worse than a constant" not in show([MADE_UP], tmp_path)


def test_tables_add_up_commits_and_tell_groups_apart(tmp_path):
    counts = Counts(tmp_path / "hardening" / "made_up_campaign.csv")
    for line, n in (
        (("odd", "a model", "1"), 2),
        (("odd", "a model; saved", "2"), 1999),
        (("even",) * 3, 1),
    ):
        counts.counted[line] = n
    counts.defects[7] = Outcome("odd", "a model", is_defect=True)
    counts.write()
    assert CampaignTable([MADE_UP]).lines(tmp_path)[1:] == [
        [MADE_UP, "made up", "2,002", "a model: 2,001; even: 1", "1"]
    ]
    assert CampaignTable([MADE_UP], by_group=True).lines(tmp_path)[1:] == [
        ["even", "1", "even: 1", "0"],
        ["odd", "2,001", "a model: 2,001", "1"],
    ]


# These start a cluster, or take a thousand fits.
SLOW = ("dask_kills", "memory")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in NAMES]
)
def test_a_campaign_has_cases_without_defects(name, capsys):
    assert main([name, "--case", "0"]) == 0, capsys.readouterr().out
