"""Computations of a compiled program as the wire has them: instructions, and where they come from.

Field numbers are those of XLA's published `hlo.proto` and `xla_data.proto`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fusescope.analysis.readers.building.trace_tables import shape_text
from fusescope.analysis.readers.xla.protobuf import Value, fields, signed, text

# XLA's primitive types, by their number.
_DTYPES: Mapping[int, str] = {
    1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16",
    8: "uint32", 9: "uint64", 10: "float16", 11: "float32", 12: "float64", 15: "complex64",
    16: "bfloat16", 18: "complex128", 19: "float8_e5m2", 20: "float8_e4m3fn", 21: "int4",
    22: "uint4",
}  # fmt: skip
_TUPLE = 13
_MAX_INSTRUCTIONS = 500_000
_MAX_FRAMES = 200_000
_MAX_DIMS = 32
MAX_TENSORS = 64
_MAX_TEXT = 4096  # of one operator's inputs or outputs; one that needs more has no known tensors
_MAX_NAME = 1024  # bytes of a name of the framework or of a file


@dataclass
class Raw:
    """An instruction. `operands` are ids in its computation, `called` those of computations;
    `number` is which parameter, or which element of a tuple it is."""

    name: str = ""
    opcode: str = ""
    outputs: str = ""
    operands: list[int] = field(default_factory=list)
    called: list[int] = field(default_factory=list)
    op_name: str = ""
    number: int = 0
    file: str = ""
    line: int = 0
    frame: int = 0


@dataclass
class Computation:
    """Instructions by id, operands before those that read them; the id of the result."""

    instructions: dict[int, Raw] = field(default_factory=dict)
    id: int = 0
    root: int = 0


@dataclass(frozen=True)
class Location:
    """A place in the source: file, name of the function, line and column; 0 for one not known."""

    file: str
    function: str
    line: int
    column: int


@dataclass
class Frames:
    """Stack frames of the program, the first is number 1: each a place and what called it."""

    locations: list[Location] = field(default_factory=list)
    frames: list[tuple[int, int]] = field(default_factory=list)

    def stack(self, frame: int, limit: int) -> list[Location]:
        """The places from the innermost outwards; a frame's caller has a lower number."""
        found: list[Location] = []
        while 0 < frame <= len(self.frames) and len(found) < limit:
            place, parent = self.frames[frame - 1]
            if 0 < place <= len(self.locations):
                found.append(self.locations[place - 1])
            frame = parent if parent < frame else 0
        return found


@dataclass
class Module:
    """A compiled program. `entry` is the id of the computation that runs, `schedule` the order of
    its instructions by id, empty where the file does not have it."""

    computations: dict[int, Computation] = field(default_factory=dict)
    frames: Frames = field(default_factory=Frames)
    entry: int = 0
    schedule: list[int] = field(default_factory=list)


def read_computations(proto: memoryview) -> Module:
    """The program in an `HloProto`; what is beyond the limit is left out. Raises DamagedMessage."""
    made = Module()
    count = 0
    schedules: dict[int, list[int]] = {}
    for number, module in messages(proto):
        if number != 1:
            continue
        for part, value in fields(module):
            if isinstance(value, int):
                made.entry = value if part == 6 else made.entry
            elif part == 17:
                made.frames = _frames(value)
            elif part == 7:
                schedules = _schedules(value)
            elif part == 3:
                computation = _computation(value)
                count += len(computation.instructions)
                if count > _MAX_INSTRUCTIONS:
                    return made
                made.computations[computation.id] = computation
    made.schedule = schedules.get(made.entry, [])
    return made


def together(tensors: Sequence[str]) -> str:
    """Canonical text of several tensors; '' where it is too long to be of use."""
    text = "; ".join(text for text in tensors if text)
    return text if len(text) <= _MAX_TEXT else ""


def _computation(data: memoryview) -> Computation:
    made = Computation()
    for number, value in fields(data):
        if number == 2 and not isinstance(value, int):
            raw, identity = _raw(value)
            made.instructions[identity] = raw
        elif number == 5:
            made.id = signed(value) or 0
        elif number == 6:
            made.root = signed(value) or 0
    return made


