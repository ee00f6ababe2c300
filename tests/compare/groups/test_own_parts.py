"""Groups that are several on both sides: each side's own groups, what they share, and their times,
which are those of the operators that run, undivided."""

from __future__ import annotations

import io
import itertools
import re
import zipfile
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Fusion
from fusescope.analysis.compare.groups.graphs import Optimised, group_graphs
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.graph import Graph, Node, Tensor, graph_json
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.exports.fusion_json import fusion_values
from fusescope.analysis.report.html import report_html
from fusescope.analysis.wording import coverage_sentence
from fusescope.analysis.wording.fusion.joined import joined_rows, largest_joined
from fusescope.app.cli.printing.joined import print_joined
from tests.factories import Operator, experiment_zip

SHAPE = [(1, 4, 8, 8)]


def chain(lengths: Sequence[int], name: str) -> Graph:
    """Operators in a row, of so many of the model's each: `name` and the numbers of the first and
    the last of those, as in 'f0-1'."""
    nodes, start = [], 0
    for length in lengths:
        end = start + length
        of = f"{name}{start}" if length == 1 else f"{name}{start}-{end - 1}"
        nodes.append(Node(of, f"{name.upper()}{length}", (f"t{start}",), (f"t{end}",)))
        start = end
    tensors = tuple(Tensor(f"t{n}", "float32", (1, 4, 8, 8)) for n in range(start + 1))
    return Graph(tuple(nodes), tensors, ("t0",), (f"t{start}",))


def grouped(before: Sequence[int], after: Sequence[int]) -> Fusion:
    model = chain([1] * sum(before), "m")
    return group_graphs(model, Optimised(chain(before, "b")), Optimised(chain(after, "a")))


def test_a_group_that_no_boundary_of_both_divides_has_the_groups_of_either_side() -> None:
    # ab | cd against a | bc | d: where one side could be cut, the other has one operator.
    [group] = grouped([2, 2], [1, 2, 1]).groups
    assert [[one.name for one in part.original] for part in group.parts[0]] == [
        ["m0", "m1"],
        ["m2", "m3"],
    ]
    assert [[one.name for one in part.operators] for part in group.parts[1]] == [
        ["a0"],
        ["a1-2"],
        ["a3"],
    ]
    shared = [([one.name for one in s.original], s.places) for s in group.side_by_side]
    assert shared == [(["m0"], (0, 0)), (["m1"], (0, 1)), (["m2"], (1, 1)), (["m3"], (1, 2))]


def test_a_group_that_one_side_has_as_one_has_none() -> None:
    fusion = grouped([1, 1, 1, 2], [3, 2])
    assert [len(group.original) for group in fusion.groups] == [3, 2]
    assert all(group.parts == ((), ()) and not group.side_by_side for group in fusion.groups)
    assert fusion.joined == ()


lengths = st.lists(st.integers(1, 4), min_size=1, max_size=8)


@given(lengths, lengths)
def test_what_parts_share_is_the_group_divided_once(before: list[int], after: list[int]) -> None:
    missing = sum(before) - sum(after)
    (after if missing > 0 else before).extend([1] * abs(missing))
    cuts = [{sum(side[:n]) for n in range(len(side) + 1)} for side in (before, after)]
    both = sorted(cuts[0] & cuts[1])
    fusion = grouped(before, after)
    assert [len(group.original) for group in fusion.groups] == [
        end - start for start, end in itertools.pairwise(both)
    ]
    for group, (start, end) in zip(fusion.groups, itertools.pairwise(both), strict=True):
        inside = [sum(start <= cut < end for cut in side) for side in cuts]
        assert [len(side) for side in group.parts] == (inside if min(inside) > 1 else [0, 0])
        if not group.side_by_side:
            continue
        assert [one for shared in group.side_by_side for one in shared.original] == [
            *group.original
        ]
        finest = sorted(cut for cut in cuts[0] | cuts[1] if start <= cut <= end)
        assert len(group.side_by_side) == len(finest) - 1
        for at, side in enumerate(group.parts):
            for place, part in enumerate(side):
                of = [s.original for s in group.side_by_side if s.places[at] == place]
                assert [one for some in of for one in some] == [*part.original]


