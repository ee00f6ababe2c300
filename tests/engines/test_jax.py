"""Recordings of jax, for real: needs the engine (fusescope runtimes add jax) and a minute."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from analysis import readers
from analysis.compare import compare
from analysis.compare.side import side_of_variant
from analysis.errors import FuseScopeError
from analysis.experiment import Experiment
from collectors.environments import state
from collectors.environments.catalogue import ENGINES
from collectors.jax.names import BUILT_IN
from collectors.record import Recording, record

if state.state_of(ENGINES["jax"]).kind != "ready":
    pytest.skip("jax is not there: fusescope runtimes add jax", allow_module_level=True)

VARIANTS = ("eager", "unfused", "fused")


def recorded(folder: Path, model: str, variants: tuple[str, ...] = VARIANTS) -> Experiment:
    recording = Recording(
        model=model,
        runtime="jax",
        variants=variants,
        out=folder / "out.zip",
        threads=1,
        blocks=2,
        rounds=3,
        run_timeout=600,
    )
    path = record(recording, on_progress=lambda step: None)
    return cast(Experiment, readers.read_path(path))


@pytest.fixture(scope="module", params=sorted(BUILT_IN))
def experiment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Experiment:
    return recorded(tmp_path_factory.mktemp(request.param), f"jax:{request.param}")


def test_every_operator_is_in_one_group_or_was_put_in(experiment: Experiment) -> None:
    sides = [side_of_variant(experiment, name) for name in ("unfused", "fused")]
    fusion = compare(*sides).fusion
    assert fusion.source == "members"
    assert fusion.mapped_nodes == fusion.original_nodes > 0
    for number, side in enumerate(sides):
        grouped = [op.name for g in fusion.groups for op in (g.baseline, g.candidate)[number]]
        assert len(grouped) == len(set(grouped))
        assert {*grouped, *(op.name for op in fusion.inserted[number])} == set(
            side.trace.texts("name")
        )


def test_outputs_are_the_same_and_the_graph_is_the_model(experiment: Experiment) -> None:
    for variant in experiment.record.variants:
        difference = variant.output_difference
        if difference is not None:
            assert difference.relative is not None and difference.relative < 1e-5, variant.name
    model = experiment.model_graph
    assert model is not None and len(model.outputs) == 1
    assert set(model.outputs) <= set(model.producer)


def test_runs_are_marked_and_the_ledger_adds_up(experiment: Experiment) -> None:
    for trace in experiment.traces.values():
        profiled = trace.profiled_runs
        assert set(profiled["block"]) == {0, 1}
        assert trace.calls["run"].notna().all()
    first = side_of_variant(experiment, "unfused")
    for name in ("eager", "fused"):
        total = compare(first, side_of_variant(experiment, name)).ledger.reconciliation
        terms = (
            total.groups_ns, total.ungrouped_ns, total.communication_ns, total.slow_ns,
            total.overlap_ns, total.dispatch_ns, total.profiler_bias_ns, total.rounding_ns,
        )  # fmt: skip
        assert total.delta_ns == sum(term or 0 for term in terms)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def make():\n    return 1\n", "does not return a model"),
        ("def other():\n    pass\n", "has no function make"),
        ("import nothing_of_that_name\n", "nothing_of_that_name"),
        ("def make():\n    raise ValueError('no weights')\n", "ValueError: no weights"),
    ],
)
def test_a_file_without_a_model_is_one_sentence(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "net.py").write_text(text)
    with pytest.raises(FuseScopeError) as told:
        recorded(tmp_path, f"{tmp_path}/net.py:make", ("eager",))
    assert expected in told.value.text and "\n" not in told.value.text
    assert not list(tmp_path.glob("*.zip*"))
