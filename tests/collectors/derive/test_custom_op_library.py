"""A user's own library of operators: recorded beside its twin, and refused in one sentence."""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.collectors.errors import library as library_errors
from fusescope.collectors.models import custom_ops
from fusescope.collectors.record import Recording
from fusescope.collectors.variants import find, with_cuts
from tests.collectors.recording.test_recording_refusals import refusal
from tests.collectors.short_recordings import File, run, short

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "custom_op"
COMPILER = shutil.which("cc")
DOMAIN = "fusescope.example"

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler 'cc' is installed")
needs_elf = pytest.mark.skipif(sys.platform != "linux", reason="the words are of Linux's loader")


def build(source: Path, out: Path, *options: str) -> Path:
    assert COMPILER is not None
    command = [COMPILER, "-std=gnu11", "-O1", f"-I{EXAMPLE}", "-fPIC", "-shared"]
    subprocess.run([*command, "-o", str(out), str(source), *options], check=True)
    return out


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's library, built by its own Makefile in a copy of its folder."""
    if COMPILER is None or shutil.which("make") is None:
        pytest.skip("no C compiler 'cc' or no 'make' is installed")
    folder = tmp_path_factory.mktemp("example") / "custom_op"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("*.so", "*.onnx"))
    subprocess.run(["make", "-C", str(folder), "CFLAGS=-O3 -march=native -Werror"], check=True)
    [built] = [*folder.glob("*.so"), *folder.glob("*.dylib")]
    return built


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the example's models: fused_mul_add.onnx and mul_add.onnx."""
    folder = tmp_path_factory.mktemp("models")
    subprocess.run([sys.executable, str(EXAMPLE / "make_model.py"), str(folder)], check=True)
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def op_types(file: File, variant: str) -> list[str]:
    graph = file.record.variant(variant).graph
    assert graph is not None
    return [node.op_type for node in file.graph(graph).nodes]


def without_definition(source: Path, to: Path) -> Path:
    model = onnx.load(source)
    del model.functions[:]
    onnx.save(model, to)
    return to


# --- recording -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(
    library: Path, models: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Recording, File]:
    """The example's model with its library, in two threads."""
    recording = short(
        models / "fused_mul_add.onnx",
        tmp_path_factory.mktemp("recorded"),
        variants=("unfused", "eager", "fused", "custom:library"),
        custom_op_library=library,
        batch=2,
        threads=2,
    )
    return recording, run(recording)[0]


def test_kernels_of_the_library_and_what_they_stand_for_in_the_same_blocks(
    recorded: tuple[Recording, File], library: Path
) -> None:
    recording, file = recorded
    chain = ["Mul", "Add", "Mul", "Add"]
    assert [v.name for v in file.record.variants] == list(recording.variants)
    assert op_types(file, "unfused") == op_types(file, "eager") == chain
    assert op_types(file, "fused") == chain  # the engine fuses none of it
    ours = file.record.variant("custom:library")
    assert op_types(file, "custom:library") == ["FusedMulAdd", "FusedMulAdd"]
    assert ours.output_difference is not None
    assert ours.output_difference.relative is not None
    assert ours.output_difference.relative < 1e-6
    assert ours.settings["operators_by_library"] == f"{DOMAIN}:FusedMulAdd"
    assert ours.settings["nodes_by_library"] == 2
    assert ours.settings["execution"] == "one session"
    model = file.graph("graphs/model.json")
    assert [node.op_type for node in model.nodes] == chain
    sha256 = hashlib.sha256(library.read_bytes()).hexdigest()
    for variant in file.record.variants:
        assert variant.settings["custom_op_library"] == library.name
        assert variant.settings["custom_op_library_sha256"] == sha256
    assert str(library.parent) not in file.read("experiment.json").decode()
    events = file.events(ours.profiles[0].file)
    kernels = [event for event in events if event["name"].endswith("FusedMulAdd_kernel_time")]
    assert len(kernels) == 2 * (ours.profiles[0].warmup_runs + recording.profiled_rounds)


