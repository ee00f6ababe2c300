"""An allocator that keeps no memory, as the cause of idle time in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.messages import Message, Said, Shown

# Of one trace.
UNCACHED = Message(
    "The allocator keeps no memory: the device is idle for **{ns:duration}** {per}, "
    "{share:percent} of the time, while the host allocates or frees memory. {call:name} is called "
    "{n:count} times {per}, which takes the host {freeing:duration}: each call first waits for "
    "what the device still runs, and then the device is idle until the call returns. {next}"
)
# Where calls take far longer in some units than in others, which the file does not explain.
_UNLIKE = 1.4
_EACH = {
    "step": Message(
        "A call takes {least:duration} on average in the fastest step, {most:duration} in the "
        "slowest. {next}"
    ),
    "run": Message(
        "A call takes {least:duration} on average in the fastest run, {most:duration} in the "
        "slowest. {next}"
    ),
    "repetition": Message(
        "A call takes {least:duration} on average in the fastest repetition, {most:duration} in "
        "the slowest. {next}"
    ),
}
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
    "{sentence} On neither side the allocator keeps memory: {call:name} is called {n:count} "
    "times {per} instead of {before_n:count}, and each call waits for the device. {next}"
)
_NEXT = Message(
    "With PyTorch, unset PYTORCH_NO_CUDA_MEMORY_CACHING and PYTORCH_NO_HIP_MEMORY_CACHING; where "
    "neither is set, see whether memory is too short for it to keep any, or the program empties "
    "its cache."
)


def uncached_values(values: Mapping[str, str | int | float], word: str) -> dict[str, Shown]:
    """Return what the sentence of one trace needs beside its time; nothing where the allocator
    keeps memory. `word` is what a unit is: a step, a run or a repetition."""
    if "frees" not in values:
        return {}
    least_ns, most_ns = float(values["least_free_ns"]), float(values["most_free_ns"])
    following = _NEXT.of()
    if most_ns > _UNLIKE * least_ns:
        following = _EACH[word].of(least=least_ns, most=most_ns, next=following)
    return {
        "call": values["freed_by"],
        "n": values["frees"],
        "freeing": values["freeing_ns"],
        "next": following,
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
