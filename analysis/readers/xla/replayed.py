"""Kernels of a command buffer: which instruction of its program each is of.

XLA records parts of a program into a graph of the device and launches that as a whole, so its
kernels name the buffer in place of an instruction. They run in the order in which the program is
scheduled. A generated kernel has the name of its instruction, or of one before it whose code is
equal; kernels of libraries are known by their place between those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fusescope.analysis.operators.members import Members
from fusescope.analysis.readers.building.replays import adds_up, placed
from fusescope.analysis.readers.xla.hlo import Instruction
from fusescope.analysis.readers.xla.xspace import Event, Plane, Programs, fact_of, stats_of

_NUMBER = re.compile(r"(?:[._]\d{1,9})+\Z")
_MAX_KERNELS = 200_000  # of one launch

# Names of instructions of one kernel, and what is known of them together.
Told = tuple[str, Instruction]


@dataclass(frozen=True)
class _Kernel:
    """An event of a stream: where it stands, when it began, and its name."""

    at: int
    start_ns: int
    name: str


def replayed(plane: Plane, programs: Programs, events: Sequence[Event]) -> dict[int, Told]:
    """What is known of events of one stream whose own instruction the program does not have, by
    their place in `events`. Nothing of a launch whose kernels do not fit the program."""
    launches: dict[tuple[str, object], list[_Kernel]] = {}
    for at, event in enumerate(events):
        fact = fact_of(plane, event.kind)
        stats = {**fact.stats, **stats_of(plane, event.stats)}
        program, launch = stats.get("program_id"), stats.get("correlation_id")
        name = stats.get("hlo_op")
        if launch is None or event.start_ns is None or not isinstance(name, str):
            continue
        if programs.find(program, name) is None:
            key = (str(program), launch)
            launches.setdefault(key, []).append(_Kernel(at, event.start_ns, fact.name))
    schedules: dict[str, Sequence[Told]] = {}
    known: dict[tuple[str, ...], Mapping[int, Told]] = {}
    found: dict[int, Told] = {}
    for (program, _), kernels in launches.items():
        kernels = sorted(kernels[:_MAX_KERNELS], key=lambda kernel: kernel.start_ns)
        if program not in schedules:
            schedules[program] = programs.scheduled(program)
        names = tuple(kernel.name for kernel in kernels)
        if (program, *names) not in known:
            known[program, *names] = _aligned(names, schedules[program])
        for place, told in known[program, *names].items():
            found[kernels[place].at] = told
    return found


def _aligned(names: Sequence[str], schedule: Sequence[Told]) -> dict[int, Told]:
    """Place among the kernels -> what it is of; nothing where there is not exactly one way."""
    fused = [at for at, (_, one) in enumerate(schedule) if one.opcode == "fusion"]
    bases = [_base(schedule[at][0]) for at in fused]
    made = set(bases)
    generated = [at for at, name in enumerate(names) if _base(name) in made]
    wanted = [_base(names[at]) for at in generated]
    begins = [
        begin
        for begin in range(len(bases) - len(wanted) + 1)
        if wanted and bases[begin : begin + len(wanted)] == wanted
    ]
    if len(begins) != 1:
        return {}
    turns = fused[begins[0] : begins[0] + len(wanted)]
    found = {at: schedule[turn] for at, turn in zip(generated, turns, strict=True)}
    before = fused[begins[0] - 1] if begins[0] else -1
    rest = fused[begins[0] + len(wanted) :]
    after = rest[0] if rest else len(schedule)
    edges = list(zip([-1, *generated], [*generated, len(names)], strict=True))
    spans = list(zip([before, *turns], [*turns, after], strict=True))
    for place, ((left, right), (first, last)) in enumerate(zip(edges, spans, strict=True)):
        kernels = [adds_up(name) for name in names[left + 1 : right]]
        calls = list(schedule[first + 1 : last])
        count = len(kernels) - sum(kernels)
        if count <= len(calls) and place == 0:  # what is before may not be in the buffer
            calls = calls[len(calls) - count :]
        elif count <= len(calls) and place == len(edges) - 1:
            calls = calls[:count]
        for at, of in enumerate(placed(calls, kernels), start=left + 1):
            if of:
                found[at] = _together(of)
    return found


def _base(name: str) -> str:
    """'triton_softmax.30', and 'triton_softmax_30' of a kernel -> 'triton_softmax'."""
    return _NUMBER.sub("", name)


def _together(told: Sequence[Told]) -> Told:
    """One instruction as it is; several as one that has the originals of all."""
    if len(told) == 1:
        return told[0]
    members = [one.members for _, one in told]
    joined = None
    if all(own is not None and own.kind == "parts" for own in members):
        names = dict.fromkeys(name for own in members if own is not None for name in own.members)
        joined = Members(tuple(names), "parts")
    first = told[0][1]
    opcode = first.opcode if all(one.opcode == first.opcode for _, one in told) else ""
    return told[0][0], Instruction(opcode, "", "", joined)
