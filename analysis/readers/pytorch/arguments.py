"""Arguments of operators, kernels and launches as columns.

Events whose arguments have the types that Kineto writes come with them decoded; of others (ids in
quotes, a list for a number) they are read one by one, as `Args` has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from fusescope.analysis.readers.building.numbering import Numbered
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.pytorch.event import args_of, number, plain
from fusescope.analysis.readers.pytorch.spans import NONE, Floats, InputTexts, MessageTexts

_RAW = msgspec.Raw()
_NAN = math.nan
_Id = int | str | None
_MAX_ID_CHARS = 18
# Numbers of a kernel, by the name of the column.
KERNEL_NUMBERS = {
    "registers per thread": "registers",
    "shared memory": "shared_memory",
    "blocks per SM": "blocks_per_sm",
    "warps per SM": "warps_per_sm",
    "bytes": "moved",
    "memory bandwidth (GB/s)": "bandwidth",
    "est. achieved occupancy %": "occupancy",
}
MESSAGE = ("sent", "received")  # elements that each rank gives and gets
# The number of the node of the backward pass that an operator makes or is; of a backward operator
# the number of the thread of its forward operator, 0 of a forward one.
AUTOGRAD = ("autograd_number", "forward_thread")
KERNEL_LABELS = ("device", "stream", "grid", "block")


class PlainArgs(msgspec.Struct, gc=False, frozen=True):
    """What `Args` holds, with the types that Kineto writes today."""

    external_id: _Id = msgspec.field(default=NONE, name="External id")
    external_id_2021: _Id = msgspec.field(default=NONE, name="external id")
    correlation: _Id = NONE
    input_dims: msgspec.Raw = msgspec.field(default=_RAW, name="Input Dims")
    input_dims_2021: msgspec.Raw = msgspec.field(default=_RAW, name="Input dims")
    input_types: msgspec.Raw = msgspec.field(default=_RAW, name="Input type")
    concrete_inputs: msgspec.Raw = msgspec.field(default=_RAW, name="Concrete Inputs")
    flops: float = _NAN
    device: msgspec.Raw = _RAW
    stream: msgspec.Raw = _RAW
    grid: msgspec.Raw = _RAW
    block: msgspec.Raw = _RAW
    kernel: msgspec.Raw = _RAW
    registers: float = msgspec.field(default=_NAN, name="registers per thread")
    shared_memory: float = msgspec.field(default=_NAN, name="shared memory")
    blocks_per_sm: float = msgspec.field(default=_NAN, name="blocks per SM")
    warps_per_sm: float = msgspec.field(default=_NAN, name="warps per SM")
    moved: float = msgspec.field(default=_NAN, name="bytes")
    bandwidth: float = msgspec.field(default=_NAN, name="memory bandwidth (GB/s)")
    occupancy: float = msgspec.field(default=_NAN, name="est. achieved occupancy %")
    sent: float = msgspec.field(default=_NAN, name="In msg nelems")
    received: float = msgspec.field(default=_NAN, name="Out msg nelems")
    dtype: msgspec.Raw = _RAW
    collective: msgspec.Raw = msgspec.field(default=_RAW, name="Collective name")
    group_size: msgspec.Raw = msgspec.field(default=_RAW, name="Group size")
    group: msgspec.Raw = msgspec.field(default=_RAW, name="Process Group Name")
    group_ranks: msgspec.Raw = msgspec.field(default=_RAW, name="Process Group Ranks")
    sequence: msgspec.Raw = msgspec.field(default=_RAW, name="Seq")
    autograd_number: _Id = msgspec.field(default=NONE, name="Sequence number")
    forward_thread: _Id = msgspec.field(default=NONE, name="Fwd thread id")
    source: msgspec.Raw = msgspec.field(default=_RAW, name="Src Rank")
    target: msgspec.Raw = msgspec.field(default=_RAW, name="Dst Rank")


_MAX_ELEMENTS = 2**60
Given = Sequence[msgspec.Raw] | Sequence[PlainArgs]


class Arguments:
    """Arguments of many events; what their numbers stand for is the same for all of them."""

    def __init__(self) -> None:
        self.inputs: Numbered = Numbered()  # of InputTexts
        self.labels: Numbered = Numbered()  # of bytes
        self.messages: Numbered = Numbered()  # of MessageTexts
        self._odd: Numbered = Numbered()  # ids that are not plain numbers

    def launches(self, raws: Given) -> dict[str, np.ndarray]:
        """Columns of the calls that launch: ids, and the `kernel` that ROCm names, as a label."""
        args = _decoded(raws)
        columns = self._ids(args)
        columns["kernel"] = self.labels.of([bytes(a.kernel) for a in args])
        return columns

    def ops(self, raws: Given) -> dict[str, np.ndarray]:
        """Columns of operators: ids, `inputs`, `flops`, AUTOGRAD, and MESSAGE of collectives."""
        args = _decoded(raws)
        texts: list[InputTexts] = [
            (
                bytes(a.input_dims) or bytes(a.input_dims_2021),
                _types(a),
                bytes(a.concrete_inputs),
            )
            for a in args
        ]
        columns = self._ids(args)
        columns["inputs"] = self.inputs.of(texts)
        columns["flops"] = _floats(args, "flops")
        for name in AUTOGRAD:
            columns[name] = self.ids([getattr(a, name) for a in args])
        for name in MESSAGE:
            columns[name] = _floats(args, name)
        columns["message"] = self._messages(args)
        return columns

    def kernels(self, raws: Given) -> dict[str, np.ndarray]:
        """Columns of kernels, copies and fills: ids, KERNEL_LABELS and KERNEL_NUMBERS."""
        args = _decoded(raws)
        columns = self._ids(args)
        for name in KERNEL_LABELS:
            columns[name] = self.labels.of([bytes(getattr(a, name)) for a in args])
        for name in KERNEL_NUMBERS.values():
            columns[name] = _floats(args, name)
        columns["message"] = self._messages(args)
        return columns

    def ids(self, values: Sequence[object]) -> Ints:
        """Ids as numbers: NONE where there is none, below it what is no plain number."""
        if set(map(type, values)) == {int}:
            try:
                found = np.array(values, dtype="int64")
            except OverflowError:
                found = np.array([-2])
            if not len(found) or found.min() >= NONE and found.max() < 10**_MAX_ID_CHARS:
                return found
        return np.array([self._id(value) for value in values], dtype="int64")

    def _messages(self, args: Sequence[Any]) -> Ints:
        """Return what each says of a collective as numbers, NONE for nothing."""
        places = [at for at, a in enumerate(args) if bytes(a.collective) or bytes(a.group_size)]
        found = np.full(len(args), NONE, dtype="int64")
        if places:
            found[places] = self.messages.of([_message(args[at]) for at in places])
        return found

    def _ids(self, args: Sequence[Any]) -> dict[str, np.ndarray]:
        external = self.ids([a.external_id for a in args])
        if (external == NONE).any():
            of_2021 = self.ids([a.external_id_2021 for a in args])
            external = np.where(external == NONE, of_2021, external)
        return {
            "external": np.where(external == 0, NONE, external),  # 0 stands for none
            "correlation": self.ids([a.correlation for a in args]),
        }

    def _id(self, value: object) -> int:
        if value is None or (type(value) is int and value == NONE):
            return NONE
        if isinstance(value, msgspec.Raw):
            text = plain(value)
        else:
            text = str(value).encode("utf-8", "replace")
        if not text:
            return NONE
        if text.isdigit() and len(text) <= _MAX_ID_CHARS and (text[:1] != b"0" or text == b"0"):
            return int(text)
        return NONE - 1 - self._odd[text]


def _types(args: Any) -> bytes:
    """The types of the inputs; a collective's list of tensors has that of its message."""
    types = bytes(args.input_types)
    dtype = bytes(args.dtype)
    return types.replace(b'"TensorList"', dtype) if dtype[:1] == b'"' else types


