"""Environments of the user's: looked at by starting their Python, kept by a name, and used so."""

from __future__ import annotations

import json
import os
import sys
import venv
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors import record
from fusescope.collectors.environments import catalogue, chosen, first_look, looking, named, state
from fusescope.collectors.files import trust
from fusescope.collectors.record import Recording
from fusescope.collectors.workers import worker
from fusescope.collectors.workers.jobs import EngineJob, EngineVersion
from tests.collectors.environments.standin import ENGINE
from tests.patience import GIVE_UP_S

REAL = catalogue.ENGINES
SHARED = ("msgspec", "numpy")
SOURCE = "__version__ = '1.5.0+cpu'\n"
TOY = catalogue.Engine(
    name="toy", what=ENGINE.what, version="1.5.0", module="toy_engine", builds=(), shared=SHARED
)


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(catalogue, "ENGINES", {"toy": TOY})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing in it."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    return folder


@pytest.fixture
def environment(made: Path) -> Path:
    """The same with the engine alone."""
    place = state.packages_in(made)
    for path in place.glob("*"):
        if path.name.startswith(("toy", "msgspec", "numpy", "later")):
            path.unlink()
    (place / "toy_engine.py").write_text(SOURCE)
    return made


def refusal(call: Any, *given: Any) -> FuseScopeError:
    with pytest.raises(FuseScopeError) as caught:
        call(*given)
    assert "\n" not in caught.value.text
    return caught.value


def test_what_is_seen_is_kept_and_used(environment: Path) -> None:
    python = environment / "bin" / "python"
    before = sorted(environment.rglob("*"))
    kept, was_there = named.use("toy", str(python), "nightly")
    assert (kept.runtime, kept.version, was_there) == ("toy@nightly", "1.5.0+cpu", False)
    assert kept.python == str(python)  # not where the link leads: that Python has no engine
    assert kept.python_version == ".".join(map(str, sys.version_info[:3]))
    assert kept.brought == SHARED
    pure = [path for path in sorted(environment.rglob("*")) if "__pycache__" not in path.parts]
    assert pure == [path for path in before if "__pycache__" not in path.parts]

    assert chosen.python_of("toy@nightly") == python
    assert chosen.brought_to("toy@nightly") == SHARED
    assert chosen.version_of("toy@nightly") == "1.5.0+cpu"
    assert chosen.is_ready("toy@nightly") and not chosen.is_ready("toy@other")
    assert chosen.environments_of("toy") == ("toy@nightly",)
    assert named.use("toy", str(environment), "nightly")[1]  # a folder with a Python in it
    assert named.use("toy", str(python))[0].runtime == "toy@1.5.0"
    assert [one.runtime for one in named.listed()] == ["toy@1.5.0", "toy@nightly"]
    assert {one.problem for one in named.listed()} == {None}

    named.remove("toy@nightly")
    assert [one.runtime for one in named.listed()] == ["toy@1.5.0"]
    assert python.exists()
    assert refusal(named.remove, "toy@nightly").text == (
        "There is no environment 'toy@nightly'. Run: fusescope runtimes use toy --python PYTHON "
        "--name nightly."
    )


def run(python: Path, source: str, brought: tuple[str, ...]) -> str:
    (state.packages_in(python.parents[1]) / "toy_engine.py").write_text(source)
    return worker.run(
        "engine", EngineJob("toy_engine", SHARED), EngineVersion,
        limits=worker.Limits(None, GIVE_UP_S), where="m", cancelled=lambda: False,
        python=python, brought=brought,
    ).version  # fmt: skip


def test_packages_that_are_brought_stand_behind_those_of_the_environment(environment: Path) -> None:
    """One that the environment has is its own, whatever FuseScope has; nothing else of FuseScope's
    packages is there."""
    python = environment / "bin" / "python"
    spec = find_spec("msgspec")
    assert spec is not None and spec.origin is not None
    (state.packages_in(environment) / "msgspec").symlink_to(Path(spec.origin).parent)
    source = (
        "import importlib.util, msgspec, numpy, sys\n"
        "__version__ = '|'.join((msgspec.__file__, numpy.__file__,\n"
        "    str(importlib.util.find_spec('streamlit')), str(sys.path[-1])))\n"
    )
    theirs, ours, absent, last = run(python, source, SHARED).split("|")
    assert theirs.startswith(str(environment)) and not ours.startswith(str(environment))
    assert absent == "None" and last.endswith("/brought")