def test_each_kernel_is_a_group_and_nothing_is_said_of_boundaries(
    recorded: tuple[Recording, File],
) -> None:
    experiment = read(Source("e.zip", recorded[1].path.read_bytes()))
    assert isinstance(experiment, Experiment)
    sides = [side_of_variant(experiment, name) for name in ("unfused", "custom:library")]
    found = compare(*sides)
    groups = [
        (
            [operator.op_type for operator in group.original],
            [operator.op_type for operator in group.candidate],
        )
        for group in found.fusion.groups
    ]
    assert groups == [(["Mul", "Add"], ["FusedMulAdd"])] * 2
    assert found.fusion.boundary_mismatches == 0
    assert "boundaries_included" not in {note.code for note in found.diagnostics}


def test_a_model_that_only_the_library_can_run(
    library: Path, tmp_path: Path, out: Path, save_model: Callable[..., Path]
) -> None:
    """Every variant uses it: whole graphs, pieces, our fusion pass, the search for tensors, and
    the graphs of an ablation."""
    weights = {
        "w": np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32),
        "b": np.linspace(-1, 1, 4, dtype=np.float32),
        "scale": np.float32(1.5),
        "shift": np.float32(0.25),
    }
    path = save_model(
        [
            helper.make_node("Conv", ["x", "w", "b"], ["c"], name="net/Conv", pads=[1] * 4),
            helper.make_node("Relu", ["c"], ["r"], name="net/Relu"),
            helper.make_node(
                "FusedMulAdd", ["r", "scale", "shift"], ["f"], name="net/Own", domain=DOMAIN
            ),
            helper.make_node("Sigmoid", ["f"], ["s"], name="net/Sigmoid"),
            helper.make_node("Mul", ["f", "s"], ["y"], name="net/Mul"),
        ],
        {"x": ("float32", [1, 3, 16, 16])},
        ["y"],
        weights,
    )
    model = onnx.load(path)
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    onnx.save(model, path)
    assert "not have the operator fusescope.example:FusedMulAdd" in refusal(short(path, out))
    file, _ = run(
        short(
            path,
            out,
            variants=("unfused", "eager", "fused", "rules:O3", "without:NchwcTransformer"),
            custom_op_library=library,
        )
    )
    for variant in file.record.variants:
        assert "FusedMulAdd" in op_types(file, variant.name)
        assert "graph_missing" not in variant.settings
        assert "matches_missing" not in variant.settings
        if variant.name != "unfused":
            assert variant.output_difference is not None
            assert variant.output_difference.relative is not None
            assert variant.output_difference.relative < 1e-6
    assert len(op_types(file, "rules:O3")) < len(op_types(file, "unfused"))
    by_name = {tensor.name: tensor for tensor in file.graph("graphs/model.json").tensors}
    assert by_name["f"].shape == (1, 4, 16, 16)  # inference cannot know it: it is what ran


def test_definitions_are_used_by_the_engine_unless_a_kernel_is_registered(
    library: Path, models: Path, out: Path
) -> None:
    """Without custom:library the model is as it is in its file, for every variant alike."""
    path = models / "fused_mul_add.onnx"
    file, _ = run(short(path, out, variants=("unfused",)))
    assert op_types(file, "unfused") == ["Mul", "Add", "Mul", "Add"]
    assert "custom_op_library" not in file.record.variants[0].settings
    file, _ = run(short(path, out, variants=("unfused",), custom_op_library=library))
    assert op_types(file, "unfused") == ["FusedMulAdd", "FusedMulAdd"]