def _message(args: Any) -> MessageTexts:
    """Name, size, group, ranks, number, source, target and type as the file has them, and the
    elements of the larger side, below 0 where it does not say them."""
    sent, received = (getattr(args, name) for name in MESSAGE)
    if isinstance(sent, msgspec.Raw):
        sent, received = number(sent), number(received)
    counts = tuple(-1.0 if n is None or not 0 <= n < _MAX_ELEMENTS else n for n in (sent, received))
    return (
        (
            plain(args.collective), plain(args.group_size), plain(args.group),
            plain(args.group_ranks), plain(args.sequence), plain(args.source), plain(args.target),
            plain(args.dtype),
        ),
        max(counts),
    )  # fmt: skip


def _decoded(args: Sequence[msgspec.Raw] | Sequence[PlainArgs]) -> Sequence[Any]:
    """The arguments of each event, none where it has none."""
    if args and isinstance(args[0], PlainArgs):
        return args
    return [args_of(raw) for raw in args]  # type: ignore[arg-type]


def _floats(args: Sequence[Any], name: str) -> Floats:
    """A number of each, NaN for none."""
    values = [getattr(a, name) for a in args]
    if values and isinstance(values[0], msgspec.Raw):
        values = [number(value) for value in values]
    return np.array(values, dtype="float64")


Batch = Callable[[Given], dict[str, np.ndarray]]
