"""Operators of two JAX programs whose source lies elsewhere: joined by their path alone."""

from __future__ import annotations

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.moved_source import by_paths
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.trace import Meta, Trace
from fusescope.analysis.wording.fusion.became import originals_text

OLD = "jit(forward)/jit(main)/conv_general_dilated old.py:77:0"
NEW = "jit(forward)/conv_general_dilated new.py:23:11"


def program(convolution: str, dur_ns: tuple[int, int, int]) -> Trace:
    """A fusion that transposes the parameter `x`, a convolution, and a fusion that transposes its
    result; times of the three."""
    return build_trace(
        Meta("xplane", "JAX"),
        {
            "name": ["transpose_fusion_1", "conv", "transpose_fusion"],
            "op_type": ["transpose_fusion", "custom-call", "transpose_fusion"],
            "dur_ns": list(dur_ns),
            "members": ["x", convolution, convolution],
            "members_source": ["names"] * 3,
        },
    )


def compared() -> Comparison:
    return compare(
        side_of_trace(program(OLD, (70, 1_500, 1_950))),
        side_of_trace(program(NEW, (76, 1_530, 1_830))),
    )


def test_an_operator_written_elsewhere_is_the_same_operator() -> None:
    comparison = compared()
    found = {
        tuple(one.name for one in group.baseline): tuple(one.name for one in group.candidate)
        for group in comparison.fusion.groups
    }
    both = ("conv", "transpose_fusion")
    assert found == {("transpose_fusion_1",): ("transpose_fusion_1",), both: both}
    notes = {note.code: note.count for note in comparison.diagnostics}
    assert notes["source_moved"] == 1 and "members_unknown" not in notes


def test_a_pattern_with_some_operators_of_its_type_says_so() -> None:
    """Of both transposes together 114 ns went, of that of `x` came 6: one name for both would say
    faster and slower."""
    comparison = compared()
    types = comparison.op_types.set_index("op_type")["delta_ns"]
    assert types["transpose_fusion"] == 76 + 1_830 - 70 - 1_950 == -114
    patterns = {originals_text(row): row for row in comparison.ledger.patterns.to_dict("records")}
    assert patterns["transpose_fusion (1 of 2 distinct operators)"]["gain_ns"] == 70 - 76
    assert patterns["conv_general_dilated"]["gain_ns"] == 1_500 + 1_950 - 1_530 - 1_830


def test_paths_of_several_operators_say_nothing() -> None:
    before = {0: ("jit(f)/jit(main)/dot a.py:1:0",), 1: ("jit(f)/jit(main)/dot a.py:9:0",)}
    after = {0: ("jit(f)/dot a.py:2:0",), 1: ("jit(f)/dot a.py:10:0",)}
    assert by_paths(before, after) == (after, 0)


def test_repetitions_of_one_line_keep_their_number() -> None:
    before = {at: (f"jit(f)/jit(main)/dot a.py:1:0 ({at} of 2)",) for at in (1, 2)}
    after = {at: (f"jit(f)/dot b.py:7:4 < b.py:9:1 ({at} of 2)",) for at in (1, 2)}
    assert by_paths(before, after) == (before, 2)


def test_names_that_both_sides_have_stay() -> None:
    before = {0: ("jit(f)/dot a.py:1:0",), 1: ("jit(f)/add a.py:2:0",), 2: ("x",)}
    after = {0: ("jit(f)/dot a.py:1:0",), 1: ("jit(f)/add a.py:3:0",), 2: ("y",)}
    assert by_paths(before, after) == ({**before, 2: ("y",)}, 1)
