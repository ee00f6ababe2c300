"""Hunks: what differs, folded, with exact times; checked by hand and for whatever is given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.align.alignment import align
from fusescope.analysis.align.hunks import Differences, Hunk, Share, differences
from fusescope.analysis.align.sequence import Kernel, Sequence
from tests.align.kernels import sequence


def compared(before: str, after: str, times: dict[str, int] | None = None) -> Differences:
    return differences(align(sequence(before, times), sequence(after, times)))


def named(shares: tuple[Share, ...]) -> list[tuple[str, int, int]]:
    return [(share.kernel.name, share.count, share.ns) for share in shares]


def shown(hunk: Hunk) -> tuple[int, str, str]:
    sides = (" ".join(share.kernel.name for share in side) for side in (hunk.before, hunk.after))
    return hunk.places, *sides


def test_new_kernels_before_each_attention_are_one_hunk_and_the_attention_another() -> None:
    times = {"A-flash": 9000, "A-sage": 8500, "q": 300, "r": 200}
    layer, changed = "N G A-flash x G1 ", "N G q r r A-sage x G1 "
    found = compared(layer * 30, changed * 30, times)
    new, replaced = found.hunks
    assert shown(new) == (30, "", "q r")
    assert named(new.after) == [("q", 30, 9000), ("r", 60, 12000)]
    assert (new.before_ns, new.after_ns, new.change_ns) == (0, 21_000, 21_000)
    assert new.next_kernel is not None and new.next_kernel.name == "A-sage"
    assert new.previous_kernel is not None and new.previous_kernel.name == "G"
    assert new.evidence is None
    assert new.before_spans[:2].tolist() == [[2, 2], [7, 7]]
    assert new.after_spans[:2].tolist() == [[2, 5], [10, 13]]
    assert shown(replaced) == (30, "A-flash", "A-sage")
    assert replaced.change_ns == 30 * -500
    assert replaced.before_spans[:2].tolist() == [[2, 3], [7, 8]]
    assert found.rest is None
    assert [(same.kernel.name, same.count) for same in found.same] == [
        ("N", 30), ("G", 30), ("x", 30), ("G1", 30)
    ]  # fmt: skip


def test_several_kernels_that_became_one_are_one_hunk() -> None:
    found = compared("N G a b c G1 N", "N G d G1 N")
    (fused,) = found.hunks
    assert shown(fused) == (1, "a b c", "d")
    assert (fused.before_ns, fused.after_ns) == (3000, 1000)


def test_kernels_of_two_streams_are_two_hunks_though_they_stand_side_by_side() -> None:
    names = {"before": "N G a d", "after": "N G b c e"}
    before, after = (sequence(text) for text in names.values())
    assert [shown(hunk) for hunk in differences(align(before, after)).hunks] == [
        (1, "a d", "b c e")
    ]
    before = replace(before, streams=np.array([0, 0, 0, 1]))
    after = replace(after, streams=np.array([0, 0, 0, 0, 1]))
    hunks = differences(align(before, after)).hunks
    assert {shown(hunk) for hunk in hunks} == {(1, "a", "b c"), (1, "d", "e")}
    spans = {shown(hunk)[1]: hunk.after_spans.tolist() for hunk in hunks}
    assert spans == {"a": [[2, 4]], "d": [[4, 5]]}


def test_a_kernel_that_moved_is_among_the_same() -> None:
    found = compared("N G x A w G1 m", "N G A w x G1 m", {"x": 700})
    assert found.hunks == ()
    moved = next(same for same in found.same if same.kernel.name == "x")
    assert moved.positions.tolist() == [[2, -1], [-1, 4]]
    assert (moved.count, moved.before_ns, moved.after_ns) == (1, 700, 700)


def test_what_is_new_at_an_end_has_no_neighbour_there() -> None:
    first = compared("G N", "x G N").hunks[0]
    last = compared("G N", "G N x").hunks[0]
    assert first.previous_kernel is None and first.next_kernel is not None
    assert last.next_kernel is None and last.previous_kernel is not None
    assert last.after_spans.tolist() == [[2, 3]] and last.before_spans.tolist() == [[2, 2]]
    both = compared("G N G1 M", "x G N G1 M x").hunks[0]  # one of the two places is at an end
    assert both.places == 2 and both.next_kernel is None


def test_the_same_kernel_of_two_operators_is_told_apart() -> None:
    kernels = (Kernel("g", "g", "matrix_product", "mm f32[1]"), Kernel("g", "g", "matrix_product",
               "mm f32[2]"), Kernel("x", "x", "elementwise"))  # fmt: skip
    ids = np.array([0, 2, 1] * 5)
    before = Sequence(kernels, ids, np.array([10, 1, 20] * 5))
    after = Sequence(kernels, ids, np.array([10, 1, 60] * 5))
    found = differences(align(before, after)).same
    assert (found[0].kernel.launcher, found[0].change_ns) == ("mm f32[2]", 200)
    assert [same.change_ns for same in found[1:]] == [0, 0]


NAMES = st.sampled_from(["A1", "A2", "G1", "G2", "N", "x", "y", "C", "?u", "m"])
EXECUTIONS = st.lists(st.tuples(NAMES, st.integers(0, 10**12)), max_size=30)


def timed(executions: list[tuple[str, int]]) -> Sequence:
    found = sequence(" ".join(name for name, _ in executions))
    return Sequence(found.kernels, found.ids, np.array([ns for _, ns in executions], np.int64))


@given(EXECUTIONS, EXECUTIONS)
def test_hunks_and_the_same_kernels_add_up_to_both_sides(
    first: list[tuple[str, int]], second: list[tuple[str, int]]
) -> None:
    before, after = timed(first), timed(second)
    found = differences(align(before, after))
    parts = [*found.hunks, *found.same]
    assert sum(part.before_ns for part in parts) == sum(ns for _, ns in first)
    assert sum(part.after_ns for part in parts) == sum(ns for _, ns in second)
    assert sum(part.change_ns for part in parts) == after.total_ns - before.total_ns
    for hunk in found.hunks:
        counts = (sum(share.count for share in hunk.before), sum(s.count for s in hunk.after))
        assert sum(counts) > 0
        assert hunk.places == len(hunk.before_spans) == len(hunk.after_spans)
        for spans, count in zip((hunk.before_spans, hunk.after_spans), counts, strict=True):
            assert (spans[:, 1] >= spans[:, 0]).all()
            assert (spans[:, 1] - spans[:, 0]).sum() >= count  # what moved may lie between


@given(EXECUTIONS)
def test_nothing_changed_is_no_hunk(executions: list[tuple[str, int]]) -> None:
    found = differences(align(timed(executions), timed(executions)))
    assert found.hunks == () and found.rest is None
    assert all(same.change_ns == 0 for same in found.same)


def test_what_differs_in_too_many_ways_is_held_together() -> None:
    pairs = [(f"G{place} old{place} G", f"G{place} z{place} G") for place in range(1500)]
    sides = [
        Sequence(
            tuple(Kernel(name, name, "matrix_product" if name[0] == "G" else "unknown")
                  for name in " ".join(side).split()),
            np.arange(4500), np.arange(4500, dtype=np.int64) + 7 * row,
        )
        for row, side in enumerate(zip(*pairs, strict=True))
    ]  # fmt: skip
    found = differences(align(*sides))
    assert len(found.hunks) == 1000
    assert found.rest is not None and found.rest.places == 500
    parts = [*found.hunks, found.rest, *found.same]
    assert sum(part.change_ns for part in parts) == 7 * 4500
