"""Engines beside ONNX Runtime: what each is, what is installed for it, and what that takes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message
from fusescope.analysis.spelling import nearest

OWN = "onnxruntime"  # runs in the Python that runs FuseScope
OF_THE_NAME = "@"  # between an engine and the name of an environment of the user's
Need = Literal["compiler", "headers"]
OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True)
class Build:
    """What pip is asked for, and roughly what that takes. `note` is what a user should know before
    it is fetched."""

    requirement: str
    download_bytes: int
    disk_bytes: int
    note: Message | None = None


@dataclass(frozen=True)
class Engine:
    """An engine in an environment of its own.

    Of `builds` the first is installed that pip finds for this machine. `shared` are packages that a
    worker imports beside the engine: they come in the versions that FuseScope runs with, but for
    those of `beside`, which is what the engine needs and does not declare. Importing
    `module` proves that the engine is there; `version` is what it calls itself then, without a
    local part (+cpu). `minutes` is how long adding it takes on a fast connection. An engine that
    `takes_onnx` runs the models that ONNX Runtime does; one that `is_translated_to` runs what
    FuseScope makes of them operator by operator.
    """

    name: str
    what: Message
    version: str
    module: str
    builds: tuple[Build, ...]
    needs: tuple[Need, ...] = ()
    beside: tuple[str, ...] = ()
    shared: tuple[str, ...] = ("msgspec", "numpy")
    newest_python: tuple[int, int] = (3, 14)
    minutes: int = 2
    takes_onnx: bool = False
    is_translated_to: bool = False


# Sizes of the CPU builds were measured with Python 3.11 on Linux (x86-64), with all that they need;
# those with CUDA are rough.
_MB = 1_000_000
_TORCH = "2.13.0"
_TORCH_PLAIN = Build(f"torch=={_TORCH}", 220 * _MB, 1_010 * _MB)
_TORCH_CPU = Build(f"torch=={_TORCH}+cpu", 220 * _MB, 1_010 * _MB)
_TORCH_CUDA = Build(
    f"torch=={_TORCH}",
    3_000 * _MB,
    7_000 * _MB,
    Message(
        "The package index that pip uses here has no CPU build of PyTorch, so this is the build "
        "with CUDA libraries. Only --device cuda uses them."
    ),
)

ENGINES: Mapping[str, Engine] = MappingProxyType(
    {
        engine.name: engine
        for engine in (
            Engine(
                name="torch",
                what=Message("PyTorch with TorchInductor, its compiler"),
                version=_TORCH,
                module="torch",
                builds=((_TORCH_CPU, _TORCH_CUDA) if sys.platform == "linux" else (_TORCH_PLAIN,)),
                needs=("compiler", "headers"),
                is_translated_to=True,
            ),
            Engine(
                name="jax",
                what=Message("JAX with XLA, its compiler"),
                version="0.10.2",
                module="jax",
                minutes=1,
                builds=(Build("jax[cpu]==0.10.2", 140 * _MB, 650 * _MB),),
                is_translated_to=True,
            ),
            Engine(
                name="mindspore",
                what=Message("MindSpore with AKG, the compiler of its graph kernels"),
                version="2.10.0",
                module="mindspore",
                # It declares neither decorator, without which AKG does not start, nor that its
                # operators cannot convert numbers with NumPy 2.
                builds=(Build("mindspore==2.10.0", 880 * _MB, 2_940 * _MB),),
                beside=("decorator==5.3.1", "numpy==1.26.4"),
                newest_python=(3, 12),
                minutes=3,
            ),
            Engine(
                name="openvino",
                what=Message("OpenVINO, its plugin for the CPU"),
                version="2026.4.1",
                module="openvino",
                minutes=1,
                builds=(Build("openvino==2026.4.1", 80 * _MB, 290 * _MB),),
                takes_onnx=True,
            ),
        )
    }
)


# ONNX Runtime in an environment of the user's: what its workers import beside it.
OWN_ELSEWHERE = Engine(
    name=OWN,
    what=Message("ONNX Runtime"),
    version="",
    module="onnxruntime",
    builds=(),
    shared=("msgspec", "numpy", "google.protobuf", "ml_dtypes", "typing_extensions", "onnx"),
    takes_onnx=True,
)


def kind_of(runtime: str) -> str:
    """Return the engine that runs there: of `torch@nightly`, an environment of the user's, it is
    `torch`."""
    return runtime.partition(OF_THE_NAME)[0]


def is_named(runtime: str) -> bool:
    """Return whether it is an environment of the user's, by its name."""
    return OF_THE_NAME in runtime


def takes_onnx(runtime: str) -> bool:
    """Whether the engine of that name runs ONNX models; one that there is not does not."""
    kind = kind_of(runtime)
    return kind == OWN or (kind in ENGINES and ENGINES[kind].takes_onnx)


def engine_of(name: str) -> Engine:
    """The engine of that name, also of an environment of the user's (`torch@nightly`). Raises
    FuseScopeError where there is none."""
    kind = kind_of(name)
    if is_named(name) and kind == OWN:
        return OWN_ELSEWHERE
    if kind in ENGINES:
        return ENGINES[kind]
    names = (OWN, *ENGINES)
    raise FuseScopeError(
        "runtime_unknown",
        name=kind[:80],
        known=", ".join(names),
        nearest=nearest(kind, names),
    )
