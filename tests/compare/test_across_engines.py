"""Variants of two engines against each other: nothing of another engine's is put down to fusion."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pandas as pd
import pytest

from fusescope.analysis.advice import Subject
from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.kinds.slower import fused_slower
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.ledger import Ledger
from fusescope.analysis.compare.ledger.modules import MAX_MODULES, modules
from fusescope.analysis.compare.ledger.reconciliation import Reconciliation
from fusescope.analysis.compare.side import engines_differ, side_of_variant
from fusescope.analysis.experiment import Engine, Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.wording import change_title, fusion_sentence
from fusescope.analysis.wording.diagnostics import diagnostic_sentence
from fusescope.analysis.wording.findings import remedy_text
from tests.engine_experiments import SAMPLES, two_engines


def opened(name: str, data: bytes) -> Experiment:
    value = read(Source(name, data))
    assert isinstance(value, Experiment)
    return value


@pytest.fixture(scope="module")
def engines() -> Comparison:
    return compare(*choose_sides(opened("engines.zip", two_engines())))


@pytest.fixture(scope="module")
def apart() -> Comparison:
    """The same variants, each of a recording of its own."""
    first, second = (
        side_of_variant(opened(name, (SAMPLES / name).read_bytes()), "fused")
        for name in ("mobilenetv2.zip", "openvino/mobilenetv2.zip")
    )
    return compare(first, second)


def codes(comparison: Comparison) -> set[str]:
    return {note.code for note in comparison.diagnostics}


def test_the_usual_pair_of_a_recording_is_the_baseline_and_another_engine(
    engines: Comparison,
) -> None:
    assert (engines.baseline.label, engines.candidate.label) == (
        "onnxruntime:fused",
        "openvino:fused",
    )
    assert engines.candidate.own_name == "fused"
    assert engines.verdict.pairing == "blocks"


def test_the_change_is_of_the_engines_not_of_fusion(engines: Comparison) -> None:
    assert change_title(engines) == "Where the change came from: engine (onnxruntime → openvino)"
    assert "Other operators run in their place." in fusion_sentence(engines)
    assert "fusion" not in fusion_sentence(engines).casefold()
    assert {"engines_differ", "engine_profiles_differ"} <= codes(engines)
    assert "recordings_differ" not in codes(engines)


def test_each_engine_of_a_block_has_a_process(engines: Comparison) -> None:
    assert "paired_engines" in codes(engines)
    assert "paired" not in codes(engines)


def test_what_the_other_engine_does_faster_is_no_optimisation_to_leave_out(
    engines: Comparison,
) -> None:
    turned = compare(engines.given[1], engines.given[0])
    assert fused_slower(Subject(turned.candidate, turned)) == "engines_differ"


def test_two_variants_of_one_engine_have_no_such_doubt() -> None:
    sample = opened("a.zip", (SAMPLES / "mobilenetv2.zip").read_bytes())
    one = compare(*choose_sides(sample))
    assert not engines_differ(one.baseline, one.candidate)
    assert change_title(one) == "What fusion bought"
    assert not {"engines_differ", "engine_profiles_differ"} & codes(one)


def test_groups_rest_on_the_model_that_both_ran(engines: Comparison) -> None:
    """152 operators of MobileNetV2; each of its 52 convolutions is in a group of its own."""
    fusion = engines.fusion
    assert (fusion.source, fusion.mapped_nodes, fusion.original_nodes) == ("graphs", 152, 152)
    convolutions = [
        group for group in fusion.groups if any(op.op_type == "Conv" for op in group.original)
    ]
    assert len(convolutions) == 52
    assert all(group.known_by in ("name", "value") for group in fusion.groups)


def test_classes_join_where_op_types_do_not(engines: Comparison) -> None:
    types = engines.op_types.set_index("op_type")["side"]
    assert (types["Conv"], types["Convolution"]) == ("baseline", "candidate")
    classes = engines.op_classes.set_index("op_class")
    assert classes.loc["convolution", "side"] == "both"
    assert classes.loc["convolution", ["count_baseline", "count_candidate"]].tolist() == [52, 52]


def test_two_recordings_of_two_engines_are_named_by_them(apart: Comparison) -> None:
    assert (apart.baseline.name, apart.candidate.name) == ("onnxruntime:fused", "openvino:fused")
    assert apart.verdict.pairing == "unpaired_blocks"
    assert {"engines_differ", "unpaired"} <= codes(apart)
    told = [note.values["what"] for note in apart.diagnostics if note.code == "recordings_differ"]
    assert "engine" not in told
    assert apart.fusion.source == "graphs"


def test_another_version_is_the_same_engine(apart: Comparison) -> None:
    side = apart.given[0]
    assert side.experiment is not None
    record = side.experiment.record
    newer = msgspec.structs.replace(
        record, engine=msgspec.structs.replace(record.engine, version="9.9")
    )
    other = replace(side, experiment=replace(side.experiment, record=newer, sha256="other"))
    comparison = compare(side, other)
    assert "engines_differ" not in codes(comparison)
    assert "engine" in [
        note.values["what"] for note in comparison.diagnostics if note.code == "recordings_differ"
    ]


def test_an_engine_that_runs_no_onnx_ran_a_translation(engines: Comparison) -> None:
    """MobileNetV2 is an ONNX file, of which torch and JAX run what FuseScope makes."""
    side = engines.given[1]
    assert side.experiment is not None and "translated" not in codes(engines)
    record = side.experiment.record
    variants = [
        msgspec.structs.replace(one, engine=Engine("jax", "1", "CPU"))
        if one.name == side.label
        else one
        for one in record.variants
    ]
    other = replace(
        side,
        experiment=replace(
            side.experiment, record=msgspec.structs.replace(record, variants=variants)
        ),
    )
    assert "translated" in codes(compare(engines.given[0], other))


def ledger_of(rows: list[tuple[str, float, float]]) -> Ledger:
    table = pd.DataFrame(rows, columns=["scope", "before_ns", "after_ns"])
    table["group"] = range(1, len(table) + 1)
    table["gain_ns"] = table["before_ns"] - table["after_ns"]
    empty = pd.DataFrame()
    return Ledger(table, empty, empty, Reconciliation("unprofiled_wall"), None, 0)


def test_modules_add_up_at_the_deepest_level_that_can_be_read() -> None:
    """Three modules with two parts each; one group spans two of them, and is in the one above."""
    rows = [("a/x", 10.0, 4.0), ("a/y", 5.0, 6.0), ("b/x", 3.0, 3.0), ("a", 2.0, 1.0)]
    table = modules(ledger_of([*rows, ("", 7.0, 7.0)]))
    assert table[["module", "groups", "before_ns", "after_ns", "gain_ns"]].values.tolist() == [
        ["a/x", 1, 10.0, 4.0, 6.0],
        ["a/y", 1, 5.0, 6.0, -1.0],
        ["a", 1, 2.0, 1.0, 1.0],
        ["b/x", 1, 3.0, 3.0, 0.0],
        ["", 1, 7.0, 7.0, 0.0],
    ]


def test_many_modules_are_told_by_what_holds_them() -> None:
    rows = [(f"{part}/{n}", 2.0, 1.0) for part in "ab" for n in range(MAX_MODULES)]
    table = modules(ledger_of(rows))
    assert table["module"].tolist() == ["a", "b"]
    assert table["groups"].tolist() == [MAX_MODULES] * 2
    assert table["gain_ns"].tolist() == [float(MAX_MODULES)] * 2


def test_one_module_is_no_table() -> None:
    assert modules(ledger_of([("a", 2.0, 1.0), ("a", 4.0, 1.0)])).empty
    assert modules(ledger_of([("", 2.0, 1.0)])).empty


def test_modules_of_a_comparison_add_up_to_its_groups(engines: Comparison) -> None:
    table = modules(engines.ledger)
    assert 2 <= len(table) <= MAX_MODULES
    assert table["gain_ns"].sum() == pytest.approx(engines.ledger.rows["gain_ns"].sum())
    assert table["groups"].sum() == len(engines.fusion.groups)


def test_a_pair_says_what_its_memory_leaves_out(engines: Comparison) -> None:
    told = {note.code: diagnostic_sentence(note) for note in engines.diagnostics}
    assert "leaves out the engine's own code" in told["paired_engines"]
    assert "0 ns took less than 1 µs" in told["layer_means"]


def test_advice_is_possible_in_the_engine_that_it_names() -> None:
    """A thread of one's own pool, and a layout optimisation to leave out, are ONNX Runtime's."""
    experiment = opened("e.zip", (SAMPLES / "engines" / "transformer_encoder.zip").read_bytes())
    for name in ("onnxruntime:fused", "openvino:fused", "torch:fused", "jax:fused"):
        subject = Subject(side_of_variant(experiment, name))
        engine = "" if name == "onnxruntime:fused" else name.partition(":")[0]
        assert subject.other_engine == engine
        values = {"engine": engine} if engine else {}
        threads = remedy_text(Finding("idle_threads", values=values))
        layouts = remedy_text(Finding("reorders", values=values))
        assert ("kernel of your own" in threads) == (not engine)
        assert ("engine's layout optimisation" in layouts) == (not engine)
        assert ("throughput" in threads) == (engine == "openvino")
