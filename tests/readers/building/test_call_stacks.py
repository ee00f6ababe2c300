"""Call stacks by hand: which frames run at a moment, and what bounds them."""

from __future__ import annotations

import numpy as np
import pytest

from fusescope.analysis.readers.building import call_stacks
from fusescope.analysis.readers.building.call_stacks import Frames, Moments, stacks_of
from fusescope.analysis.stacks import Stacks


def frames_of(*rows: tuple[int, str, int, int]) -> Frames:
    names = sorted({name for _, name, _, _ in rows})
    columns = [(lane, start, dur, names.index(name)) for lane, name, start, dur in rows]
    return Frames(*np.array(columns, dtype="int64").T, names=names)


def moments_of(*rows: tuple[int, int, int], before: bool = False) -> Moments:
    lanes, times, numbers = np.array(rows, dtype="int64").T
    return Moments(lanes, times, numbers, before=before)


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
    moments = moments_of(
        (1, 12, 0), (1, 15, 1), (1, 50, 2), (1, 100, 3), (1, 101, 4), (2, 101, 5), (3, 1, 6),
        (1, 10, 7),
    )  # fmt: skip
    stacks = stacks_of(FRAMES, moments)
    assert paths(stacks, list(range(9))) == [
        ["main", "inner", "leaf"], ["main", "inner", "leaf"], ["main", "inner"], ["main"], [],
        ["other"], [], ["main", "inner", "leaf"], [],
    ]  # fmt: skip
    begins = stacks_of(FRAMES, moments_of((1, 10, 8), before=True))
    assert paths(begins, [8]) == [["main"]], "what begins then is inside it"
    assert stacks is not None
    assert sorted(stacks.names) == ["inner", "leaf", "main", "other"], "one node for each path"
    assert stacks_of(FRAMES, moments_of((3, 1, 6))) is None


def test_what_is_deep_or_many_ends_at_the_last_frame_that_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(call_stacks, "_MAX_DEPTH", 2)
    assert paths(stacks_of(FRAMES, moments_of((1, 12, 0))), [0]) == [["main", "inner"]]
    monkeypatch.setattr(call_stacks, "MAX_NODES", 1)
    both = stacks_of(FRAMES, moments_of((1, 12, 0), (2, 12, 1)))
    assert paths(both, [0, 1]) == [["main"], []]


def test_many_frames_that_end_one_after_the_other_are_climbed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 20,000 frames in each other, the inner ones ended; each moment lies in another one of them.
    depth = 20_000
    rows = [(1, "frame", at, 3 * depth - 2 * at) for at in range(depth)]
    times = [(1, depth + at, at) for at in range(depth)]
    frames, moments = frames_of(*rows), moments_of(*times)
    looked: list[int] = []
    around = frames.around.tolist()
    monkeypatch.setattr(call_stacks, "_MAX_STRIDES", 1)
    innermost = call_stacks._innermost(frames, moments)
    for (_, time, _), place in zip(times, innermost.tolist(), strict=True):
        assert frames.ends[place] >= time
        inner = place + 1
        assert inner == depth or around[inner] != place or frames.ends[inner] < time
        looked.append(place)
    # A frame ends at 3 * depth - its place: the innermost that runs at depth + n.
    assert looked == [min(depth - 1, 2 * depth - at) for at in range(depth)]
