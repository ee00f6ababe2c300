"""Who waits for whom: by hand, in sentences, and as two ranks alone are told it."""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis.fleet.examined import Examined, examine
from fusescope.analysis.fleet.of_traces import fleet_of_traces
from fusescope.analysis.fleet.rank_waits import rank_waits
from fusescope.analysis.job import Job
from fusescope.analysis.ranks.aligned import aligned
from fusescope.analysis.ranks.pair import ranks_of_one_job
from fusescope.analysis.ranks.waits import waits_of_pair
from fusescope.analysis.report.fleets.fleet_json import fleet_values
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.fleet.sentences import answer_sentences, text_of
from fusescope.app.sources import fleets
from tests.fleet.jobs import by_hand
from tests.ranks.test_waits import EPOCH, US, rank_of

MS = 1_000_000


def one(rank: int, index: int, start_ms: int, end_ms: int, **values: object) -> dict[str, object]:
    """An execution of collective `index` on a rank, without a vote."""
    return {
        "rank": rank, "index": index, "place": index, "step": index // 2,
        "start_ns": start_ms * MS, "dur_ns": (end_ms - start_ms) * MS, **values,
    }  # fmt: skip


def step(rank: int, computing_ms: int) -> dict[str, object]:
    return {
        "rank": rank, "split_ns": 500 * MS, "computing_ns": computing_ms * MS,
        "uncovered_ns": (500 - computing_ms) * MS, "free_ns": 0,
    }  # fmt: skip


PAIR = {"kind": "send_receive", "is_pair": True}
# Two steps of 500 ms. In each rank 0 comes to send and receive first, 150 and 130 ms before rank 1,
# and rank 1 to an all-reduce 20 ms before rank 0, on a clock that is 7 ms ahead.
ROWS = [
    one(0, 0, 100, 260, **PAIR), one(1, 0, 257, 267, **PAIR),
    one(0, 1, 420, 430), one(1, 1, 407, 437),
    one(0, 2, 600, 740, **PAIR), one(1, 2, 737, 747, **PAIR),
    one(0, 3, 920, 930), one(1, 3, 907, 937),
]  # fmt: skip
STEPS = [step(rank, 200 + 100 * rank) for rank in (0, 1) for _ in range(2)]


def said(found: Examined) -> list[str]:
    return [text_of(sentence) for sentence in answer_sentences(found)]


def test_who_waits_for_whom_is_the_mean_of_the_steps() -> None:
    fleet = by_hand(ROWS, STEPS)
    first, second = rank_waits(fleet, aligned(fleet.collectives))
    assert (first.rank, first.awaited, first.ns) == (0, 1, 140 * MS)  # (150 + 130) / 2
    assert (first.share, first.step_ns) == (0.28, 500 * MS)
    assert first.kinds == (("send_receive", 140 * MS),)
    assert (second.rank, second.awaited, second.ns) == (1, 0, 20 * MS)
    assert second.kinds == (("all_reduce", 20 * MS),)


def test_waiting_is_said_where_no_rank_is_slow_by_its_own_delay() -> None:
    found = examine(by_hand(ROWS, STEPS))
    assert not found.slow
    *waits, slow = said(found)
    assert slow.startswith("No rank is slow by its own delay: none came last more often than ")
    assert slow.endswith("Send and receive do not count, since whoever sends is always last.")
    assert " ".join(waits) == (
        "Rank 0 waits 140 ms for rank 1 in a step of 500 ms: all of it in send and receive. Rank 1 "
        "computes for 300 ms in a step, rank 0 for 200 ms. "
        "Rank 1 waits 20.0 ms for rank 0 in a step of 500 ms: all of it in all-reduce."
    )
    [first, _] = fleet_values(found)["waits"]
    assert first == {
        "rank": 0, "awaited": 1, "ns": 140 * MS, "share": 0.28, "basis": "measured",
        "kinds": [{"kind": "send_receive", "ns": 140 * MS}], "in_step": None, "is_own": False,
    }  # fmt: skip


def test_those_that_wait_for_one_rank_are_one_sentence_with_its_step() -> None:
    """Rank 0 comes 60 and 50 ms after ranks 1 and 2, in step 0 alone: 30 and 25 ms of a mean step,
    in which it computes 30 ms longer than rank 1."""
    rows = [
        one(0, 0, 160, 170), one(1, 0, 100, 170), one(2, 0, 110, 170),
        *(one(rank, 2, 600, 610) for rank in range(3)),
    ]  # fmt: skip
    steps = [step(rank, 230 if rank == 0 else 200) for rank in range(3) for _ in range(2)]
    found = examine(by_hand(rows, steps))
    assert found.awaited == (0,)
    assert said(found)[0] == (
        "Ranks 1 and 2 wait for rank 0, at most 30.0 ms in a step of 500 ms (rank 1): all of it in "
        "all-reduce. Nearly all of that is in the step that the profiler numbers 0. Rank 0 "
        "computes for 230 ms in a step, rank 1 for 200 ms."
    )
    assert {wait["in_step"] for wait in fleet_values(found)["waits"]} == {0}
    # 5 of 30 ms are no reason
    steps = [step(rank, 205 if rank == 0 else 200) for rank in range(3) for _ in range(2)]
    assert "computes" not in said(examine(by_hand(rows, steps)))[0]
    assert fleets.median_rank(found, 2) == 1, "no rank that others wait for is the usual one"


