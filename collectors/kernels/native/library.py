"""A library of operators out of the kernels of a model: its source, and the operators in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from fusescope.collectors.kernels.group import Group
from fusescope.collectors.kernels.native import translation

DOMAIN = "fusescope"
ATTRIBUTE = "program"  # of a node: which program it runs
SOURCE = "kernels.c"
_PARTS = ("ort_abi.h", "program.h", "operators.c")

# The threads are the engine's own, and its operators of such sizes use them, too.
GRAIN_BYTES = 1024 * 1024

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Library:
    """`files` are its sources by name; `programs` is which of its programs each group runs, by the
    name of the group."""

    files: Mapping[str, str]
    programs: Mapping[str, int]


def of(groups: Sequence[Group], shapes: Shapes, threads: int) -> Library:
    """A library for these groups; groups that do the same for the same shapes share a program.
    `shapes` are those of every operand."""
    entries: dict[tuple[object, ...], int] = {}
    texts: list[str] = []
    programs: dict[str, int] = {}
    for group in groups:
        program = group.program(over="", threads=threads, grain_bytes=GRAIN_BYTES)
        known = (*(tuple(shapes[name]) for name in group.operands), group.shape)
        key = (program.source, program.numbers, known)
        if key not in entries:
            entries[key] = len(entries)
            texts.append(_entry(program.source, program.numbers, program.scratch_floats, known,
                                entries[key]))  # fmt: skip
        programs[group.name] = entries[key]
    files = {name: _asset(name) for name in _PARTS}
    most = max(len(group.operands) for group in groups)
    every = [shapes[name] for group in groups for name in group.operands]
    axes = max(map(len, [*every, *(group.shape for group in groups)]))
    files[SOURCE] = _source(texts, [group.op_name for group in groups], most, axes)
    return Library(files, programs)


def _entry(
    source: str,
    numbers: Sequence[int],
    scratch_floats: int,
    shapes: Sequence[tuple[int, ...]],
    place: int,
) -> str:
    """The functions of one program, and the macro that is its entry in the table."""
    name = f"program_{place}"
    arrays = len(shapes) + bool(scratch_floats)
    text, parts = translation.program(source, arrays, numbers, name)
    sizes = [
        f"static const int64_t {name}_sizes_{n}[] = {{{', '.join(map(str, shape)) or '0'}}};"
        for n, shape in enumerate(shapes)
    ]
    listed = ", ".join(f"{{{len(shape)}, {name}_sizes_{n}}}" for n, shape in enumerate(shapes))
    told = f"{name}, {len(shapes) - 1}, {parts}, {scratch_floats}, {name}_shapes"
    return "\n".join(
        [
            text,
            *sizes,
            f"static const Shape {name}_shapes[] = {{{listed}}};",
            f"#define PROGRAM_{place} {{{told}}}",
            "",
        ]
    )


def _source(texts: Sequence[str], op_names: Sequence[str], most: int, axes: int) -> str:
    names = sorted(set(op_names))
    return "\n".join(
        [
            "/* Made by FuseScope for one recording. */",
            '#include "program.h"',
            "",
            translation.helpers(),
            "",
            *texts,
            "static const Program programs[] = {",
            *(f"  PROGRAM_{place}," for place in range(len(texts))),
            "};",
            "static const char *const operator_names[] = {",
            *(f'  "{name}",' for name in names),
            "};",
            f'#define DOMAIN_NAME "{DOMAIN}"',
            f"#define MOST_OPERANDS {most}",
            f"#define MOST_AXES {max(axes, 1)}",
            f"#define PROGRAMS {len(texts)}",
            f"#define OPERATORS {len(names)}",
            '#include "operators.c"',
            "",
        ]
    )


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
