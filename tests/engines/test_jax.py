"""Recordings of jax, for real: needs the engine (fusescope runtimes add jax) and a minute."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import cast

import pytest

from fusescope.analysis import readers
from fusescope.analysis.compare import Comparison, compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.operators import flops
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import ENGINES
from fusescope.collectors.jax.names import BUILT_IN
from fusescope.collectors.record import Recording, record
from fusescope.collectors.workers.placement import AS_IT_IS, Placement
from tests.accounts import check_ledger, verified_lineage

if state.state_of(ENGINES["jax"]).kind != "ready":
    pytest.skip("jax is not there: fusescope runtimes add jax", allow_module_level=True)

VARIANTS = ("eager", "unfused", "fused")


def recorded(
    folder: Path,
    model: str,
    variants: tuple[str, ...] = VARIANTS,
    placement: Placement = AS_IT_IS,
) -> Experiment:
    recording = Recording(
        model=model,
        runtime="jax",
        variants=variants,
        out=folder / "out.zip",
        threads=1,
        blocks=2,
        rounds=3,
        run_timeout=600,
        placement=placement,
    )
    path = record(recording, on_progress=lambda step: None)
    return cast(Experiment, readers.read_path(path))


@pytest.fixture(scope="module", params=sorted(BUILT_IN))
def experiment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Experiment:
    return recorded(tmp_path_factory.mktemp(request.param), f"jax:{request.param}")


def pairs(experiment: Experiment) -> list[Comparison]:
    names = experiment.record.names
    chosen = [(a, b) for a, b in itertools.combinations(VARIANTS, 2) if {a, b} <= {*names}]
    return [compare(*(side_of_variant(experiment, name) for name in pair)) for pair in chosen]


def test_every_operator_is_in_one_verified_group(experiment: Experiment) -> None:
    assert set(experiment.graphs) == set(experiment.record.names)
    for name in experiment.graphs:
        verified_lineage(experiment, name)


def test_groups_of_all_pairs_are_of_the_graphs(experiment: Experiment) -> None:
    for comparison in pairs(experiment):
        fusion = comparison.fusion
        assert (fusion.source, fusion.boundary_mismatches) == ("graphs", 0)
        assert fusion.mapped_nodes == fusion.original_nodes > 0
        assert not fusion.diagnostics


def test_calls_are_joined_to_the_graph(experiment: Experiment) -> None:
    for name, trace in experiment.traces.items():
        assert "calls_not_of_graph" not in {note.code for note in trace.diagnostics}, name
        nodes = experiment.graphs[name].nodes
        ran = {node.name for node in nodes if "view" not in node.attributes}
        assert ran - set(trace.texts("name")) == set(), name


def test_all_variants_do_the_work_of_the_model(experiment: Experiment) -> None:
    model = experiment.model_graph
    assert model is not None
    expected = sum(flops.from_graph(node, model) or 0 for node in model.nodes)
    for name, trace in experiment.traces.items():
        assert trace.operators["flops"].sum() == expected > 0, name


def test_outputs_are_the_same(experiment: Experiment) -> None:
    for variant in experiment.record.variants:
        difference = variant.output_difference
        if difference is not None:
            assert difference.relative is not None and difference.relative < 1e-5, variant.name


def test_runs_are_marked_and_the_ledger_adds_up(experiment: Experiment) -> None:
    for trace in experiment.traces.values():
        profiled = trace.profiled_runs
        assert set(profiled["block"]) == {0, 1}
        assert trace.calls["run"].notna().all()
    for comparison in pairs(experiment):
        check_ledger(comparison)


# Loops and branches, random numbers, calls of LAPACK, a sort by comparisons, half precision, an
# array that the function holds, inputs that are returned or not used, one result twice.
HARD = """
import jax, jax.numpy as jnp, numpy as np
from jax import lax

