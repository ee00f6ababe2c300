"""The session of a variant, and what its settings are called in the experiment file."""

from __future__ import annotations

from pathlib import Path

from collectors import optimizers
from collectors.jobs import Bench
from collectors.runtimes.eager import EagerSession
from collectors.runtimes.onnxruntime import GraphSession, Session
from collectors.variants import Variant


def open_session(
    bench: Bench, variant: Variant, *, profile: Path | None = None, dump: Path | None = None
) -> Session:
    """A session of that variant which has run once.

    `profile` is a folder for its profile, `dump` where the graph goes that the engine made of
    the model (none is made of single nodes).
    """
    if profile is not None:
        profile.mkdir(parents=True, exist_ok=True)
    if variant.per_node:
        return EagerSession(bench, profile=profile)
    return GraphSession(
        bench,
        variant.optimization,
        disabled=variant.disabled,
        profile=profile / "profile" if profile else None,
        dump=dump,
    )


def settings(bench: Bench, variant: Variant) -> dict[str, str | int | float | bool]:
    """What was set, for people who want to repeat it."""
    shared_pool = variant.per_node and bench.spin
    return {
        "graph_optimization": variant.optimization,
        **_disabled(variant),
        "execution": "one session a node" if variant.per_node else "one session",
        "intra_op_threads": bench.threads,
        "inter_op_threads": 1,
        "intra_op_spinning": bench.spin,
        "thread_pool": "shared" if shared_pool else "one a session",
        "memory_arena": "shared by all sessions" if variant.per_node else "one a session",
        "provider": "CPUExecutionProvider",
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
