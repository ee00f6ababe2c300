"""An allocator that keeps no memory, as the cause of idle time in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.messages import Message, Said, Shown

# Of one trace.
UNCACHED = Message(
    "The allocator keeps no memory: the device is idle for **{ns:duration}** {per}, "
    "{share:percent} of the time, while the host allocates or frees memory. {call:name} is called "
    "{n:count} times {per}, which takes the host {freeing:duration}: each call first waits for "
    "what the device still runs, and then the device is idle until the call returns. {next}"
)
# By the side whose allocator keeps none: the baseline's, the candidate's.
_OF_SIDE = (
    Message(
        "{sentence} The baseline's allocator keeps no memory: {call:name} is called {n:count} "
        "times {per}, which takes the host {freeing:duration}, and each call waits for the device."
    ),
    Message(
        "{sentence} The candidate's allocator keeps no memory: {call:name} is called {n:count} "
        "times {per}, which takes the host {freeing:duration}, and each call waits for the device. "
        "{next}"
    ),
)
_ON_BOTH = Message(
    "{sentence} On neither side the allocator keeps memory: {call:name} is called {n:count} times "
    "{per}, before {before_n:count}, and each call waits for the device. {next}"
)
_NEXT = Message(
    "With PyTorch, unset PYTORCH_NO_CUDA_MEMORY_CACHING and PYTORCH_NO_HIP_MEMORY_CACHING; where "
    "neither is set, see whether memory is too short for it to keep any, or the program empties "
    "its cache."
)


def uncached_values(values: Mapping[str, str | int | float]) -> dict[str, Shown]:
    """Return what the sentence of one trace needs beside its time; nothing where the allocator
    keeps memory."""
    if "frees" not in values:
        return {}
    return {
        "call": values["freed_by"],
        "n": values["frees"],
        "freeing": values["freeing_ns"],
        "next": _NEXT.of(),
    }


def with_uncached(sentence: Said, values: Mapping[str, str | int | float], per: Message) -> Said:
    """Return the sentence of a change of idle time, and on which side the allocator keeps no
    memory, where `values` say so."""
    sides = [side for side in (0, 1) if f"frees_{side}" in values]
    if not sides:
        return sentence
    side = sides[-1]
    told: dict[str, Shown] = {
        "sentence": sentence,
        "per": per,
        "call": values["freed_by"],
        "n": values[f"frees_{side}"],
        "freeing": values[f"freeing_{side}_ns"],
        "next": _NEXT.of(),
    }
    if len(sides) == 2:
        return _ON_BOTH.of(**told, before_n=values["frees_0"])
    return _OF_SIDE[side].of(**told)