def test_a_change_since_then_is_said_with_the_next_step(environment: Path) -> None:
    python = environment / "bin" / "python"
    named.use("toy", str(python), "nightly")
    module = state.packages_in(environment) / "toy_engine.py"
    again = f"Run: fusescope runtimes use toy --python {python} --name nightly."
    module.write_text("__version__ = '1.6.0'\n")
    assert refusal(chosen.python_of, "toy@nightly").text == (
        "The environment toy@nightly cannot be used as it was seen: toy in it has changed since it "
        f"was looked at ({python}). {again} It is looked at anew."
    )
    module.unlink()
    assert "toy is no longer in it" in refusal(chosen.python_of, "toy@nightly").text
    [listed] = named.listed()
    assert listed.named is not None and listed.problem is not None
    assert again in listed.problem.text
    written = json.loads((named.folder() / "toy@nightly.json").read_text())
    written["python"] = str(environment / "gone")
    (named.folder() / "toy@nightly.json").write_text(json.dumps(written))
    assert "its Python" in refusal(chosen.python_of, "toy@nightly").text
    (named.folder() / "toy@nightly.json").write_text("{")
    assert "is damaged" in refusal(chosen.python_of, "toy@nightly").text
    [listed] = named.listed()
    assert listed.named is None and listed.problem is not None


def test_packages_for_another_python_than_the_one_that_runs_this(environment: Path) -> None:
    named.use("toy", str(environment), "nightly")
    written = json.loads((named.folder() / "toy@nightly.json").read_text())
    written["python_version"] = "3.99.1"
    (named.folder() / "toy@nightly.json").write_text(json.dumps(written))
    own = ".".join(map(str, sys.version_info[:2]))
    said = refusal(chosen.python_of, "toy@nightly").text
    assert f"FuseScope runs with Python {own} now, whose packages its Python 3.99.1 cannot" in said


def test_a_record_that_others_could_have_written_is_not_used(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named.use("toy", str(environment), "nightly")
    assert named.folder().stat().st_mode & 0o077 == 0
    monkeypatch.setattr(trust, "foreign", lambda place: place)
    assert refusal(chosen.python_of, "toy@nightly").code == "place_of_others"


def test_an_engine_that_does_not_work_keeps_no_record(environment: Path) -> None:
    module = state.packages_in(environment) / "toy_engine.py"
    module.write_text("raise OSError('libcudart.so.99: cannot open shared object file')\n")
    said = refusal(named.use, "toy", str(environment), "nightly")
    assert said.code == "runtime_python_fails" and "libcudart.so.99" in said.text
    module.write_text("import os; os.kill(os.getpid(), 11)\n")
    assert (
        "it ended without a word (status −11)" in refusal(named.use, "toy", str(environment)).text
    )
    module.unlink()
    assert refusal(named.use, "toy", str(environment)).code == "runtime_engine_not_there"
    assert named.listed() == ()


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("docker exec -i box python", "runtime_is_command"),
        ("conda run -n x python", "runtime_is_command"),
        ("/no/such/python", "runtime_no_python"),
        ("no-such-python", "runtime_no_python"),
        (__file__, "runtime_no_python"),
    ],
)
def test_what_is_no_python_is_refused(given: str, code: str) -> None:
    assert refusal(looking.python_given, given).code == code


def other_python(tmp_path: Path, **changes: Any) -> Path:
    """A program that answers as a Python of another kind would."""
    answer = {
        "python": str(tmp_path / "python"), "version": "3.12.1", "abi": "cpython-312-x86_64",
        "platform": "linux-x86_64", "headers": "/include", "module": "/there/toy_engine.py",
        "lacks": ["msgspec"], **changes,
    }  # fmt: skip
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho a warning\necho '{json.dumps(answer)}'\n")
    program.chmod(0o755)
    return program


def test_another_python_has_to_have_the_packages_itself(tmp_path: Path) -> None:
    said = refusal(looking.look, TOY, other_python(tmp_path))
    own = ".".join(map(str, sys.version_info[:2]))
    assert said.text == (
        f"This is Python 3.12.1 without msgspec, and what Python {own} has, which runs FuseScope, "
        f"cannot be loaded there ({tmp_path}/python). Install it there (python -m pip install "
        "msgspec), or run FuseScope with the same version of Python."
    )
    old = refusal(looking.look, TOY, other_python(tmp_path, version="3.10.2"))
    assert old.code == "runtime_old_python" and "3.10.2" in old.text
    odd = refusal(looking.look, TOY, other_python(tmp_path, version=7))
    assert odd.code == "runtime_python_fails"


