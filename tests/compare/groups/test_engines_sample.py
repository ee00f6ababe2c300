"""A real recording of four engines: groups through the tensors of one ONNX model, and ledgers that
add up, whichever two are compared."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from fusescope.analysis import readers
from fusescope.analysis.compare import Comparison, compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.timing.verdict import decided
from fusescope.analysis.experiment import Experiment
from tests.accounts import check_ledger, verified_lineage

SAMPLE = Path(__file__).parents[3] / "sample_traces" / "engines" / "transformer_encoder.zip"
ENGINES = ("onnxruntime", "openvino", "torch", "jax")
PAIRS = [pair for pair in permutations(ENGINES, 2) if pair[0] == "onnxruntime" or "torch" in pair]


@cache
def sample() -> Experiment:
    return cast(Experiment, readers.read_path(SAMPLE))


@cache
def pair(one: str, other: str) -> Comparison:
    sides = choose_sides(sample(), baseline=f"{one}:fused", candidate=f"{other}:fused")
    return compare(*sides)


def test_each_engine_ran_in_every_block_on_its_own() -> None:
    record = sample().record
    assert record.names == tuple(f"{name}:fused" for name in ENGINES)
    assert [engine.name for engine in record.engines] == [*ENGINES]
    blocks = set(range(6))
    for variant in record.variants:
        assert set(variant.samples.block) == {one.block for one in variant.profiles} == blocks
        assert set(variant.samples.copy) == ({1, 2} if variant.engine is None else {1})
        assert variant.settings["peak_memory_from"] == "VmHWM"
    assert decided(record) in (True, False)  # names with an engine in front are understood


def test_all_compute_the_same() -> None:
    for variant in sample().record.variants[1:]:
        difference = variant.output_difference
        assert difference is not None and difference.relative is not None
        assert 0 < difference.relative < 1e-5


@pytest.mark.parametrize("engine", ENGINES)
def test_every_operator_of_the_model_is_in_one_verified_group(engine: str) -> None:
    model = sample().model_graph
    assert model is not None and len(model.nodes) == 98
    found = verified_lineage(sample(), f"{engine}:fused")
    assert {group.known_by for group in found.groups} <= {"name", "value"}
    assert len(found.groups) >= 20


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_any_two_have_groups_with_each_other(one: str, other: str) -> None:
    fusion = pair(one, other).fusion
    assert (fusion.source, fusion.boundary_mismatches) == ("graphs", 0)
    assert fusion.mapped_nodes == fusion.original_nodes == 98
    assert fusion.largest < 60 and len(fusion.groups) >= 5
    check_ledger(pair(one, other))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_own_groups_inside_a_joined_one_have_its_time(one: str, other: str) -> None:
    found = pair(one, other)
    assert found.fusion.joined
    rows, parts = found.ledger.rows, found.ledger.parts
    for group in found.fusion.joined:
        row, own = rows[rows["group"] == group.id], parts[parts["group"] == group.id]
        for side, times in (("baseline", "before_ns"), ("candidate", "after_ns")):
            summed = own.loc[own["side"] == side, "per_run_ns"].sum()
            assert np.isclose(summed, row[times].sum(), rtol=1e-12)
        shared = Counter(one.name for of in group.side_by_side for one in of.original)
        assert shared == Counter(one.name for one in group.original)
        assert max(len(part.original) for side in group.parts for part in side) <= 13


def test_what_a_fusion_reads_of_another_before_its_result_joins_the_two() -> None:
    """XLA computes the end of a LayerNorm once more in the sum behind it, from what is inside: no
    tensor lies between them where the time of one could end (docs/engines.md)."""
    graph = sample().graphs["jax:fused"]
    result, behind = (graph.node[f"add_{name}_fusion.2"] for name in ("bitcast", "add"))
    assert not {*result.outputs} & {*behind.inputs}
    assert "%add_rsqrt_fusion.3" in {*result.inputs} & {*behind.inputs}
    group = max(pair("onnxruntime", "jax").fusion.joined, key=lambda group: len(group.original))
    assert len(group.original) == 50
    [part] = [p for p in group.parts[1] if behind.name in {one.name for one in p.operators}]
    assert result.name in {one.name for one in part.operators} and len(part.original) == 11
