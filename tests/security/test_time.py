"""Hostile files must not take time or memory beyond their size.

Each input took hours, or all memory, at one time. The alarm stands for 'never ends'.
"""

from __future__ import annotations

import gzip
import signal
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.operators import flops
from fusescope.analysis.operators.kernel_names import kernel_type
from fusescope.analysis.operators.short_names import short_name
from fusescope.analysis.readers import read
from fusescope.analysis.readers.amd.rows import kernel_name
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.nvidia.tensorrt_graph import layout_of
from fusescope.analysis.readers.xla.hlo import read_module
from fusescope.analysis.trace import Trace

_NEVER_S = 60
BLANKS = b" " * 60_000


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("this never ends")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(_NEVER_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"a" + BLANKS + b"b\n1,2\n", id="blanks in a column head"),
        pytest.param(b'{"a":' + BLANKS + b"1}", id="blanks in JSON"),
        pytest.param(b"Total Time,duration,a" + BLANKS[:7000] + b"b\n1,2\n", id="nsys head"),
        pytest.param(b"<?xml?>" + b"<!---->" * 5000 + b"execTimeMcs", id="comments of XML"),
    ],
)
def test_no_reader_is_held_up_by_its_first_look(data: bytes) -> None:
    with pytest.raises(FuseScopeError):
        read(Source("a file", data))


def test_empty_lines_behind_a_damaged_row() -> None:
    rows = b'[{"count": 2}, {"name": "a", "timeMs": 1, "averageMs": 0.5}, {"name": x'
    trace = read(Source("profile.json", rows + b"\n" * 200_000))
    assert "cut_short" in {note.code for note in trace.diagnostics}


def test_lists_that_end_nowhere_in_many_rows() -> None:
    rows = b'[{"count": 2}, {"name": "a", "timeMs": 1, "averageMs": 0.5},' + b'\n{"a": [' * 400
    trace = read(Source("profile.json", rows + b"12," * 3_000_000))
    assert isinstance(trace, Trace) and len(trace.calls) == 1
    assert {note.code: note.count for note in trace.diagnostics}["bad_event"] == 399


@pytest.mark.parametrize(
    "take",
    [
        lambda: kernel_type("a" + " " * 3_990 + "b"),
        lambda: kernel_name("a" + " " * 300_000 + "b"),
        lambda: layout_of("a-" * 300_000),
        lambda: flops.parse_shapes("a" * 300_000),
        lambda: short_name("igemm_fwd__nhwc_a1_" + "_nhwc_a1_" * 20_000),
        lambda: short_name("Cijk_Alik_Bljk_BBS" + "_MT1x1" * 20_000),
        lambda: short_name("sm90_xmma_gemm_bf16" + "_tn_" * 20_000),
        lambda: short_name("cutlass_80" + "_align8" * 20_000),
    ],
)
def test_long_names(take: Callable[[], object]) -> None:
    take()


def test_a_gzip_file_of_very_many_members() -> None:
    empty = gzip.compress(b"")
    assert Source("a", empty * 200_000 + gzip.compress(b"end")).content == b"end"


@pytest.mark.parametrize("size", [0, 1, 4096, 2**20 - 1, 2**20, 2**20 + 1, 5 * 2**20])
def test_gzip_members_of_every_size(size: int) -> None:
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    packed = gzip.compress(data, mtime=0)
    source = Source("a", packed + packed)
    assert source.content == data * 2
    assert source.notes == ()
    zeros = Source("zeros", gzip.compress(b"\0" * size))
    assert zeros.content == b"\0" * size and zeros.notes == ()


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    return _number(number << 3 | 2) + _number(len(value)) + value


def _instruction(name: bytes, opcode: bytes, *fields: bytes) -> bytes:
    return _field(2, b"".join((_field(1, name), _field(2, opcode), *fields)))


def _module(*computations: bytes) -> memoryview:
    return memoryview(_field(1, b"".join(_field(3, one) for one in computations)))


def test_fusions_that_hold_each_other_in_a_long_row() -> None:
    count = 20_000
    computations = (
        _instruction(b"f%d" % n, b"fusion", _field(35, n), _field(38, n + 1))
        + _instruction(b"a%d" % n, b"add", _field(35, count + n))
        + _field(5, n)
        for n in range(1, count)
    )
    found = read_module(_module(*computations))
    members = found["f1"].members
    assert members is not None and members.members == ("add",)


def test_operands_one_by_one_and_shapes_that_many_name() -> None:
    operands = b"".join(_field(36, 1) for _ in range(300_000))
    shape = _field(3, _field(2, 11) + _field(3, 7) * 2)
    huge = _field(3, _field(2, 11) + _field(3, 7) * 100_000)
    found = read_module(
        _module(
            _instruction(b"p", b"parameter", _field(35, 1), shape)
            + _instruction(b"h", b"parameter", _field(35, 2), huge)
            + _instruction(b"n", b"add", _field(35, 3), operands, shape)
            + _instruction(b"m", b"add", _field(35, 4), _field(36, 2), shape)
            + _field(5, 1)
        )
    )
    assert found["n"].inputs.count("float32[7,7]") == 64
    assert found["h"].outputs == "" and found["m"].inputs == ""
