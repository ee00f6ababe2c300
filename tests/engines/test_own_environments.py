"""Environments of the user's own, for real: every one of torch and jax that is listed by
`fusescope runtimes`, each alone and each two of one engine together."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import cast

import pytest

from fusescope.analysis import readers
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.experiment import Experiment
from fusescope.collectors.environments import named
from fusescope.collectors.environments.catalogue import kind_of
from fusescope.collectors.record import Recording, first_of_several, first_variants, record
from tests.accounts import check_ledger, verified_lineage

FOUND = [
    one.runtime
    for one in named.listed()
    if one.problem is None and kind_of(one.runtime) in ("torch", "jax")
]
PAIRS = [pair for pair in itertools.pairwise(FOUND) if len({*map(kind_of, pair)}) == 1]
if not FOUND:
    pytest.skip("none is listed: fusescope runtimes use torch --python …", allow_module_level=True)


def recorded(folder: Path, model: str, **changes: object) -> Experiment:
    recording = Recording(
        **{
            "model": model,
            "out": folder / "out.zip",
            "threads": 1,
            "blocks": 2,
            "rounds": 3,
            "run_timeout": 900,
            **changes,
        }  # type: ignore[arg-type]
    )
    return cast(Experiment, readers.read_path(record(recording, on_progress=lambda step: None)))


@pytest.mark.parametrize("runtime", FOUND)
def test_operators_are_in_verified_groups(tmp_path: Path, runtime: str) -> None:
    """Or the settings say what is missing."""
    experiment = recorded(
        tmp_path,
        f"{kind_of(runtime)}:mlp",
        runtime=runtime,
        variants=first_variants("", kind_of(runtime)),
    )
    assert experiment.record.engine.name == kind_of(runtime)
    assert experiment.record.engine.version == named.ready(runtime).version
    for variant in experiment.record.variants:
        if variant.graph is None:
            assert variant.settings["graph_missing"]
        else:
            verified_lineage(experiment, variant.name)
    check_ledger(compare(*choose_sides(experiment)))


@pytest.mark.parametrize("pair", PAIRS, ids=",".join)
def test_two_take_turns_and_groups_go_across(tmp_path: Path, pair: tuple[str, str]) -> None:
    experiment = recorded(
        tmp_path, f"{kind_of(pair[0])}:mlp", runtimes=pair, variants=first_of_several(pair)
    )
    assert experiment.record.names == tuple(f"{one}:fused" for one in pair)
    comparison = compare(*choose_sides(experiment))
    assert comparison.baseline.environment == pair[0]
    assert comparison.candidate.environment == pair[1]
    assert comparison.verdict.pairing == "blocks"
    check_ledger(comparison)
    difference = experiment.record.variants[1].output_difference
    assert difference is not None and (difference.relative or 0.0) < 1e-3
    if all(variant.graph for variant in experiment.record.variants):
        assert comparison.fusion.source == "graphs"
        assert comparison.fusion.mapped_nodes == comparison.fusion.original_nodes