def test_the_twin_computes_the_same(library: Path, models: Path) -> None:
    """The example's kernel for each way in which a and b may come, in parts and in place."""
    import onnxruntime as ort

    chance = np.random.default_rng(0)
    sizes = [(1,), (3, 5), (16384,), (2, 16384), (3, 9001)]
    for shape in sizes:
        for a_shape in ((), shape):
            for b_shape in ((1,), shape):
                nodes = [
                    helper.make_node("FusedMulAdd", ["x", "a", "b"], ["s"], domain=DOMAIN),
                    helper.make_node("FusedMulAdd", ["s", "a", "b"], ["t"], domain=DOMAIN),
                    helper.make_node("FusedMulAdd", ["t", "a", "b"], ["y"], domain=DOMAIN),
                ]
                arrays = {
                    name: chance.standard_normal(of).astype(np.float32)
                    for name, of in (("x", shape), ("a", a_shape), ("b", b_shape))
                }
                y = run_once(ort, library, nodes, arrays)
                x, a, b = (arrays[name].astype(np.float64) for name in "xab")
                expected = ((x * a + b) * a + b) * a + b
                assert y.shape == expected.shape
                np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("x", "a", "fits"),
    [
        ((2, 3), (1, 1), True),
        ((2, 3), (1,), True),
        ((1,), (1,), True),
        ((), (), True),
        ((0, 3), (0, 3), True),
        ((2, 3), (3,), False),
        ((2, 3), (3, 2), False),  # as many values, but others
        ((2, 3), (6,), False),
        ((2, 3), (1, 2, 3), False),  # y would have three axes
        ((3,), (1, 1), False),
        ((2, 3), (2, 1), False),
        ((1,) * 17, (1,), False),
    ],
)
def test_the_kernel_computes_what_has_the_shape_of_x_and_refuses_the_rest(
    library: Path, x: tuple[int, ...], a: tuple[int, ...], fits: bool
) -> None:
    import onnxruntime as ort

    nodes = [helper.make_node("FusedMulAdd", ["x", "a", "b"], ["y"], domain=DOMAIN)]
    arrays = {"x": np.full(x, 2, np.float32), "a": np.full(a, 3, np.float32),
              "b": np.array(4, np.float32)}  # fmt: skip
    if fits:
        y = run_once(ort, library, nodes, arrays)
        assert y.shape == x and (y == 10).all()
        swapped = {**arrays, "a": arrays["b"], "b": arrays["a"]}
        assert (run_once(ort, library, nodes, swapped) == 11).all()
    else:
        with pytest.raises(
            Exception, match=r"a and b need the shape of x, or one value|more than 16 axes"
        ):
            run_once(ort, library, nodes, arrays)


@needs_compiler
def test_the_command_of_the_docs_builds_it_without_make(tmp_path: Path) -> None:
    import onnxruntime as ort

    text = (ROOT / "docs" / "custom-op.md").read_text(encoding="utf-8")
    [command] = re.findall(r"Without `make`: `(cc [^`]+)`", text)
    assert command in (EXAMPLE / "fused_mul_add.c").read_text()
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("*.so"))
    subprocess.run(command.split(), cwd=tmp_path / "example", check=True)
    nodes = [helper.make_node("FusedMulAdd", ["x", "a", "b"], ["y"], domain=DOMAIN)]
    arrays = {"x": np.ones(5, np.float32), "a": np.float32(3), "b": np.float32(4)}
    built = tmp_path / "example" / "libfused_mul_add.so"
    assert run_once(ort, built, nodes, arrays).tolist() == [7.0] * 5


def run_once(
    ort: Any, library: Path, nodes: list[onnx.NodeProto], arrays: dict[str, Any]
) -> np.ndarray:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, list(arrays["x"].shape))],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(arrays[name], name) for name in "ab"],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 4
    options.register_custom_ops_library(str(library))
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"x": arrays["x"]})[0]


# --- refusals ------------------------------------------------------------------------------------

RETURNS = "void *RegisterCustomOps(void *options, void *base) { return 0; }\n"
BEGIN = "#include <stdlib.h>\n__attribute__((constructor)) void begin(void)"
SOURCES = {
    "no symbol": "int nothing;\n",
    "undefined": f"void elsewhere(void);\n{RETURNS}void *use = (void *)elsewhere;\n",
    "crashes": "int *nowhere;\nvoid *RegisterCustomOps(void) { *nowhere = 1; return 0; }\n",
    "aborts": f"{BEGIN} {{ abort(); }}\n{RETURNS}",
    "leaves": f"{BEGIN} {{ exit(0); }}\n{RETURNS}",
}


