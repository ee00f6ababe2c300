"""What of the doubts a reader needs first."""

from __future__ import annotations

from fusescope.analysis import wording
from fusescope.analysis.compare.trust import trust
from fusescope.analysis.trace import Diagnostic

UNPAIRED = Diagnostic("warning", "unpaired", values={"of": "run_span"})
PROFILED = Diagnostic("warning", "profiled_headline", values={"of": "run_span"})
BIASED = [
    Diagnostic("warning", "biased_rows", values={"side": side, "share": 0.8})
    for side in ("baseline", "candidate")
]
WEAK = Diagnostic("warning", "weak_attribution", values={"beside_ns": -5e5, "delta_ns": -4e5})
DEVICES = Diagnostic("warning", "devices_differ", values={"before": "H100", "after": "MI300X"})
LOAD = Diagnostic("info", "load", values={"before": 0.4, "after": 0.8, "cores": 2})


def test_what_turns_the_answer_comes_first_and_general_doubts_are_one() -> None:
    found = trust([UNPAIRED, PROFILED, *BIASED, WEAK, LOAD, DEVICES])
    assert found.specific == (DEVICES, WEAK, *BIASED)
    assert found.general == (UNPAIRED, PROFILED)
    assert found.notes == (LOAD,)
    assert found.doubts == 5  # devices, attribution, short rows of each side, two recordings
    assert wording.trust_line(found) == (
        "5 doubts, among them: The files were recorded on different devices: H100 and MI300X. "
        "The operators' own times explain only part of the change."
    )


def test_general_doubts_alone_are_one_sentence() -> None:
    found = trust([UNPAIRED, PROFILED])
    assert wording.trust_line(found) == f"1 doubt. {wording.trust.GENERAL_DOUBT}"


def test_beside_a_doubt_of_this_pair_the_general_ones_are_only_counted() -> None:
    line = wording.trust_line(trust([UNPAIRED, PROFILED, DEVICES]))
    assert (
        line
        == "2 doubts, among them: The files were recorded on different devices: H100 and MI300X."
    )


def test_an_error_comes_before_everything() -> None:
    broken = Diagnostic("error", "part_missing", values={"file": "x.json"})
    assert trust([DEVICES, broken]).specific == (broken, DEVICES)


def test_without_doubts_the_line_says_what_speaks_for_it() -> None:
    line = wording.trust_line(trust([LOAD]))
    assert line == (
        "No doubt was found. Load average 0.4 before the recording and 0.8 after it, on 2 cores. "
        "That before it is of other work, a doubt above half of the cores; that after it is of the "
        "recording itself, too."
    )


def test_a_headline_ends_where_the_fact_does() -> None:
    many = Diagnostic("warning", "control", values={"low": 1.02, "high": 1.03})
    assert wording.diagnostic_headline(many).startswith("A/A control: two copies")
    slow = Diagnostic("warning", "quantised", values={"side": "candidate", "relative": None})
    assert wording.diagnostic_headline(slow) == (
        "Candidate: It is quantised to 8 bits, so its results differ on purpose."
    )
    long = Diagnostic("warning", "devices_differ", values={"before": "x" * 4000, "after": "b"})
    assert len(wording.diagnostic_headline(long)) <= 150


def test_a_busy_machine_is_named_before_what_follows_from_it() -> None:
    """What a reader can act upon first: with load, operators often explain only part."""
    weak = Diagnostic("warning", "weak_attribution")
    busy = Diagnostic("warning", "load", values={"before": 6.2, "after": 6.7, "cores": 2})
    assert trust([weak, busy]).specific == (busy, weak)
