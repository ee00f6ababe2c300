"""Kernels of our own: what they replace, what they compute, and what gets into their code."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba", reason="kernels need the extra 'kernels'")

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.operators import flops
from fusescope.analysis.operators.classes import op_class
from fusescope.collectors import kernels
from fusescope.collectors.derive import segments
from fusescope.collectors.derive.replacement import with_kernels
from fusescope.collectors.kernels import compiled, depthwise, elementwise, formulas, group
from fusescope.collectors.kernels.loading import groups_of
from fusescope.collectors.kernels.memory import Buffers
from tests.collectors.kernel_models import Node, Shape, engine, graph_of, kernel, model_of, values
from tests.patience import GIVE_UP_S

# The compiler takes a second for each.
again = pytest.mark.exhaustive
ELEMENTWISE = kernels.find("elementwise")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


def chains_of(model, name: str = "elementwise"):
    return groups_of(graph_of(model), kernels.find(name))


def difference(model, feeds, found, cache, **arguments) -> float:
    theirs = engine(model, feeds)
    ours = kernel(found, model, feeds, cache, **arguments)
    return segments.finite_difference(theirs.reshape(-1), ours.reshape(-1))


# Every operator that formulas know stands in one of these.
LONG_CHAINS: dict[str, tuple[list[Node], dict[str, Shape], dict[str, object]]] = {
    "flat": (
        [
            ("Tanh", ["x"], ["a"], {}),
            ("Exp", ["a"], ["b"], {}),
            ("Neg", ["b"], ["c"], {}),
            ("Abs", ["c"], ["d"], {}),
            ("Sqrt", ["d"], ["e"], {}),
            ("Clip", ["e", "low", "high"], ["f"], {}),
            ("HardSwish", ["f"], ["g"], {}),
            ("Sub", ["z", "g"], ["h"], {}),
            ("LeakyRelu", ["h"], ["i"], {"alpha": 0.3}),
            ("HardSigmoid", ["i"], ["j"], {"alpha": 0.25, "beta": 0.4}),
            ("Elu", ["j"], ["k"], {"alpha": 1.5}),
            ("Add", ["k", "high"], ["l"], {}),
            ("Reciprocal", ["l"], ["m"], {}),
            ("Max", ["m", "z", "low"], ["n"], {}),
            ("Min", ["high", "n"], ["o"], {}),
            ("Sum", ["o", "x", "x"], ["y"], {}),
        ],
        {"x": (3, 50, 7), "z": (3, 50, 7)},
        {"low": 0.1, "high": [1.2]},
    ),
    "by_row": (
        [
            ("Div", ["x", "s"], ["a"], {}),
            ("PRelu", ["a", "s"], ["b"], {}),
            ("Sigmoid", ["b"], ["c"], {}),
            ("Mul", ["c", "x"], ["d"], {}),
            ("Gelu", ["d"], ["e"], {}),
            ("Gelu", ["e"], ["f"], {"approximate": "tanh"}),
            ("Relu", ["f"], ["y"], {}),
        ],
        {"x": (2, 5, 3, 11)},
        {"s": np.linspace(0.5, 2.0, 5).reshape(5, 1, 1)},
    ),
    "along_row": (
        [
            ("Mul", ["s", "x"], ["a"], {}),
            ("Add", ["a", "b"], ["c"], {}),
            ("Erf", ["c"], ["d"], {}),
            ("Pow", ["d", "three"], ["e"], {}),
            ("Pow", ["e", "two"], ["y"], {}),
        ],
        {"x": (4, 6, 33)},
        {
            "s": np.linspace(-1.0, 1.0, 33),
            "b": np.linspace(-0.5, 0.5, 33).reshape(1, 1, 33),
            "three": [3.0],
            "two": 2.0,
        },
    ),
}


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        pytest.param("flat", 1, marks=again),
        pytest.param("by_row", 1, marks=again),
        ("along_row", 2),
        pytest.param("flat", 2, marks=again),
        pytest.param("by_row", 2, marks=again),
        pytest.param("along_row", 1, marks=again),
    ],
)
def test_a_chain_computes_what_the_engine_does(
    name: str, threads: int, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "GRAIN_BYTES", 64)
    nodes, inputs, weights = LONG_CHAINS[name]
    model = model_of(nodes, inputs, weights)
    [found] = chains_of(model)
    assert [node.op_type for node in found.nodes] == [node[0] for node in nodes]
    assert found.op_name == "FusedElementwise"
    assert found.name == "net/FusedElementwise_0"
    feeds = values(inputs)
    # rounding alone; the sixth power of an erf that is 1.5e-7 off is near 1e-6
    assert difference(model, feeds, found, cache, threads=threads) < 3e-6
    assert found.replaceable == tuple(inputs)
    assert difference(model, feeds, found, cache, threads=threads, over="x") < 3e-6
    program = found.program(over="", threads=threads)
    assert f"parallel={threads > 1}" in program.source


def test_every_formula_is_in_a_chain_above() -> None:
    tried = {node[0] for nodes, _, _ in LONG_CHAINS.values() for node in nodes}
    assert tried == set(formulas.OP_TYPES)


@pytest.mark.parametrize(
    "op_type",
    [
        "HardSwish",
        *(
            pytest.param(name, marks=again)
            for name in ("Exp", "Tanh", "Sigmoid", "Erf", "Relu", "Sqrt")
        ),
    ],
)
def test_values_that_are_not_finite_stay_what_they_are(op_type: str, cache: Path) -> None:
    special = [0.0, 1e-30, -1e-30, 1e-3, -1e-3, 0.7, 80.0, -80.0, 88.7, 89.0, 200.0, -200.0,
               3e38, -3e38, np.inf, -np.inf, np.nan]  # fmt: skip
    model = model_of(
        [(op_type, ["x"], ["a"], {}), ("Mul", ["a", "one"], ["y"], {})],
        {"x": (len(special),)},
        {"one": 1.0},
    )
    [found] = chains_of(model)
    feeds = {"x": np.array(special, np.float32)}
    with np.errstate(all="ignore"):
        theirs, ours = engine(model, feeds), kernel(found, model, feeds, cache)
    np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=2e-7, equal_nan=True)


@pytest.mark.parametrize(
    ("kernel_name", "types", "expected"),
    [
        ("mul_add", ["Mul", "Add"], 1),
        ("mul_add", ["Add", "Mul", "Relu"], 1),
        ("mul_add", ["Add", "Add"], 0),
        ("add_relu", ["Add", "Relu"], 1),
        ("add_relu", ["Relu", "Sigmoid"], 0),
        ("mul_sigmoid", ["Sigmoid", "Mul"], 1),
        ("sub_mul_pow", ["Mul", "Pow", "Sub", "Mul"], 1),
        ("sub_mul_pow", ["Mul", "Sub"], 0),
        ("elementwise", ["Mul", "Add", "Relu", "Sigmoid"], 1),
        ("elementwise", ["Relu"], 0),
        ("elementwise", ["Relu", "Softmax", "Relu"], 0),
    ],
)
def test_a_kernel_takes_chains_of_its_types(
    kernel_name: str, types: list[str], expected: int
) -> None:
    two = {"Mul", "Add", "Sub", "Pow"}
    names = ["x", *(f"t{place}" for place in range(len(types) - 1)), "y"]
    nodes: list[Node] = [
        (op_type, [names[place], *(["two"] if op_type in two else [])], [names[place + 1]], {})
        for place, op_type in enumerate(types)
    ]
    found = chains_of(model_of(nodes, {"x": (2, 3)}, {"two": 2.0}), kernel_name)
    assert len(found) == expected


@pytest.mark.parametrize(
    ("nodes", "weights", "expected"),
    [
        # another geometry than the first operand's: the chain is cut there
        (
            [
                ("Mul", ["x", "column"], ["a"], {}),
                ("Add", ["a", "row"], ["b"], {}),
                ("Relu", ["b"], ["y"], {}),
            ],
            {"column": np.ones((4, 1)), "row": np.ones(3)},
            [["Add", "Relu"]],
        ),
        # the result of the first is read twice: no chain
        (
            [
                ("Relu", ["x"], ["a"], {}),
                ("Add", ["a", "row"], ["b"], {}),
                ("Softmax", ["a"], ["c"], {}),
                ("MatMul", ["b", "c"], ["y"], {}),
            ],
            {"row": np.ones(4)},
            [],
        ),
        # an exponent that is not a small whole number, or not constant
        ([("Mul", ["x", "e"], ["a"], {}), ("Pow", ["a", "e"], ["y"], {})], {"e": 2.5}, []),
        ([("Mul", ["x", "x"], ["a"], {}), ("Pow", ["a", "x"], ["y"], {})], {}, []),
        # a result that grows
        (
            [("Relu", ["x"], ["a"], {}), ("Add", ["a", "big"], ["y"], {})],
            {"big": np.ones((3, 1, 1))},
            [],
        ),
    ],
)
def test_what_one_loop_cannot_compute_is_left_out(
    nodes: list[Node], weights: dict[str, object], expected: list[list[str]]
) -> None:
    found = chains_of(model_of(nodes, {"x": (4, 4) if not expected else (4, 3)}, weights))
    assert [[node.op_type for node in one.nodes] for one in found] == expected


def test_what_is_not_float32_is_left_out() -> None:
    model = model_of(
        [("Mul", ["x", "x"], ["a"], {}), ("Add", ["a", "a"], ["y"], {})], {"x": (2, 3)}, {}
    )
    assert len(chains_of(model)) == 1
    for value in (*model.graph.input, *model.graph.value_info, *model.graph.output):
        value.type.tensor_type.elem_type = 11  # double
    assert chains_of(model) == []


def test_more_arrays_than_the_compiler_can_tell_apart_cut_a_chain() -> None:
    names = [f"x{place}" for place in range(12)]
    nodes: list[Node] = [
        ("Add", [f"t{place}" if place else "x0", names[place + 1]], [f"t{place + 1}"], {})
        for place in range(11)
    ]
    nodes[-1] = ("Add", nodes[-1][1], ["y"], {})
    found = chains_of(model_of(nodes, dict.fromkeys(names, (5,)), {}))
    assert [len(one.nodes) for one in found] == [6, 5]
    assert all(len(one.operands) < elementwise.MAX_ARRAYS for one in found)


def test_no_text_of_a_model_gets_into_the_code() -> None:
    nodes: list[Node] = [
        ("Mul", ["x", "s"], ["a"], {}),
        ("LeakyRelu", ["a"], ["b"], {"alpha": 0.125}),
        ("Add", ["b", "t"], ["y"], {}),
    ]
    plain = model_of(nodes, {"x": (2, 3)}, {"s": 1.5, "t": 0.5})
    hostile = model_of(nodes, {"x": (2, 3)}, {"s": 1.5, "t": 0.5})
    evil = '"); import os; os.abort()  # '
    for place, node in enumerate(hostile.graph.node):
        node.name = f"{evil}{place}\n\x1b[31m"
        node.doc_string = evil
    for values_ in (hostile.graph.initializer, hostile.graph.input, hostile.graph.value_info):
        for value in values_:
            for node in hostile.graph.node:
                for names in (node.input, node.output):
                    for place, name in enumerate(names):
                        if name == value.name:
                            names[place] = f"{evil}{name}"
            value.name = f"{evil}{value.name}"
    [one], [other] = chains_of(plain), chains_of(hostile)
    source = other.program(over="", threads=2).source
    assert source == one.program(over="", threads=2).source
    assert "abort" not in source
    assert "F(0.125)" in source
    ast.parse(source)


CONVOLUTIONS = [
    # channels, height, width, kernel, attributes
    (5, 12, 12, (3, 3), {"pads": [1, 1, 1, 1]}),
    (5, 13, 10, (3, 3), {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    (3, 9, 70, (5, 3), {"pads": [2, 0, 1, 2], "strides": [1, 3]}),
    (4, 33, 20, (3, 3), {"pads": [6, 6, 6, 6], "dilations": [6, 6]}),
    (4, 20, 30, (4, 5), {"strides": [3, 2], "dilations": [2, 1]}),
    (2, 5, 5, (5, 5), {"pads": [4, 4, 4, 4]}),
    (6, 11, 14, (3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    (6, 11, 14, (3, 3), {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    (6, 11, 14, (3, 2), {"auto_pad": "VALID"}),
    (3, 300, 230, (3, 3), {"pads": [1, 1, 1, 1]}),  # several tiles
]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(case), marks=() if place == 7 else again)
        for place, case in enumerate(CONVOLUTIONS)
    ],
)
def test_a_depthwise_convolution_computes_what_the_engine_does(case, cache: Path) -> None:
    channels, height, width, (rows, columns), attributes = case
    chance = np.random.default_rng(3)
    weights: dict[str, object] = {"w": chance.standard_normal((channels, 1, rows, columns))}
    if channels != 4:
        weights["b"] = chance.standard_normal(channels)
    inputs = {"x": (2, channels, height, width)}
    model = model_of(
        [("Conv", ["x", *weights], ["y"], {"group": channels, **attributes})], inputs, weights
    )
    graph = graph_of(model)
    [found] = groups_of(graph, kernels.find("depthwise_conv"))
    assert (found.op_name, found.name, found.replaceable) == ("Conv", "net/Conv_0", ())
    assert difference(model, values(inputs), found, cache) < 1e-6


def test_a_depthwise_convolution_in_parts(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depthwise, "_WORTH_A_THREAD", 1)
    inputs = {"x": (1, 5, 30, 31)}
    weights = {"w": np.random.default_rng(1).standard_normal((5, 1, 3, 3))}
    model = model_of([("Conv", ["x", "w"], ["y"], {"group": 5})], inputs, weights)
    [found] = groups_of(graph_of(model), kernels.find("depthwise_conv"))
    program = found.program(over="", threads=2)
    assert "parallel=True" in program.source
    assert program.scratch_floats == 2 * found.program(over="", threads=1).scratch_floats
    assert difference(model, values(inputs), found, cache, threads=2) < 1e-6


@pytest.mark.parametrize(
    ("shape", "weight", "attributes"),
    [
        ((1, 4, 8, 8), (4, 4, 3, 3), {}),  # not depthwise
        ((1, 4, 8, 8), (4, 2, 3, 3), {"group": 2}),
        ((1, 4, 8, 8), (8, 1, 3, 3), {"group": 4}),  # two filters a channel
        ((1, 4, 8), (4, 1, 3), {"group": 4}),  # not an image
        ((1, 1, 20, 20), (1, 1, 12, 12), {"group": 1}),  # more taps than lines are wanted
    ],
)
def test_other_convolutions_are_left_out(shape, weight, attributes) -> None:
    model = model_of(
        [("Conv", ["x", "w"], ["y"], attributes)], {"x": shape}, {"w": np.ones(weight)}
    )
    assert groups_of(graph_of(model), kernels.find("depthwise_conv")) == []


def test_the_tile_fits_the_first_cache() -> None:
    for size in (7, 14, 56, 112, 513):
        model = model_of(
            [("Conv", ["x", "w"], ["y"], {"group": 8, "pads": [1, 1, 1, 1]})],
            {"x": (1, 8, size, size)},
            {"w": np.ones((8, 1, 3, 3))},
        )
        [found] = groups_of(graph_of(model), kernels.find("depthwise_conv"))
        scratch = 4 * found.program(over="", threads=1).scratch_floats
        assert scratch <= depthwise.TILE_BYTES + 1024


def test_a_convolution_counts_alike_with_either_kernel() -> None:
    model = model_of(
        [("Conv", ["x", "w"], ["y"], {"group": 8, "pads": [1, 1, 1, 1], "strides": [2, 2]})],
        {"x": (1, 8, 15, 15)},
        {"w": np.ones((8, 1, 3, 3))},
    )
    graph = graph_of(model)
    [found] = groups_of(graph, kernels.find("depthwise_conv"))
    picture = graph_of(with_kernels(model, segments.cut.around(model.graph, [found])))
    [drawn] = picture.nodes
    assert (drawn.domain, drawn.op_type, drawn.name) == ("fusescope", "Conv", "net/Conv_0")
    counted = flops.from_graph(graph.nodes[0], graph)
    # 8 output positions an axis: 2 taps at the first and the last, 3 at the other six
    assert counted == flops.from_graph(drawn, picture) == 2 * 8 * (2 + 6 * 3 + 2) ** 2


def test_fused_elementwise_is_a_light_operator() -> None:
    assert op_class("FusedElementwise") == "elementwise"


def test_kernels_are_found_by_name() -> None:
    assert [kernels.find(one.name) for one in kernels.KERNELS] == list(kernels.KERNELS)
    with pytest.raises(FuseScopeError) as error:
        kernels.find("muladd")
    assert error.value.hint is not None
    assert "Did you mean 'mul_add'?" in error.value.hint


def test_listing_kernels_loads_no_engine() -> None:
    code = (
        "import sys, fusescope.collectors.variants, fusescope.collectors.recording.request; "
        "print(sorted({'numba', 'onnx', 'onnxruntime', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=GIVE_UP_S
    )
    assert "numba" not in done.stdout
    assert "onnx" not in done.stdout


def test_equal_sources_are_one_file_and_a_broken_one_is_made_again(tmp_path: Path) -> None:
    path, machine_code = compiled.store("a = 1\n", (tmp_path / "one", tmp_path / "two"))
    assert path.parent == tmp_path / "one" == machine_code.parent
    written = path.stat().st_mtime_ns
    assert compiled.store("a = 1\n", (tmp_path / "one",))[0] == path
    assert path.stat().st_mtime_ns == written  # else the machine code would be compiled again
    path.write_text("a = 2\n")
    compiled.store("a = 1\n", (tmp_path / "one",))
    assert path.read_text() == "a = 1\n"


def test_without_a_cache_the_recording_keeps_the_code(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")  # no folder can be made below a file
    path, _ = compiled.store("a = 1\n", (blocked / "kernels", tmp_path / "own"))
    assert path.parent == tmp_path / "own"
    with pytest.raises(FuseScopeError, match="no folder"):
        compiled.store("a = 1\n", (blocked / "kernels",))


def test_a_process_loads_what_another_one_compiled(tmp_path: Path) -> None:
    nodes, inputs, weights = LONG_CHAINS["along_row"]
    [found] = chains_of(model_of(nodes, inputs, weights))
    program = found.program(over="", threads=1)
    source, machine_code = compiled.store(program.source, (tmp_path,))
    code = (
        "from fusescope.collectors.kernels import compiled; "
        f"run = compiled.load({str(source)!r}, {str(machine_code)!r}, 1); "
        "print(sum(run.stats.cache_hits.values()), sum(run.stats.cache_misses.values()))"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            timeout=GIVE_UP_S,
            env={k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")},
        ).stdout.split()
        for _ in range(2)
    ]
    assert told == [["0", "1"], ["1", "0"]]


def test_buffers_are_used_again() -> None:
    buffers = Buffers()
    first, second = buffers.take("a", 400), buffers.take("b", 100)
    assert first != second
    buffers.free(["a", "elsewhere"])
    assert buffers.take("c", 300) == first
    buffers.write_over("c", "d")  # in the same place
    buffers.free(["c"])
    assert buffers.take("e", 50) not in (first, second)
    buffers.free(["d", "b"])
    assert buffers.take("f", 500) == first  # the largest unused one grows
    scratch = buffers.scratch(70)
    assert buffers.scratch(60) == scratch
    buffers.free(["f", "e"])
    assert buffers.take("g", 10) != scratch
    assert buffers.sizes == [500, 100, 50, 70]