def made(kind: str, folder: Path) -> Path:
    """A library that does not do."""
    path = folder / "libbad.so"
    example = (EXAMPLE / "fused_mul_add.c").read_text()
    source = folder / "bad.c"
    match kind:
        case "missing":
            return folder / "nowhere.so"
        case "folder":
            path.mkdir()
        case "empty":
            path.write_bytes(b"")
        case "text":
            path.write_text("I am no library.\n" * 20)
        case "short":
            path.write_bytes(b"\x7fELF")
        case "pipe":
            os.mkfifo(path)
        case "newer engine":
            source.write_text(example.replace("GetApi(ORT_API_VERSION)", "GetApi(9999)"))
            return build(source, path)
        case "newer engine, unchecked":
            text = example.replace("GetApi(ORT_API_VERSION)", "GetApi(9999)")
            source.write_text(text.replace("if (!api)", "if (0)"))
            return build(source, path)
        case "dependency":
            source.write_text("int far(void) { return 1; }\n")
            build(source, folder / "libfar.so")
            source.write_text(f"int far(void);\n{RETURNS}int use(void) {{ return far(); }}\n")
            return build(source, path, f"-L{folder}", "-lfar")
        case "other processor":
            source.write_text(RETURNS)
            data = bytearray(build(source, path).read_bytes())
            machine = 0xB7 if platform.machine() == "x86_64" else 0x3E  # AArch64, x86-64
            data[18:20] = machine.to_bytes(2, sys.byteorder)
            path.write_bytes(data)
        case _:
            source.write_text(SOURCES[kind])
            return build(source, path, "-Wl,-z,now")
    return path


@needs_elf
@needs_compiler
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("missing", "The custom-op library does not exist"),
        ("folder", "The custom-op library is a folder"),
        ("empty", "The custom-op library is empty"),
        ("pipe", "The custom-op library is not a regular file"),
        ("text", "The custom-op library is not a shared library"),
        ("short", "The custom-op library is cut short"),
        ("no symbol", "does not have the function RegisterCustomOps"),
        ("undefined", "uses elsewhere, which no library"),
        ("dependency", "needs the library libfar.so, which the system does not find"),
        ("other processor", "was built for another processor"),
        ("newer engine", "FusedMulAdd needs ONNX Runtime 1.18 or newer"),
        ("newer engine, unchecked", "newer engine, with an interface of version 9999"),
        ("crashes", "with the custom-op library libbad.so in it, was ended by signal SIGSEGV"),
        ("aborts", "with the custom-op library libbad.so in it, was ended by signal SIGABRT"),
        ("leaves", "with the custom-op library libbad.so in it, ended with status 0"),
    ],
)
def test_a_library_that_does_not_load(
    tmp_path: Path, models: Path, out: Path, kind: str, expected: str
) -> None:
    path = made(kind, tmp_path)
    text = refusal(short(models / "mul_add.onnx", out, custom_op_library=path))
    assert expected in text
    assert text.isprintable()


