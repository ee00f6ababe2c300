"""Changes between releases, on graphs small enough to see what has to come."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec
import pytest

from fusescope.analysis.experiment import ModelFacts
from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.releases.changes import Change, changes
from fusescope.analysis.releases.history import SCHEMA_VERSION, History, Made, Release
from fusescope.analysis.report.releases.releases_json import releases_json
from fusescope.analysis.wording.releases import (
    change_lines,
    change_sentence,
    history_sentence,
    skipped_text,
    what_changed,
)

NCHWC = "com.microsoft.nchwc"


def graph(*nodes: tuple[str, str, str] | tuple[str, str, str, str]) -> Graph:
    """Nodes as (op type, input, output) with names of their outputs; x is read, y returned."""
    made = tuple(
        Node(f"{node[0]}_{node[2]}", node[0], (node[1],), (node[2],), *node[3:]) for node in nodes
    )
    names = dict.fromkeys(["x", *(name for node in made for name in node.outputs)])
    return Graph(made, tuple(Tensor(name) for name in names), ("x",), ("y",))


# relu(x), then what is one operator in some releases, and a pool
MODEL = graph(
    ("Relu", "x", "a"), ("Erf", "a", "b"), ("Sqrt", "b", "c"), ("Exp", "c", "d"), ("Pool", "d", "y")
)
PLAIN = MODEL
FUSED = graph(("Relu", "x", "a"), ("Gelu", "a", "d"), ("Pool", "d", "y"))
HALF = graph(("Relu", "x", "a"), ("Half", "a", "c"), ("Exp", "c", "d"), ("Pool", "d", "y"))
BLOCKED = graph(("Relu", "x", "a"), ("Gelu", "a", "d"), ("Pool", "d", "y", NCHWC))


def history(*graphs: Graph | None) -> History:
    """Releases 1.0, 1.1, … of which None was left out."""
    different: list[Graph] = []
    for one in graphs:
        if one is not None and one not in different:
            different.append(one)
    return History(
        schema_version=SCHEMA_VERSION,
        created="2026-01-01T00:00:00+00:00",
        engine="onnxruntime",
        model=ModelFacts("net", "file", "0" * 64, len(MODEL.nodes), 17, ()),
        graph=MODEL,
        releases=tuple(
            Release(f"1.{number}", reason="no_wheel")
            if one is None
            else Release(f"1.{number}", different.index(one))
            for number, one in enumerate(graphs)
        ),
        made=tuple(map(Made, different)),
    )


def told(found: Sequence[Change]) -> list[tuple[str, str, dict[str, int], dict[str, int], bool]]:
    return [(one.older, one.newer, dict(one.lost), dict(one.won), one.lasts) for one in found]


def test_the_same_graph_is_no_change() -> None:
    assert changes(history(FUSED, FUSED, FUSED)) == ()


def test_a_fusion_is_lost_and_stays_lost() -> None:
    (change,) = found = changes(history(FUSED, PLAIN, PLAIN))
    assert told(found) == [("1.0", "1.1", {"Gelu": 1}, {}, True)]
    assert change.nodes == (3, 5)
    assert change.types == {"Gelu": (1, 0), "Erf": (0, 1), "Exp": (0, 1), "Sqrt": (0, 1)}
    (group,) = change.groups
    assert group.what == "lost"
    assert [one.name for one in group.group.original] == ["Erf_b", "Sqrt_c", "Exp_d"]


def test_what_comes_back_does_not_last() -> None:
    assert told(changes(history(FUSED, PLAIN, FUSED))) == [
        ("1.0", "1.1", {"Gelu": 1}, {}, False),
        ("1.1", "1.2", {}, {"Gelu": 1}, True),
    ]


def test_another_fusion_in_its_place_does_not_bring_it_back() -> None:
    assert told(changes(history(FUSED, PLAIN, HALF))) == [
        ("1.0", "1.1", {"Gelu": 1}, {}, True),
        ("1.1", "1.2", {}, {"Half": 1}, True),
    ]


def test_a_fusion_for_another_one_that_covers_less_is_lost() -> None:
    (change,) = changes(history(FUSED, HALF))
    assert (dict(change.lost), dict(change.won)) == ({"Gelu": 1}, {"Half": 1})
    assert [group.what for group in change.groups] == ["lost"]


def test_one_fusion_for_another_one_of_the_same_operators_is_a_change() -> None:
    quick = graph(("Relu", "x", "a"), ("QuickGelu", "a", "d"), ("Pool", "d", "y"))
    (change,) = changes(history(FUSED, quick))
    assert [group.what for group in change.groups] == ["changed"]
    assert what_changed(change) == "Gelu 1 → 0, QuickGelu 0 → 1"
    assert not change.is_worse and change.lasts


def test_a_release_that_was_left_out_is_no_neighbour() -> None:
    assert told(changes(history(FUSED, None, PLAIN))) == [("1.0", "1.2", {"Gelu": 1}, {}, True)]


def test_the_blocked_layout_is_won_though_the_type_is_the_same() -> None:
    (change,) = found = changes(history(FUSED, BLOCKED))
    assert told(found) == [("1.0", "1.1", {}, {"Pool": 1}, True)]
    assert change_lines(change) == ["In the blocked layout (NCHWc) now: Pool."]
    assert change_sentence(change, "1.1") == (
        "1.0 → 1.1: There are 3 operators in both: as many of each type, 1 group in other kernels. "
        "New fused operators: Pool."
    )
    (back,) = changes(history(BLOCKED, FUSED))
    assert change_lines(back) == ["No longer in the blocked layout (NCHWc): Pool."]


def test_a_group_that_runs_as_more_operators_without_a_fusion_is_split() -> None:
    more = graph(
        ("Relu", "x", "r"), ("Relu", "r", "a"), *(
            (node.op_type, node.inputs[0], node.outputs[0]) for node in MODEL.nodes[1:])
    )  # fmt: skip
    (change,) = changes(history(PLAIN, more))
    assert [group.what for group in change.groups] == ["split"]
    assert change_sentence(change, "1.1") == ("1.0 → 1.1: 5 operators became 6: Relu 1 → 2.")


def test_what_was_there_twice_and_is_there_once_is_joined() -> None:
    model = graph(
        ("Relu", "x", "a"), ("Erf", "a", "b"), ("Sqrt", "b", "d"), ("Exp", "d", "e"),
        ("Log", "e", "f"), ("Pool", "f", "y"),
    )  # fmt: skip
    once = graph(("Relu", "x", "a"), ("Gelu", "a", "f"), ("Pool", "f", "y"))
    twice = graph(("Relu", "x", "a"), ("Gelu", "a", "d"), ("Gelu", "d", "f"), ("Pool", "f", "y"))
    seen = msgspec.structs.replace(history(twice, once), graph=model)
    (change,) = changes(seen)
    assert [group.what for group in change.groups] == ["joined"]
    assert not change.lost and not change.is_worse
    assert what_changed(change) == "Gelu 2 → 1"
    (back,) = changes(msgspec.structs.replace(history(once, twice), graph=model))
    assert [group.what for group in back.groups] == ["split"]
    assert not back.won and back.is_worse


def test_sentences() -> None:
    seen = history(FUSED, None, PLAIN, PLAIN)
    found = changes(seen)
    assert history_sentence(seen, found) == (
        "1 of 3 releases from 1.0 to 1.3 changes the operators that run."
    )
    assert change_sentence(found[0], "1.3") == (
        "1.0 → 1.2: 3 operators became 5: Gelu 1 → 0, Erf 0 → 1, Exp 0 → 1, Sqrt 0 → 1. "
        "Fused operators that are gone: Gelu. It lasts up to 1.3."
    )
    assert change_lines(found[0]) == [
        "Gelu became Erf + Sqrt + Exp in 1 group: Erf_b.",
    ]
    assert skipped_text(seen.releases[1]) == "there is no wheel for this Python and machine"
    same = history(FUSED, FUSED)
    assert history_sentence(same, ()) == (
        "All 2 releases from 1.0 to 1.1 run this model with the same operators."
    )


def test_json_has_the_documented_keys() -> None:
    import json

    seen = history(FUSED, None, PLAIN)
    values = json.loads(releases_json(seen, changes(seen)))
    assert values == {
        "schema_version": 1,
        "engine": "onnxruntime",
        "model": "net",
        "releases": [
            {"version": "1.0", "nodes": 3, "skipped": None},
            {
                "version": "1.1",
                "nodes": None,
                "skipped": "there is no wheel for this Python and machine",
            },
            {"version": "1.2", "nodes": 5, "skipped": None},
        ],
        "changes": [
            {
                "from": "1.0",
                "to": "1.2",
                "lost": [{"op_type": "Gelu", "count": 1}],
                "won": [],
                "nodes_before": 3,
                "nodes_after": 5,
                "op_types": [
                    {"op_type": "Gelu", "before": 1, "after": 0},
                    {"op_type": "Erf", "before": 0, "after": 1},
                    {"op_type": "Exp", "before": 0, "after": 1},
                    {"op_type": "Sqrt", "before": 0, "after": 1},
                ],
                "lasts": True,
            }
        ],
    }


@pytest.mark.parametrize("made", list(itertools.permutations((FUSED, PLAIN, HALF, BLOCKED), 2)))
def test_the_counts_by_type_add_up_to_the_operators(made: tuple[Graph, Graph]) -> None:
    (change,) = changes(history(*made))
    before, after = change.nodes
    assert sum(new - old for old, new in change.types.values()) == after - before


def test_what_only_moves_data_beside_the_groups_is_counted_apart() -> None:
    """A Reshape before Pool: it stands for no operator of the model."""
    moved = graph(("Relu", "x", "a"), ("Gelu", "a", "d"), ("Reshape", "d", "r"), ("Pool", "r", "y"))
    (change,) = changes(history(FUSED, moved))
    assert what_changed(change) == "Reshape 0 → 1"
    assert change_lines(change) == ["Operators that only move data, in no group: Reshape 0 → 1."]


@pytest.mark.parametrize("order", [(FUSED, PLAIN), (PLAIN, FUSED), (FUSED, BLOCKED)])
def test_a_change_read_backwards_is_the_opposite(order: tuple[Graph, Graph]) -> None:
    (there,), (back,) = changes(history(*order)), changes(history(*order[::-1]))
    assert (there.lost, there.won) == (back.won, back.lost)
    assert there.nodes == back.nodes[::-1]
