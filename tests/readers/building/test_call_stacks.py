"""Call stacks by hand: which frames run at a moment, and what bounds them."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.readers.building import call_stacks
from analysis.readers.building.call_stacks import Frames, Moment, stacks_of
from analysis.stacks import Stacks


def frames_of(*rows: tuple[int, str, int, int]) -> Frames:
    frames = Frames()
    for lane, name, start, dur in rows:
        frames.add(lane, name, start, dur)
    return frames


def paths(stacks: Stacks | None, rows: list[int]) -> list[list[str]]:
    """The names from the outermost frame, by row."""
    found = []
    for node in stacks.of(np.array(rows)).tolist() if stacks is not None else []:
        path: list[str] = []
        while node >= 0:
            assert stacks is not None
            path.insert(0, stacks.names[node])
            node = int(stacks.parents[node])
        found.append(path)
    return found


FRAMES = frames_of(
    (1, "main", 0, 100), (1, "inner", 10, 20), (1, "leaf", 10, 5), (1, "inner", 40, 20),
    (2, "other", 0, 1000),
)  # fmt: skip


def test_frames_that_run_at_a_moment() -> None:
    moments = [
        Moment(1, 12, 0), Moment(1, 15, 1), Moment(1, 50, 2), Moment(1, 100, 3), Moment(1, 101, 4),
        Moment(2, 101, 5), Moment(3, 1, 6), Moment(1, 10, 7), Moment(1, 10, 8, before=True),
    ]  # fmt: skip
    stacks = stacks_of(FRAMES, moments)
    assert paths(stacks, list(range(10))) == [
        ["main", "inner", "leaf"], ["main", "inner", "leaf"], ["main", "inner"], ["main"], [],
        ["other"], [], ["main", "inner", "leaf"], ["main"], [],
    ]  # fmt: skip
    assert stacks is not None
    assert sorted(stacks.names) == ["inner", "leaf", "main", "other"], "one node for each path"
    assert stacks_of(FRAMES, [Moment(3, 1, 6)]) is None


def test_what_is_deep_or_many_ends_at_the_last_frame_that_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(call_stacks, "_MAX_DEPTH", 2)
    assert paths(stacks_of(FRAMES, [Moment(1, 12, 0)]), [0]) == [["main", "inner"]]
    monkeypatch.setattr(call_stacks, "MAX_NODES", 1)
    both = stacks_of(FRAMES, [Moment(1, 12, 0), Moment(2, 12, 1)])
    assert paths(both, [0, 1]) == [["main"], []]
