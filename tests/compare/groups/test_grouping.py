"""Graphs that cannot be grouped: each is named, in words fit to be shown, and the rest works."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Side, side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic
from fusescope.analysis.wording import diagnostic_sentence
from fusescope.analysis.wording.fusion.groups import coverage_sentence
from tests.factories import experiment_zip

ODD = "\x1b[31m\u202e"
SHOWN = "\\x1b[31m"


@pytest.fixture(scope="module")
def recorded() -> Experiment:
    experiment = read(Source("e.zip", experiment_zip({"unfused": [9.0] * 6, "fused": [5.0] * 6})))
    assert isinstance(experiment, Experiment)
    return experiment


def compared(recorded: Experiment, candidate: Graph | None) -> Comparison:
    """unfused against fused, whose graph is that one."""
    graphs = {**recorded.graphs, "fused": candidate}
    known = {name: graph for name, graph in graphs.items() if graph is not None}
    experiment = replace(recorded, graphs=known)
    return compare(side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused"))


def note_of(comparison: Comparison, code: str) -> Diagnostic:
    [note] = [note for note in comparison.diagnostics if note.code == code]
    assert comparison.verdict.outcome == "faster"
    return note


def nodes(graph: Graph, *more: Node) -> Graph:
    return structs.replace(graph, nodes=(*graph.nodes, *more))


def test_a_cycle_is_named_and_the_traces_are_compared(recorded: Experiment) -> None:
    fused = recorded.graphs["fused"]
    loop = (Node(f"loop{ODD}", "Add", ("l1",), ("l2",)), Node("back", "Neg", ("l2",), ("l1",)))
    found = compared(recorded, nodes(fused, *loop))
    sentence = diagnostic_sentence(note_of(found, "graph_unusable"))
    assert f"cycle through 'loop{SHOWN}'" in sentence and sentence.isprintable()
    assert found.fusion.source == "inferred" and len(found.ledger.rows)


def test_a_missing_graph_is_named(recorded: Experiment) -> None:
    found = compared(recorded, None)
    assert note_of(found, "graph_missing").values["side"] == "candidate"
    assert found.fusion.source == "inferred"


def test_why_the_engine_showed_no_graph_is_said(recorded: Experiment) -> None:
    first, second = recorded.record.variants
    untold = structs.replace(second, settings={**second.settings, "graph_missing": f"two{ODD}"})
    record = structs.replace(recorded.record, variants=[first, untold])
    found = compared(replace(recorded, record=record), None)
    assert diagnostic_sentence(note_of(found, "graph_not_shown")) == (
        f"Candidate: The engine did not show its graph: two{SHOWN}. "
        "Fusion groups could not be read from graphs."
    )
    none = replace(found, fusion=replace(found.fusion, groups=()))
    assert coverage_sentence(none) == (
        f"No groups are known, as the engine did not show its graph: two{SHOWN}. No operators of "
        "the two sides agree in type, shapes and count."
    )


def test_a_graph_of_another_model_is_named(recorded: Experiment) -> None:
    other = structs.replace(recorded.graphs["fused"], outputs=("elsewhere",))
    found = compared(recorded, other)
    assert note_of(found, "graph_foreign").values["side"] == "candidate"
    assert found.fusion.source == "inferred"


def test_two_nodes_of_one_name_are_named(recorded: Experiment) -> None:
    fused = recorded.graphs["fused"]
    again = Node(fused.nodes[0].name, "Neg", ("t0",), ("extra",))
    found = compared(recorded, nodes(fused, again))
    assert note_of(found, "graph_ambiguous").values["side"] == "candidate"


def test_a_tensor_that_two_nodes_write_is_named(recorded: Experiment) -> None:
    fused = recorded.graphs["fused"]
    again = Node("again", "Neg", ("t0",), fused.nodes[0].outputs)
    found = compared(recorded, nodes(fused, again))
    assert note_of(found, "graph_ambiguous").values["side"] == "candidate"


def test_experiments_of_two_models_have_no_groups_from_graphs(recorded: Experiment) -> None:
    facts = structs.replace(recorded.record.model, sha256="cd" * 32)
    other = replace(recorded, record=structs.replace(recorded.record, model=facts), sha256="0")
    found = compare(side_of_variant(recorded, "unfused"), side_of_variant(other, "fused"))
    assert "graphs_of_two_models" in {note.code for note in found.diagnostics}
    assert found.fusion.source == "inferred"


def test_operators_without_an_original_are_named(recorded: Experiment) -> None:
    fused = recorded.graphs["fused"]
    found = compared(recorded, nodes(fused, Node(f"own{ODD}", "Foo", ("t0",), ("dead",))))
    sentence = diagnostic_sentence(note_of(found, "unexplained_operators"))
    assert sentence.endswith(f"First: own{SHOWN}") and sentence.isprintable()
    assert found.fusion.source == "graphs"


def test_patterns_of_graphs_are_fit_to_be_shown(recorded: Experiment) -> None:
    def odd(graph: Graph) -> Graph:
        first = structs.replace(graph.nodes[0], op_type=f"Conv{ODD}")
        return structs.replace(graph, nodes=(first, *graph.nodes[1:]))

    graphs = {name: odd(graph) for name, graph in recorded.graphs.items()}
    assert recorded.model_graph is not None
    experiment = replace(recorded, graphs=graphs, model_graph=odd(recorded.model_graph))
    sides: list[Side] = [side_of_variant(experiment, name) for name in ("unfused", "fused")]
    rows = compare(*sides).ledger.rows
    assert any(SHOWN in text for text in rows["pattern"])
    assert all(text.isprintable() for name in ("pattern", "becomes") for text in rows[name])
