"""Work: what a unit processes, as far as the name of its annotation says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Phase = Literal["prefill", "decode", "mixed"]

# SGLang: step[DECODE bs=32], step[EXTEND bs=15 toks=15360], step[prefill bs=2 toks=80]
_SGLANG = re.compile(r"step\[(\w{1,20}) bs=(\d{1,9})(?: toks=(\d{1,12}))?")
# vLLM: execute_context_1(888)_generation_0(0);
# execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)
_VLLM = re.compile(
    r"execute(?:_\d{1,12})?_context_(\d{1,9})\((?:sq)?(\d{1,12})[^)]{0,200}\)"
    r"_generation_(\d{1,9})\((?:sq)?(\d{1,12})"
)
_PHASES: dict[str, Phase] = {
    "decode": "decode",
    "extend": "prefill",
    "prefill": "prefill",
    "mixed": "mixed",
}


@dataclass(frozen=True)
class Work:
    """What one unit processes: its phase, how many sequences, how many tokens; None where its name
    does not say it."""

    phase: Phase | None = None
    batch: int | None = None
    tokens: int | None = None


NO_WORK = Work()


def work_of(name: str) -> Work:
    """Return what an annotation of a serving engine says of its step; NO_WORK of any other name.

    A decoding step computes one token a sequence, so its tokens are its sequences.
    """
    match = _SGLANG.search(name)
    if match:
        phase = _PHASES.get(match[1].lower())
        batch = int(match[2])
        tokens = int(match[3]) if match[3] else batch if phase == "decode" else None
        return Work(phase, batch, tokens)
    match = _VLLM.search(name)
    if match is None:
        return NO_WORK
    contexts, context_tokens, generations, generated = map(int, match.groups())
    if contexts and generations:
        return Work("mixed", contexts + generations, context_tokens + generated)
    if contexts:
        return Work("prefill", contexts, context_tokens)
    return Work("decode", generations, generated) if generations else NO_WORK