def recorded(**times: Sequence[int]) -> bytes:
    """ab | cd | e against a | bc | d | e, in µs."""
    graphs = {"unfused": chain([2, 2, 1], "b"), "fused": chain([1, 2, 1, 1], "a")}
    graphs["model"] = chain([1] * 5, "m")
    rows: dict[str, list[Operator]] = {
        name: [
            (node.name, node.op_type, us, SHAPE, SHAPE)
            for node, us in zip(graphs[name].nodes, times[name], strict=True)
        ]
        for name in ("unfused", "fused")
    }
    buffer = io.BytesIO()
    blocks = {"unfused": [0.5] * 6, "fused": [0.4] * 6}
    with (
        zipfile.ZipFile(io.BytesIO(experiment_zip(blocks, rows))) as written,
        zipfile.ZipFile(buffer, "w") as archive,
    ):
        for name in written.namelist():
            of = name.removeprefix("graphs/").removesuffix(".json")
            is_graph = name.startswith("graphs/")
            archive.writestr(name, graph_json(graphs[of]) if is_graph else written.read(name))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def found() -> Comparison:
    data = recorded(unfused=(100, 60, 20), fused=(40, 50, 7, 30))
    experiment = read(Source("e.zip", data))
    assert isinstance(experiment, Experiment)
    return compare(side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused"))


def test_a_part_has_the_time_of_the_operators_that_run_for_it(found: Comparison) -> None:
    assert [len(group.original) for group in found.fusion.groups] == [4, 1]
    table = found.ledger.parts
    assert table["group"].tolist() == [1] * 5
    assert table["side"].tolist() == ["baseline"] * 2 + ["candidate"] * 3
    assert table["part"].tolist() == [0, 1, 0, 1, 2]
    assert table["per_run_ns"].tolist() == [100_000, 60_000, 40_000, 50_000, 7_000]
    row = found.ledger.rows.set_index("group").loc[1]
    assert (row["before_ns"], row["after_ns"]) == (160_000, 97_000)


def test_a_time_stands_in_the_first_line_of_its_group_alone(found: Comparison) -> None:
    group = largest_joined(found)
    assert group is not None and group.id == 1
    lines = [
        (line.original, line.baseline.text, line.baseline.time, line.candidate.text,
         line.candidate.time)
        for line in joined_rows(found, group)
    ]  # fmt: skip
    assert lines == [
        ("M1", "1. B2", "100.0 µs", "1. A1", "40.0 µs"),
        ("M1", "1, as above", "", "2. A2", "50.0 µs"),
        ("M1", "2. B2", "60.0 µs", "2, as above", ""),
        ("M1", "2, as above", "", "3. A1", "7.0 µs"),
    ]
    assert "1 group joins several of either side" in coverage_sentence(found)


def test_json_has_the_parts_of_groups_that_have_some(found: Comparison) -> None:
    groups = {group["id"]: group for group in fusion_values(found)["groups"]}
    assert "parts" not in groups[2]
    assert groups[1]["parts"] == {
        "baseline": [
            {"original": ["m0", "m1"], "operators": ["b0-1"], "per_run_ns": 100_000},
            {"original": ["m2", "m3"], "operators": ["b2-3"], "per_run_ns": 60_000},
        ],
        "candidate": [
            {"original": ["m0"], "operators": ["a0"], "per_run_ns": 40_000},
            {"original": ["m1", "m2"], "operators": ["a1-2"], "per_run_ns": 50_000},
            {"original": ["m3"], "operators": ["a3"], "per_run_ns": 7_000},
        ],
    }
    cut = {group["id"]: group for group in fusion_values(found, top=1)["groups"]}
    assert cut[1]["parts"]["baseline"][0] == {
        "original": ["m0"],
        "operators": ["b0-1"],
        "per_run_ns": 100_000,
        "left_out": {"original": 1, "operators": 0},
    }


def test_terminal_and_report_set_them_side_by_side(found: Comparison) -> None:
    console = Console(width=100, file=io.StringIO(), color_system=None)
    print_joined(console, found)
    assert isinstance(console.file, io.StringIO)
    printed = [line.split() for line in console.file.getvalue().splitlines()]
    assert ["M1", "1,", "as", "above", "2.", "A2", "50.0", "µs"] in printed
    assert ["whole", "group", "160.0", "µs", "97.0", "µs"] in printed
    page = report_html(found)
    assert page.count("Groups of either side inside this group</caption>") == 1
    cells = re.findall(r"<td[^>]*>(?:<bdi>)?([^<]*)", page[page.index("1. B2") - 40 :])
    assert cells[:4] == ["1. B2", "100.0 µs", "1. A1", "40.0 µs"]


def test_a_narrow_terminal_has_no_room_for_two_sides(found: Comparison) -> None:
    console = Console(width=60, file=io.StringIO())
    print_joined(console, found)
    assert isinstance(console.file, io.StringIO) and console.file.getvalue() == ""