drawn = np.random.default_rng(0)
def A(*shape): return jnp.asarray(drawn.normal(size=shape).astype("f4"))
TABLE = A(16, 16)

def make():
    def model(x, unused, key, ids):
        def step(h, row):
            h = jnp.tanh(row @ TABLE + h)
            return h, h * 2
        h, rows = lax.scan(step, x, jnp.stack([x, x + 1, x * 2]))
        count, y = lax.while_loop(
            lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 1.1 + h), (0, rows.sum(0))
        )
        y = lax.cond(y.sum() > 0, lambda a: jnp.sin(a) * 2, lambda a: a - 1, y)
        keep = jax.random.bernoulli(key, 0.9, y.shape)
        y = jnp.where(keep, y / 0.9, 0) + TABLE[ids]
        c = jnp.linalg.cholesky(y @ y.T + 10 * jnp.eye(16))
        half = jax.nn.silu(c.astype(jnp.bfloat16) @ x.astype(jnp.bfloat16))
        return {"a": jnp.sort(half.astype(jnp.float32), axis=0), "x": x, "c": [c, c]}
    ids = jnp.asarray(drawn.integers(0, 16, 16))
    return model, (A(16, 16), A(3, 3), jax.random.PRNGKey(0), ids)
"""


def test_what_is_hard_to_follow_is_followed(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(HARD)
    experiment = recorded(tmp_path, f"{tmp_path}/net.py:make")
    for variant in experiment.record.variants:
        assert "instructions_without_values" not in variant.settings, variant
        assert "graph_missing" not in variant.settings, variant
    test_every_operator_is_in_one_verified_group(experiment)
    test_runs_are_marked_and_the_ledger_adds_up(experiment)
    model = experiment.model_graph
    assert model is not None
    kinds = {node.op_type for node in model.nodes}
    assert {"scan", "while", "cond", "sort", "cholesky"} <= kinds


MASKED = """
import jax, jax.numpy as jnp, numpy as np

drawn = np.random.default_rng(0)
def A(*shape): return jnp.asarray(drawn.normal(size=shape).astype("f4"))

def make():
    def layer(x, w):
        mask = jnp.tril(jnp.ones((64, 64), bool))
        scores = jnp.where(mask, (x @ w) @ x.T / 8, -1e9)
        return jnp.tanh(jax.nn.softmax(scores) @ x)
    def model(x, w, row):
        x = x + jnp.sin(jnp.arange(64)[:, None] / 10000 ** (jnp.arange(32) / 32))
        x = layer(layer(x, w), w) + row
        return x.sum(0), x.T * 2, jnp.cumsum(x, 1)
    return model, (A(64, 32), A(32, 32), A(32))
"""


def test_what_depends_on_no_input_is_with_what_computes_it(tmp_path: Path) -> None:
    """And what several fusions compute, each for itself, is counted."""
    (tmp_path / "net.py").write_text(MASKED)
    experiment = recorded(tmp_path, f"{tmp_path}/net.py:make")
    test_every_operator_is_in_one_verified_group(experiment)
    test_runs_are_marked_and_the_ledger_adds_up(experiment)
    computed = {"iota", "ge", "sin", "pow"}
    for comparison in pairs(experiment):
        kinds = {
            op.name: (group.kind, bool(group.baseline))
            for group in comparison.fusion.groups
            for op in group.original
            if op.op_type in computed
        }
        assert kinds and "folded" not in {kind for kind, _ in kinds.values()}
        assert all(ran for _, ran in kinds.values())
        masks = max(
            sum(op.op_type == "ge" for op in group.original) for group in comparison.fusion.groups
        )
        both = {comparison.baseline.label, comparison.candidate.label}
        assert masks == 1 or "unfused" in both  # which computes one mask for two layers
    assert experiment.record.variant("fused").settings["recomputed_operators"] >= 1


CALLBACK = """
import jax, jax.numpy as jnp, numpy as np