@pytest.mark.parametrize("name", ["", "a:b", "a@b", "../up", "a b", "x" * 41])
def test_a_name_is_a_part_of_a_file_name_and_of_a_variant(name: str) -> None:
    assert refusal(chosen.python_of, f"toy@{name}").code == "runtime_name_impossible"


def test_where_an_engine_is_asked_for_an_environment_is_none() -> None:
    assert refusal(named.use, "toy@a", "python").code == "runtime_named_twice"
    assert refusal(named.use, "toi", "python").text == (
        "There is no engine 'toi'. Did you mean 'toy'? The engines are: onnxruntime, toy."
    )
    assert refusal(chosen.python_of, "toi@a").code == "runtime_unknown"


def test_onnx_runtime_can_be_in_an_environment_too() -> None:
    """What its workers import beside it is what FuseScope has here."""
    engine = catalogue.engine_of("onnxruntime@mine")
    assert engine.module == "onnxruntime" and "onnx" in engine.shared
    assert all(find_spec(name) is not None for name in engine.shared)
    with pytest.raises(FuseScopeError):
        catalogue.engine_of("onnxruntime")


def test_the_text_that_runs_elsewhere_needs_nothing_of_ours(tmp_path: Path) -> None:
    text = Path(first_look.__file__).read_text(encoding="utf-8")
    assert "fusescope" not in text
    engine = tmp_path / "toy_engine.py"
    engine.write_text(SOURCE)
    found = looking._asked(
        Path(sys.executable), ["msgspec", "numpy", "no_such_one"], looking._There
    )
    assert found.python == sys.executable and found.lacks == ("no_such_one",)
    assert found.module is not None and looking._is_ours(found)
    assert os.path.isdir(found.headers) or found.headers


class Torch:
    """What is asked of PyTorch, with one device."""

    class version:
        cuda, hip = "12.8", None

    class cuda:
        @staticmethod
        def is_available() -> bool:
            return True

        @staticmethod
        def device_count() -> int:
            return 2

        @staticmethod
        def get_device_name(number: int) -> str:
            return f"GPU {number}"


def test_devices_of_torch_are_named() -> None:
    build, compiler, devices = first_look.of_torch(Torch)
    assert (build, devices) == ("CUDA 12.8", ["GPU 0", "GPU 1"])
    assert compiler.startswith("TorchInductor")


def test_an_environment_is_asked_for_as_its_engine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variants and the models are those of the engine."""
    monkeypatch.setattr(catalogue, "ENGINES", {**REAL, "toy": TOY})
    one = Recording(model="torch:mlp", runtime="torch@nightly", variants=("eager", "fused"))
    assert one.engine == "torch"
    assert one.plan().names == ("eager", "fused")
    assert Recording(model="m.onnx", runtime="openvino@x").engine == "openvino"
    assert Recording(model="m.onnx", runtime="onnxruntime@x").engine == "onnxruntime"
    assert record.first_variants("", "jax@old") == ("eager", "unfused", "fused")
    assert "latency" in record.variant_names("openvino@x")
    assert "reduce-overhead" not in record.variant_names("torch@x")
    assert "reduce-overhead" in record.variant_names("torch@x", "cuda:1")


@pytest.mark.parametrize(
    ("build", "devices", "expected"),
    [
        ("CUDA 12.8", ("GPU 0", "GPU 1"), {"cuda:0": "GPU 0", "cuda:1": "GPU 1"}),
        ("ROCm 6.4", ("MI300X",), {"rocm:0": "MI300X"}),
        ("CPU", ("mps",), {"mps": "mps"}),
        ("CPU", (), {}),
        ("CPU", ("what nobody knows",), {}),
    ],
)
def test_devices_that_were_seen_are_those_that_a_recording_can_name(
    monkeypatch: pytest.MonkeyPatch, build: str, devices: tuple[str, ...], expected: dict[str, str]
) -> None:
    seen = SimpleNamespace(build=build, devices=devices)
    monkeypatch.setattr(named, "ready", lambda runtime: seen)
    assert chosen.devices_of("torch@gpu") == expected
    assert chosen.devices_of("torch") == chosen.devices_of("jax@gpu") == {}


def test_environments_stand_behind_the_engines_that_run_a_model(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named.use("toy", str(environment), "nightly")
    monkeypatch.setattr(record, "runtime_of", lambda model: "toy")
    assert record.runtimes_of("toy:mlp") == ("toy", "toy@nightly")
    assert record.is_ready("toy@nightly") and not record.is_ready("toy@other")
