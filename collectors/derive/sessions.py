"""The session of a variant, and what its settings are called in the experiment file."""

from __future__ import annotations

import ctypes
from pathlib import Path

import msgspec

from fusescope.collectors.kernels import compiled
from fusescope.collectors.runtimes import optimizers
from fusescope.collectors.runtimes.onnxruntime import GraphSession, Session
from fusescope.collectors.runtimes.segments import OpenedKernel, SegmentsSession
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.jobs import KernelCall, SessionSettings, Steps


def open_session(
    settings: SessionSettings,
    variant: Variant,
    *,
    profile: Path | None = None,
    dump: Path | None = None,
) -> Session:
    """A session of that variant which has run once.

    `profile` is a folder for its profile, `dump` where the graph goes that the engine made of
    the model (none is made of single nodes).
    """
    settings = own_settings(settings, variant)
    if profile is not None:
        profile.mkdir(parents=True, exist_ok=True)
    derived = settings.derived.get(variant.name)
    if derived is not None and derived.steps is not None:
        return SegmentsSession(settings, Path(derived.steps), open_kernel, profile=profile)
    if derived is not None:
        settings = msgspec.structs.replace(settings, model=derived.model)
    return GraphSession(
        settings,
        derived.optimization if derived is not None else variant.optimization,
        disabled=variant.disabled,
        profile=profile / "profile" if profile else None,
        dump=dump,
    )


def own_settings(settings: SessionSettings, variant: Variant) -> SessionSettings:
    """Those of the recording, with what the variant has of its own: threads, whether they spin, our
    operators, and the execution provider."""
    derived = settings.derived.get(variant.name)
    return msgspec.structs.replace(
        settings,
        threads=variant.threads or settings.threads,
        spin=variant.spin or settings.spin,
        kernel_library=derived.kernel_library if derived is not None else None,
        provider=derived.provider if derived is not None else "",
    )


def preload(settings: SessionSettings, variant: Variant) -> None:
    """Loads what the variant's sessions need beside the engine, which is not memory of theirs."""
    settings = own_settings(settings, variant)
    for library in (settings.custom_op_library, settings.kernel_library):
        if library is not None:
            ctypes.CDLL(library)
    derived = settings.derived.get(variant.name)
    if derived is not None and derived.steps is not None:
        plan = msgspec.json.decode(Path(derived.steps).read_bytes(), type=Steps)
        for step in plan.steps:
            if step.kernel is not None:
                compiled.load(step.kernel.source, plan.kernel_cache, settings.threads)


def open_kernel(call: KernelCall, machine_code: str, threads: int) -> OpenedKernel:
    """A kernel of our own, ready to be called, and the constant operands of this call."""
    return compiled.load(call.source, machine_code, threads), compiled.constants(call.constants)


def recorded_settings(
    settings: SessionSettings, variant: Variant
) -> dict[str, str | int | float | bool]:
    """What was set, for people who want to repeat it."""
    settings = own_settings(settings, variant)
    derived = settings.derived.get(variant.name)
    in_pieces = derived is not None and derived.steps is not None
    shared_pool = in_pieces and settings.spin
    return {
        "graph_optimization": derived.optimization if derived else variant.optimization,
        **_disabled(variant),
        **({"engine_release": variant.release} if variant.release else {}),
        "execution": "one session",
        "intra_op_threads": settings.threads,
        "inter_op_threads": 1,
        "intra_op_spinning": settings.spin,
        "thread_pool": "shared" if shared_pool else "one a session",
        "memory_arena": "shared by all sessions" if in_pieces else "one a session",
        "provider": "CPUExecutionProvider",
        **(derived.settings if derived else {}),
    }


def _disabled(variant: Variant) -> dict[str, str | int]:
    if variant.only:
        versions = " and ".join(optimizers.BY_VERSION)
        return {
            "disabled_optimizers": f"all listed but {variant.only}",
            "disabled_count": len(variant.disabled),
            "optimizers_listed_from": f"ONNX Runtime {versions}",
        }
    return {"disabled_optimizers": variant.without} if variant.without else {}
