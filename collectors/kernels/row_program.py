"""The source of a kernel that computes rows: passes over a row, each up to the next reduction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fusescope.collectors.kernels import compiled, formulas
from fusescope.collectors.kernels.formulas import Formula
from fusescope.collectors.kernels.group import size

LONGEST = 1 << 16  # values of a row: beyond, what is kept of it leaves the caches

# The sum may be taken in any order, and so in wide vectors. Nothing else may: exp would lose what
# its two-part ln(2) keeps. The largest value of a row is taken by eight that do not wait for each
# other; NaN is never the largest, and comes back with the sum.
_REDUCTIONS = """
@njit(error_model="numpy", fastmath={"contract", "reassoc"})
def total(line):
    found = F(0.0)
    for i in range(len(line)):
        found += line[i]
    return found


@njit(error_model="numpy")
def largest(line):
    whole = len(line) // 8
    m0 = m1 = m2 = m3 = m4 = m5 = m6 = m7 = F(-np.inf)
    for block in range(whole):
        part = line[8 * block : 8 * block + 8]
        m0 = part[0] if part[0] > m0 else m0
        m1 = part[1] if part[1] > m1 else m1
        m2 = part[2] if part[2] > m2 else m2
        m3 = part[3] if part[3] > m3 else m3
        m4 = part[4] if part[4] > m4 else m4
        m5 = part[5] if part[5] > m5 else m5
        m6 = part[6] if part[6] > m6 else m6
        m7 = part[7] if part[7] > m7 else m7
    found = max(max(max(m0, m1), max(m2, m3)), max(max(m4, m5), max(m6, m7)))
    rest = line[8 * whole :]
    for i in range(len(rest)):
        found = rest[i] if rest[i] > found else found
    return found