def test_a_rank_that_is_late_because_it_waited_is_not_named() -> None:
    """In each step ranks 1 and 2 wait 100 ms for rank 3, which works as much longer; then rank 0
    waits 100 ms for rank 1, which comes from that."""
    rows = []
    for at in (0, 500):
        of = at // 250
        rows += [
            one(1, of, at + 100, at + 210, before_ns=100 * MS),
            one(2, of, at + 100, at + 210, before_ns=100 * MS),
            one(3, of, at + 200, at + 210, before_ns=200 * MS),
            one(0, of, at + 150, at + 260, before_ns=50 * MS, group="2"),
            one(1, of, at + 250, at + 260, before_ns=40 * MS, group="2"),
        ]
    steps = [step(rank, 200) for rank in range(4) for _ in range(2)]
    found = examine(by_hand(rows, steps))
    of_pairs = {(wait.rank, wait.awaited): (wait.ns, wait.is_own) for wait in found.waits}
    assert of_pairs == {
        (1, 3): (100 * MS, True), (2, 3): (100 * MS, True), (0, 1): (100 * MS, False),
    }  # fmt: skip
    assert found.awaited == (3,)
    assert not any("for rank 1" in sentence for sentence in said(found))


def test_what_does_not_end_together_is_no_waiting() -> None:
    apart = [*ROWS, one(0, 4, 1000, 1200), one(1, 4, 1400, 1407)]  # 200 ms after the other ended
    fleet = by_hand(apart, STEPS)
    assert [wait.ns for wait in rank_waits(fleet, aligned(fleet.collectives))] == [
        140 * MS,
        20 * MS,
    ]


def test_waiting_below_a_hundredth_of_the_steps_is_not_said() -> None:
    short = [one(0, 0, 100, 108), one(1, 0, 104, 108)]  # 4 ms of two steps of 500 ms
    found = examine(by_hand(short, STEPS))
    assert found.waits == () and said(found)[0].startswith("No rank is slow: none came last")


def test_two_open_ranks_are_told_the_same_as_when_they_are_compared() -> None:
    first = rank_of(0, [(100, 210), (300, 350)])
    second = rank_of(1, [(170, 210), (280, 350)])
    assert ranks_of_one_job([("a", first), ("b", second), ("c", first)]) == {0: 0, 1: 1}
    found = examine(fleet_of_traces("open", {0: ("a", first), 1: ("b", second)}))
    pair = waits_of_pair(first, second)
    assert pair is not None
    assert [(wait.rank, wait.ns) for wait in found.waits] == [(0, 70 * US), (1, 20 * US)]
    assert [side.ns.sum() for side in pair] == [70 * US, 20 * US]


def test_traces_of_one_rank_or_of_other_jobs_are_no_job() -> None:
    first = rank_of(0, [(100, 210)])
    late = rank_of(1, [(170, 210)], started_ns=1_764_100_000 * 10**9)
    assert ranks_of_one_job([]) == {}
    assert ranks_of_one_job([("a", first)]) == {}
    assert ranks_of_one_job([("a", first), ("b", late)]) == {}


def test_three_ranks_are_one_job_by_what_they_say_where_clocks_are_not_set_alike() -> None:
    """Two of them are not, nor those that say one rank twice, other sizes, or other days."""

    def rank(number: int, after_s: float, world: int = 3, ids: tuple[str, ...] = ()) -> Trace:
        start = EPOCH + round(after_s * 1e9)
        trace = rank_of(number, [(100, 210), (300, 350)], started_ns=start)
        return replace(trace, meta=replace(trace.meta, job=Job(number, world, ids=ids)))

    def places(*traces: Trace) -> dict[int, int]:
        return ranks_of_one_job([(f"{at}.json", trace) for at, trace in enumerate(traces)])

    apart = (rank(1, 0.3), rank(0, 0.0), rank(2, 59.0))
    assert places(*apart) == {0: 1, 1: 0, 2: 2}
    assert places(*apart[:2]) == {}
    assert places(*apart[:2], rank(2, 61.0)) == {}
    assert places(*apart[:2], rank(2, 0.5, world=4)) == {}
    assert places(*apart[:2], rank(1, 0.5)) == {}, "which of both is the job's nobody knows"
    own = [rank(n, n / 3, ids=(f"of {n}",)) for n in range(3)]
    assert places(*own) == {}
    assert places(*(rank(n, n / 3, ids=("one", f"of {n}")) for n in range(3))) == {0: 0, 1: 1, 2: 2}
