"""How the values of messages are written: formats of placeholders, and things that are counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fusescope.analysis import units
from fusescope.analysis.messages import language

# {speedup:factor}, {took:duration}; None is a dash. Numbers and units are the same everywhere.
FORMATS: Mapping[str, Callable[[Any], str]] = {
    "name": str,  # from a trace, a file or the user: never interpreted
    "count": units.count,
    "number": units.small_number,
    "percent": units.percent,
    "change": lambda value: units.percent(value, signed=True),
    "points": units.points,
    "factor": units.factor,
    "duration": units.duration,
    "signed_duration": lambda value: units.duration(value, signed=True),
    "bytes": units.data_size,
    "capacity": units.capacity,
    "signed_bytes": lambda value: units.data_size(value, signed=True),
    "rate": units.rate,
    "bandwidth": units.bandwidth,
    "megabytes": units.megabytes,
    "flop_rate": units.flop_rate,
    "op_rate": units.op_rate,
    "intensity": lambda value: f"{value:.3g}",  # operations per byte
    "tenths": lambda value: units.grouped(value, ".1f"),
}


def noun(one: str, many: str) -> tuple[str, str]:
    """Something that is counted: 'one block', '{n} blocks', as the catalogue has them."""
    return one, many


# {kept:blocks} is '1 block' or '8 blocks'.
NOUNS: Mapping[str, tuple[str, str]] = {
    "blocks": noun("{n:count} block", "{n:count} blocks"),
    "runs": noun("{n:count} run", "{n:count} runs"),
    "repetitions": noun("{n:count} repetition", "{n:count} repetitions"),
    "operators": noun("{n:count} operator", "{n:count} operators"),
    # Operators by name, of which each is executed once or many times.
    "distinct": noun("{n:count} distinct operator", "{n:count} distinct operators"),
    "groups": noun("{n:count} group", "{n:count} groups"),
    "executions": noun("{n:count} execution", "{n:count} executions"),
    "iterations": noun("{n:count} iteration", "{n:count} iterations"),
    "files": noun("{n:count} file", "{n:count} files"),
    "lanes": noun("{n:count} lane", "{n:count} lanes"),
    "threads": noun("{n:count} thread", "{n:count} threads"),
    "rows": noun("{n:count} row", "{n:count} rows"),
    "events": noun("{n:count} event", "{n:count} events"),
    "devices": noun("{n:count} device", "{n:count} devices"),
    "ranks": noun("{n:count} rank", "{n:count} ranks"),
    "processes": noun("{n:count} process", "{n:count} processes"),
    "rounds": noun("{n:count} round", "{n:count} rounds"),
    "cores": noun("{n:count} core", "{n:count} cores"),
    "names": noun("{n:count} name", "{n:count} names"),
    "op_types": noun("{n:count} op type", "{n:count} op types"),
    "samples": noun("{n:count} sample", "{n:count} samples"),
    "classes": noun("{n:count} class", "{n:count} classes"),
    "variants": noun("{n:count} variant", "{n:count} variants"),
    "profiled_runs": noun("{n:count} profiled run", "{n:count} profiled runs"),
    "unprofiled_runs": noun("{n:count} un-profiled run", "{n:count} un-profiled runs"),
    "steps": noun("{n:count} step", "{n:count} steps"),
    "axes": noun("{n:count} axis", "{n:count} axes"),
    "tensors": noun("{n:count} tensor", "{n:count} tensors"),
}


def shown(value: object, form: str) -> str:
    """`value` as that format writes it; without one, as it is."""
    if value is None:
        return units.MISSING
    if form in NOUNS:
        told = language.translated(*NOUNS[form], {"n": value})
        return told.replace("{n:count}", units.count(value))  # type: ignore[arg-type]
    return FORMATS[form](value) if form else str(value)
