"""What the variants of OpenVINO are called and set to, known without OpenVINO."""

from __future__ import annotations

MARKED = "marked"
HINTS = {"latency": "LATENCY", "throughput": "THROUGHPUT"}
BF16 = "bf16"
_THREADS = "threads:"


def precision_of(variant: str) -> str:
    """OpenVINO's hint: float32 unless the variant is about another, for the engine would choose a
    shorter one wherever the CPU has it."""
    return "bf16" if variant == BF16 else "f32"


def threads_of(variant: str) -> int:
    """The threads that a variant has by its name; 0 where it has as many as the recording."""
    return int(variant.removeprefix(_THREADS)) if variant.startswith(_THREADS) else 0