@needs_compiler
def test_the_command_line_says_it_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("I am no library.\n" * 20)
    for name, expected in (("text.so", "custom-op library"), ("none.so", "does not exist")):
        ended = subprocess.run(
            [
                *(sys.executable, "-c", "from fusescope.app.cli.main import main; main()"),
                *("collect", "add_relu", "--custom-op-library", str(tmp_path / name)),
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 2
        assert expected in ended.stderr
        assert "Traceback" not in ended.stderr + ended.stdout
        assert list(tmp_path.glob("*.zip")) == []


def test_a_library_whose_path_is_no_text(tmp_path: Path, out: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/lib\xff.so"))
    path.write_bytes(b"x")
    text = refusal(short("add_relu", out, custom_op_library=path))
    assert "is not UTF-8 text" in text
    assert text.isprintable()


def test_the_variant_needs_a_library_and_a_definition(
    library: Path, models: Path, tmp_path: Path, out: Path
) -> None:
    ask: dict[str, Any] = {"variants": ("unfused", "custom:library")}
    text = refusal(short(models / "fused_mul_add.onnx", out, **ask))
    assert "'custom:library' needs a library of operators" in text
    ask["custom_op_library"] = library
    bare = without_definition(models / "fused_mul_add.onnx", tmp_path / "bare.onnx")
    assert "The model does not define any operator" in refusal(short(bare, out, **ask))
    model = onnx.load(models / "fused_mul_add.onnx")
    for node in (*model.graph.node, *model.functions):
        if isinstance(node, onnx.FunctionProto):
            node.name = "Another"
        else:
            node.op_type = "Another"
    onnx.save(model, tmp_path / "another.onnx")
    text = refusal(short(tmp_path / "another.onnx", out, **ask))
    assert f"has none of the operators that the model defines: {DOMAIN}:Another" in text


@needs_compiler
def test_a_kernel_that_crashes_is_named(tmp_path: Path, models: Path, out: Path) -> None:
    text = (EXAMPLE / "fused_mul_add.c").read_text()
    source = tmp_path / "bad.c"
    source.write_text(text.replace("  const float a0 = *a, b0 = *b;", "  abort(); float a0, b0;"))
    built = build(source, tmp_path / "libbad.so", "-w")
    asked = short(
        models / "fused_mul_add.onnx",
        out,
        variants=("unfused", "custom:library"),
        custom_op_library=built,
    )
    assert "with the custom-op library libbad.so in it, was ended by signal SIGABRT" in refusal(
        asked
    )


def test_a_library_that_is_built_again_meanwhile_ends_the_recording(
    library: Path, models: Path, tmp_path: Path, out: Path
) -> None:
    from fusescope.collectors.record import record

    copied = tmp_path / "lib.so"
    shutil.copyfile(library, copied)

    def rebuild(progress: Any) -> None:
        if progress.stage == "peaks":
            replacement = tmp_path / "new.so"
            shutil.copyfile(library, replacement)
            os.replace(replacement, copied)

    asked = short(models / "fused_mul_add.onnx", out, custom_op_library=copied)
    with pytest.raises(FuseScopeError, match="was changed while it was recorded"):
        record(asked, on_progress=rebuild)
    assert list(out.iterdir()) == []
    read = custom_ops.read(copied)
    read.check_unchanged()
    copied.unlink()
    with pytest.raises(FuseScopeError, match="was changed"):
        read.check_unchanged()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "with error: /lib/libm.so.6: version `GLIBC_2.99' not found (required by /x/l.so)",
            "needs GLIBC_2.99",
        ),
        (
            "tried: '/x/l.so' (mach-o file, but is an incompatible architecture (have 'x86_64'))",
            "another processor",
        ),
        ("dlopen(/x/l.so, 0x6): tried: '/x/l.so' (not a mach-o file)", "not a shared library"),
        (
            "/x/l.so: failed to map segment from shared object: Operation not permitted",
            "does not run code",
        ),
        ("/x/l.so: failed to map segment: Cannot allocate memory", "more memory than the limit"),
    ],
)
def test_words_of_other_systems(words: str, expected: str) -> None:
    told = library_errors.refusal(words, "/x/l.so")
    assert told is not None
    assert expected in told.what


def test_words_that_nobody_knows() -> None:
    assert library_errors.refusal("the moon is made of cheese", "/x/l.so") is None


def test_the_variant_is_found_by_its_name_alone() -> None:
    assert find("custom:library").kind == "library"
    found = find("unfused"), find("custom:library")
    assert with_cuts(found) == found
    with pytest.raises(FuseScopeError, match="no kernel 'library'"):
        find("segments:library")


# --- only the command line -----------------------------------------------------------------------


def uses(of: str) -> set[str]:
    """Where a call of the project, tests apart, passes an argument of this name, and to whom."""
    found = set()
    for folder in ("analysis", "app", "benchmarks", "collectors", "scripts"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Call):
                    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                    if of in [keyword.arg for keyword in node.keywords]:
                        found.add(f"{path.relative_to(ROOT)}: {called}")
    return found


def test_only_the_command_line_leads_to_a_library() -> None:
    assert uses("custom_op_library") == {
        "app/cli/collect.py: Recording",
        "collectors/recording/preparation.py: SessionSettings",
    }
    named = {
        str(path.relative_to(ROOT))
        for folder in ("analysis", "app")
        for path in (ROOT / folder).rglob("*.py")
        if "custom_op_library" in path.read_text(encoding="utf-8")
    }
    assert named == {"app/cli/collect.py"}