"""


@dataclass(frozen=True)
class Operand:
    """How an array is read: `varies` along the row or has one value for all of it; `terms` say
    where that of a row is, each (rows that share it, how many there are, values between two)."""

    varies: bool
    terms: tuple[tuple[int, int, int], ...]
    is_full: bool

    @classmethod
    def of(cls, shape: Sequence[int], whole: Sequence[int]) -> Operand | None:
        """Of an array of `shape` that broadcasts to `whole`; None where it does not."""
        if len(shape) > len(whole):
            return None
        aligned = (*(1,) * (len(whole) - len(shape)), *shape)
        if any(have not in (1, wanted) for have, wanted in zip(aligned, whole, strict=True)):
            return None
        varies = aligned[-1] > 1
        terms: list[tuple[int, int, int]] = []
        axis = len(whole) - 1
        while axis > 0:
            end = axis
            while axis > 0 and aligned[axis - 1] == whole[axis - 1]:
                axis -= 1
            if size(aligned[axis:end]) > 1:
                inner = size(whole[end:-1])
                terms.append((inner, size(whole[axis:end]), size(aligned[end:])))
            axis -= axis == end
        return cls(varies, tuple(terms), aligned == tuple(whole))

    @property
    def is_single(self) -> bool:
        """Whether it is one value for all rows."""
        return not self.varies and not self.terms

    def place(self) -> str:
        """Where the values of `row` start."""
        return " + ".join(
            f"row // {shared} % {count} * {stride}" for shared, count, stride in self.terms
        ) or "0"  # fmt: skip


@dataclass(frozen=True)
class Step:
    """A formula of values, or the sum or the largest of a row. `arguments` are numbers: of an
    operand, or -1 - n for the result of step n. `is_full` where it has a value for each of a row.
    """

    kind: Literal["map", "sum", "max"]
    formula: Formula
    arguments: tuple[int, ...]
    is_full: bool


def source(
    steps: Sequence[Step],
    operands: Sequence[Operand],
    length: int,
    over: int | None,
    *,
    is_parallel: bool,
) -> tuple[str, int]:
    """The module, and how many rows of scratch memory a part needs. `over` is the number of the
    operand that the result is written over, None for an array of its own."""
    body = _Body(steps, operands)
    passes = [line for made in body.passes() for line in made]
    lines = body.kept
    target = "y" if over is None else f"a{over}"
    arrays = [*(["y"] if over is None else []), *(f"a{n}" for n in range(len(operands)))]
    if lines:
        arrays.append("scratch")
    told = ", ".join([*arrays, "first", "last", "part"])
    numbers = ["rows", *(["parts"] if is_parallel else [])]
    signature = ", ".join([*["float32[::1]"] * len(arrays), *["intp"] * len(numbers)])
    passed = ", ".join([*arrays, "{}", "{}", "{}"])
    if is_parallel:
        ends = ("part * rows // parts", "(part + 1) * rows // parts", "part")
        calls = ["for place in prange(parts):", "    part = np.intp(place)"]
        calls.append(f"    run({passed.format(*ends)})")
    else:
        calls = [f"run({passed.format('0', 'rows', '0')})"]
    starts = [f"(part * {lines} + {n}) * {length}" for n in range(lines)]
    text = [
        "# Made by FuseScope; it is made again when it is missing.",
        "import numpy as np",
        "from numba import njit, prange",
        formulas.HELPERS,
        _REDUCTIONS,
        "",
        '@njit(error_model="numpy", fastmath={"contract"})',
        f"def run({told}):",
        *(f"    k{n} = scratch[{at} : {at} + {length}]" for n, at in enumerate(starts)),
        *(f"    v{n} = a{n}[0]" for n, one in enumerate(operands) if one.is_single),
        "    for row in range(first, last):",
        *(f"        {line}" for line in _starts(operands, length)),
        f"        out = {target}[row * {length} : (row + 1) * {length}]",
        *(f"        {line.replace('LENGTH', str(length))}" for line in passes),
        "",
        "",
        f'@njit(["void({signature})"], cache=True, parallel={is_parallel})',
        f"def {compiled.ENTRY}({', '.join([*arrays, *numbers])}):",
        *(f"    {line}" for line in calls),
        "",
    ]
    return "\n".join(text), lines


def _starts(operands: Sequence[Operand], length: int) -> Iterator[str]:
    """What a row reads of every operand: a slice, so that loops start at 0, or a value."""
    for n, operand in enumerate(operands):
        if operand.varies:
            yield f"p{n} = {operand.place()}"
            yield f"x{n} = a{n}[p{n} : p{n} + {length}]"
        elif not operand.is_single:
            yield f"v{n} = a{n}[{operand.place()}]"


class _Body:
    """The passes over one row. A value that a later pass reads again is kept in scratch memory:
    computing it twice could take an exp."""

    def __init__(self, steps: Sequence[Step], operands: Sequence[Operand]) -> None:
        self._steps = steps
        self._operands = operands
        self._pass_of: dict[int, int] = {}
        self._line_of: dict[int, int] = {}
        ends = [n for n, step in enumerate(steps) if step.kind != "map"]
        self._ends = [*ends, len(steps) - 1]
        for place, end in enumerate(self._ends):
            self._claim(end, place)
        for n, step in enumerate(steps):
            for at in step.arguments:
                before = -1 - at
                if at < 0 and steps[before].is_full:
                    later = self._pass_of[n] > self._pass_of[before]
                    if later or step.kind != "map":
                        self._line_of.setdefault(before, len(self._line_of))

    @property
    def kept(self) -> int:
        """Rows of scratch memory."""
        return len(self._line_of)

    def passes(self) -> Iterator[list[str]]:
        """The lines of each, and what follows from its reduction."""
        for place, end in enumerate(self._ends):
            mine = [n for n, at in self._pass_of.items() if at == place]
            inside = sorted(n for n in mine if self._steps[n].is_full)
            singles = sorted(n for n in mine if not self._steps[n].is_full and n != end)
            lines = [self._assigned(n) for n in singles]
            if inside:
                lines += ["for i in range(LENGTH):", *self._loop(inside, end)]
            step = self._steps[end]
            if step.kind != "map":
                [at] = step.arguments
                line = f"x{at}" if at >= 0 else f"k{self._line_of[-1 - at]}"
                lines.append(f"t{end} = {'total' if step.kind == 'sum' else 'largest'}({line})")
            yield lines

    def _claim(self, n: int, place: int) -> None:
        """Puts a step, and all that it needs and that is in no pass yet, into this one."""
        if n in self._pass_of:
            return
        for at in self._steps[n].arguments:
            if at < 0:
                self._claim(-1 - at, place)
        self._pass_of[n] = place

    def _loop(self, inside: Sequence[int], end: int) -> Iterator[str]:
        """The lines for one value of the row."""
        read = {at for n in inside for at in self._steps[n].arguments}
        for at in sorted(read):
            if at >= 0 and self._operands[at].varies:
                yield f"    v{at} = x{at}[i]"
            elif at < 0 and self._steps[-1 - at].is_full and -1 - at not in inside:
                yield f"    t{-1 - at} = k{self._line_of[-1 - at]}[i]"
        for n in inside:
            yield f"    {self._assigned(n)}"
            if n in self._line_of:
                yield f"    k{self._line_of[n]}[i] = t{n}"
        if self._steps[end].kind == "map":
            yield f"    out[i] = t{end}"

    def _assigned(self, n: int) -> str:
        names = [f"v{at}" if at >= 0 else f"t{-1 - at}" for at in self._steps[n].arguments]
        return f"t{n} = {self._steps[n].formula(names)}"
