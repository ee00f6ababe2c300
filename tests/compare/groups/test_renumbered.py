"""Layers of two exports of one model: joined by the names of weights where numbers differ."""

from __future__ import annotations

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.renumbered import by_weights
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.operators.members import members_text, tensorrt
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.trace import Meta, Trace


def engine(*layers: str) -> Trace:
    """Layers of TensorRT by name, which take 10, 20, 30, … µs."""
    members = [tensorrt(layer) for layer in layers]
    return build_trace(
        Meta("tensorrt_profile", "TensorRT"),
        {
            "name": list(layers),
            "dur_ns": [10_000 * (at + 1) for at in range(len(layers))],
            "members": [None if one is None else members_text(one) for one in members],
            "members_source": [None if one is None else one.kind for one in members],
        },
    )


def compared(before: Trace, after: Trace) -> Comparison:
    return compare(side_of_trace(before), side_of_trace(after))


def joined(comparison: Comparison) -> list[tuple[str, str]]:
    """First layer of each side of every group."""
    return [(one.baseline[0].name, one.candidate[0].name) for one in comparison.fusion.groups]


FIRST = ("l1.conv.weight + QuantizeLinear_2 + Conv_4 + Relu_5", "MaxPool_6",
         "l2.conv.weight + QuantizeLinear_8 + Conv_10 + Relu_11")  # fmt: skip
# One node more in front: every number is higher, and Conv_10 is another convolution.
SECOND = ("l1.conv.weight + QuantizeLinear_8 + Conv_10 + Relu_11", "MaxPool_12",
          "l2.conv.weight + QuantizeLinear_14 + Conv_16 + Relu_17")  # fmt: skip


def test_weights_join_layers_whose_numbers_differ() -> None:
    comparison = compared(engine(*FIRST), engine(*SECOND))
    assert joined(comparison) == list(zip(FIRST, SECOND, strict=True))
    notes = {note.code: note.count for note in comparison.diagnostics}
    assert notes["exports_renumbered"] == 2 and "members_unknown" not in notes


def test_a_number_that_nothing_tells_joins_nothing() -> None:
    """One more pooling: which of the two is the other's is not known, though MaxPool_6 is in
    both."""
    second = (*SECOND, "MaxPool_6", "Relu_4 + MaxPool_20")
    groups = joined(compared(engine(*FIRST), engine(*second)))
    assert groups == [(FIRST[0], SECOND[0]), (FIRST[2], SECOND[2])]


def test_the_same_numbers_stay_and_so_do_names_without_weights() -> None:
    claims = {0: ("l1.conv.weight", "Conv_4", "Relu_5"), 1: ("MaxPool_6",)}
    assert by_weights(claims, dict(claims)) == (claims, 0)
    plain = {0: ("Conv_3", "Relu_4")}
    assert by_weights({0: ("Conv_4", "Relu_5")}, plain) == (plain, 0)
    comparison = compared(engine("Conv_0 + Relu_1", "Conv_2"), engine("Conv_0", "Relu_1", "Conv_2"))
    assert [len(one.candidate) for one in comparison.fusion.groups] == [2, 1]


def test_a_weight_that_two_layers_read_tells_nothing() -> None:
    before = {0: ("w.weight", "Conv_1"), 1: ("w.weight", "Conv_2")}
    after = {0: ("w.weight", "Conv_2"), 1: ("w.weight", "Conv_3")}
    assert by_weights(before, after) == (after, 0)
