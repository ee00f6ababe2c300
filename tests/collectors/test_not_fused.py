"""Why kernels were left apart: what was said of them, else what follows, by hand."""

from __future__ import annotations

import pytest

from fusescope.analysis.experiment import NotFused
from fusescope.collectors.torch.reasons import Operation, Refusal, Told, not_fused


def operation(
    name: str,
    reads: str,
    writes: str,
    *,
    loops: tuple[str, ...] = ("64", "256"),
    reduced: tuple[str, ...] = (),
    library: bool = False,
) -> Operation:
    return Operation(
        name, frozenset(reads.split()), frozenset(writes.split()), loops, reduced, library
    )


def refusal(first: str, second: str, said: str) -> Refusal:
    return Refusal(frozenset(first.split()), frozenset(second.split()), said)


def pairs(told: Told) -> list[tuple[str, str, str, str]]:
    rows = not_fused(told, {name: name for name in told.kernels})
    return [(row.first, row.second, row.by, row.reason) for row in rows]


def test_the_last_words_on_the_largest_parts_are_the_reason() -> None:
    told = Told(
        {
            "a": [operation("op0", "x", "b0"), operation("op1", "b0", "b1")],
            "b": [operation("op2", "b1", "b2"), operation("op3", "b2", "b3")],
        },
        [
            refusal("op1", "op2", "of small parts"),
            refusal("op0 op1", "op2 op3", "first words"),
            refusal("op0 op1", "op2 op3", "last\nwords"),
            refusal("op2 op3", "op0 op1", "the wrong way round"),
            refusal("op0 op1 op9", "op2 op3", "of another kernel too"),
            refusal("op0", "op3", "of parts that hand on nothing"),
        ],
    )
    (row,) = pairs(told)
    assert row == ("a", "b", "engine", "last words")


REDUCED = operation("op0", "x", "b0", loops=("64",), reduced=("256",))
POINTWISE = operation("op0", "x", "b0")


@pytest.mark.parametrize(
    ("kernels", "reason"),
    [
        ((POINTWISE, operation("op1", "b0", "b1", library=True)), "library"),
        ((REDUCED, operation("op1", "b0", "b1")), "reduction"),
        ((POINTWISE, operation("op1", "b0", "b1", loops=("8",))), "ranges"),
        ((POINTWISE, operation("op1", "b0", "b1")), "silent"),
        (
            (POINTWISE, operation("op1", "y", "b1", library=True), operation("op2", "b0", "b2")),
            "order",
        ),
        ((POINTWISE, operation("op1", "b0", "b1"), operation("op2", "b0 b1", "b2")), "between"),
    ],
)
def test_what_follows_where_nothing_was_said(kernels: tuple[Operation, ...], reason: str) -> None:
    told = Told({one.name: [one] for one in kernels})
    rows = {row[:2]: row[2:] for row in pairs(told)}
    assert rows["op0", kernels[-1].name] == ("derived", reason)


def test_kernels_that_hand_on_nothing_and_unnamed_ones_are_no_pairs() -> None:
    told = Told({"a": [POINTWISE], "b": [operation("op1", "x", "b1")]})
    assert pairs(told) == []
    told.kernels["c"] = [operation("op2", "b0", "b2")]
    assert not_fused(told, {"a": "a"}) == []
    assert not_fused(told, {"a": "mul:1", "c": "add:2"}) == [
        NotFused("mul:1", "add:2", "derived", "silent")
    ]