def make():
    def model(x, w):
        y = jnp.tanh(x @ w)
        z = jax.pure_callback(
            lambda a: np.asarray(a) * 2, jax.ShapeDtypeStruct(y.shape, y.dtype), y
        )
        return jax.nn.softmax(z) @ w
    drawn = np.random.default_rng(0)
    x, w = (drawn.normal(size=(16, 16)).astype("f4") for _ in range(2))
    return model, (jnp.asarray(x), jnp.asarray(w))
"""


def test_what_cannot_be_run_by_itself_is_counted(tmp_path: Path) -> None:
    """What follows is compared all the same."""
    (tmp_path / "net.py").write_text(CALLBACK)
    experiment = recorded(tmp_path, f"{tmp_path}/net.py:make", ("unfused", "fused"))
    for variant in experiment.record.variants:
        assert variant.settings["instructions_without_values"] == 1
        assert "graph_missing" not in variant.settings
    test_every_operator_is_in_one_verified_group(experiment)
    (comparison,) = pairs(experiment)
    assert len(comparison.fusion.groups) > 4


def test_lines_and_scopes_are_those_of_the_users_code(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import jax, jax.numpy as jnp\n"
        "@jax.jit\n"
        "def inner(x):\n"
        "    return jnp.sin(x)\n"
        "def model(x):\n"
        "    a = jax.nn.relu(x)\n"
        "    with jax.named_scope('head'):\n"
        "        b = jax.nn.relu(inner(a))\n"
        "    return b\n"
        "def make():\n"
        "    return model, jnp.ones((8, 8)),\n"
    )
    model = recorded(tmp_path, f"{tmp_path}/net.py:make", ("fused",)).model_graph
    assert model is not None
    assert [(node.op_type, node.attributes["source"], node.scope) for node in model.nodes] == [
        ("max", "net.py:6", "relu"), ("sin", "net.py:4", "head/inner"),
        ("max", "net.py:8", "head/relu"),
    ]  # fmt: skip


CHANGES = """
def change(p):
    p['n'] = p['n'] + 1
    return p['n']
def make():
    return change, ({'n': 1.0},)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def make():\n    return 1\n", "does not return a model"),
        ("def other():\n    pass\n", "has no function make"),
        ("import nothing_of_that_name\n", "nothing_of_that_name"),
        ("def make():\n    raise ValueError('no weights')\n", "ValueError: no weights"),
        ("def make():\n    return lambda x: 1 / 0, 2.0\n", "JAX cannot trace the model: ZeroDiv"),
        (
            "def make():\n    return lambda x: x if x > 0 else -x, 2.0\n",
            "JAX cannot trace the model: TracerBoolConversionError",
        ),
        (
            "def make():\n    return lambda x: x, ([1.0, 'text'],)\n",
            "The input input[0][1] of the model is of the type str, not an array",
        ),
        ("def make():\n    return lambda: 1, ()\n", "has no arrays as inputs"),
        (CHANGES, "changes a list or dictionary of its inputs"),
    ],
)
def test_a_file_without_a_model_is_one_sentence(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "net.py").write_text(text)
    with pytest.raises(FuseScopeError) as told:
        recorded(tmp_path, f"{tmp_path}/net.py:make", ("eager",))
    assert expected in told.value.text and "\n" not in told.value.text
    assert not list(tmp_path.glob("*.zip*"))


def test_in_bfloat16_every_operator_is_in_one_verified_group(tmp_path: Path) -> None:
    experiment = recorded(tmp_path, "jax:mlp", ("eager", "fused"), Placement("bfloat16"))
    for name in experiment.graphs:
        verified_lineage(experiment, name)
    for variant in experiment.record.variants:
        found = variant.dtype_difference
        assert variant.dtype == "bfloat16" and found is not None and found.relative is not None
        assert 1e-5 < found.relative < 0.05  # it is rounded, and no other model
    assert {one.dtype for one in experiment.record.model.inputs} == {"bfloat16"}
