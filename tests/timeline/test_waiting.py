"""What collectives wait for other ranks, in what the timeline draws."""

from __future__ import annotations

from typing import Any

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.timeline.drawing import Layers
from fusescope.analysis.timeline.payload import timeline_payload, trace_payload
from fusescope.analysis.trace import Trace
from tests.ranks.test_waits import US, rank_of


def waiting(side: Any) -> list[int] | None:
    column = side["calls"].get("waiting_ns")
    assert ("waits" in side) == (column is not None)
    return None if column is None else [ns // US for ns in column.tolist()]


def alone(trace: Trace) -> Any:
    return trace_payload(side_of_trace(trace))


def test_a_collective_waits_while_no_data_moves_by_the_profilers_count() -> None:
    """The first takes 110 us, in 30 of which data moves; in all of the second it does."""
    payload = alone(rank_of(0, [(100, 210), (300, 350)], transfers=[30, 60]))
    assert waiting(payload["sides"][0]) == [0, 80, 0]
    [side] = Layers(payload).shown([(0, 350 * US)], 100)["sides"]
    assert [lane["calls"]["waiting_ns"].tolist() for lane in side["lanes"]] == [[0, 80 * US, 0]]


def test_what_is_modelled_only_is_not_drawn() -> None:
    times = [(0, 40), (100, 150), (200, 300)]
    assert waiting(alone(rank_of(0, times, sizes=[5] * 3))["sides"][0]) is None


def test_of_two_ranks_what_is_measured_is_drawn() -> None:
    """Rank 0 comes 70 us before rank 1 to the first, 20 us after it to the second."""
    first = rank_of(0, [(100, 210), (300, 350)])
    second = rank_of(1, [(170, 210), (280, 350)])
    payload = timeline_payload(compare(side_of_trace(first), side_of_trace(second)))
    assert [waiting(side) for side in payload["sides"]] == [[0, 70, 0], [0, 0, 20]]


def test_a_collective_of_no_known_wait_has_no_column() -> None:
    assert waiting(alone(rank_of(0, [(100, 210)]))["sides"][0]) is None