def _schedules(data: memoryview) -> dict[int, list[int]]:
    """The order of the instructions of each computation, by their ids."""
    found: dict[int, list[int]] = {}
    for _, entry in messages(data):
        computation, order = 0, list[int]()
        for number, value in fields(entry):
            if isinstance(value, int):
                computation = value if number == 1 else computation
            elif number == 2:
                order = [one for n, ids in fields(value) if n == 1 for one in _numbers(ids)]
        found[computation] = order[:_MAX_INSTRUCTIONS]
    return found


def _raw(data: memoryview) -> tuple[Raw, int]:
    raw, identity = Raw(), 0
    for number, value in fields(data):
        if number == 1:
            raw.name = text(value) or ""
        elif number == 2:
            raw.opcode = text(value) or ""
        elif number == 3 and not isinstance(value, int):
            raw.outputs = _tensors(value)
        elif number == 7 and not isinstance(value, int):
            _metadata(value, raw)
        elif number in (9, 13):
            raw.number = signed(value) or raw.number
        elif number == 35:
            identity = signed(value) or 0
        elif number == 36:
            raw.operands += _numbers(value)
        elif number == 38:
            raw.called += _numbers(value)
    return raw, identity


def _metadata(data: memoryview, raw: Raw) -> None:
    for number, value in fields(data):
        if number == 2 and not isinstance(value, int):
            raw.op_name = text(value[:_MAX_NAME]) or ""
        elif number == 3 and not isinstance(value, int):
            raw.file = text(value[:_MAX_NAME]) or ""
        elif number == 4:
            raw.line = signed(value) or 0
        elif number == 15:
            raw.frame = signed(value) or 0


def _frames(data: memoryview) -> Frames:
    made = Frames()
    files: list[str] = []
    functions: list[str] = []
    for number, value in messages(data):
        if max(len(made.frames), len(made.locations), len(files), len(functions)) > _MAX_FRAMES:
            break
        if number in (1, 2):
            (files if number == 1 else functions).append(text(value[:_MAX_NAME]) or "")
            continue
        told = {n: signed(v) or 0 for n, v in fields(value)}
        if number == 3:
            file, function = told.get(1, 0), told.get(2, 0)
            made.locations.append(
                Location(
                    files[file - 1] if 0 < file <= len(files) else "",
                    functions[function - 1] if 0 < function <= len(functions) else "",
                    told.get(3, 0),
                    told.get(4, 0),
                )
            )
        elif number == 4:
            made.frames.append((told.get(1, 0), told.get(2, 0)))
    return made


def _tensors(shape: memoryview) -> str:
    """A `ShapeProto` as canonical text; the elements of a flat tuple one after the other."""
    dtype, sizes = 0, []
    parts: list[memoryview] = []
    for number, value in fields(shape):
        if number == 2:
            dtype = signed(value) or 0
        elif number == 3:
            sizes += _numbers(value)
        elif number == 4 and not isinstance(value, int):
            parts.append(value)
    if dtype == _TUPLE:
        return together([_array(part) for part in parts[:MAX_TENSORS]])
    return _text(dtype, sizes)


def _array(shape: memoryview) -> str:
    dtype, sizes = 0, []
    for number, value in fields(shape):
        if number == 2:
            dtype = signed(value) or 0
        elif number == 3:
            sizes += _numbers(value)
    return _text(dtype, sizes)


def _text(dtype: int, sizes: Sequence[int]) -> str:
    name = _DTYPES.get(dtype)
    is_known = name is not None and len(sizes) <= _MAX_DIMS
    return shape_text([name or ""], [",".join(map(str, sizes))]) if is_known else ""


def _numbers(value: Value) -> list[int]:
    """A repeated integer: one number, or many packed into bytes."""
    if isinstance(value, int):
        return [signed(value) or 0]
    found, at = [], 0
    number = shift = 0
    for at in range(len(value)):
        byte = value[at]
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80 or shift > 63:
            found.append(signed(number & (2**64 - 1)) or 0)
            number = shift = 0
    return found


def messages(data: memoryview) -> list[tuple[int, memoryview]]:
    """The fields of a message that are messages or texts themselves."""
    return [(number, value) for number, value in fields(data) if not isinstance(value, int)]
