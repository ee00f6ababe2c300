"""Small files of many formats, with any text as name and any text in the place of a number."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Row = tuple[str, str, str]  # name, start in µs, duration in µs: the numbers as they stand


@dataclass(frozen=True)
class Kind:
    """A format: its reader, and how a file with these rows is written."""

    reader: str
    is_json: bool
    write: Callable[[Sequence[Row]], bytes]
    has_start: bool = True

    def file(self, *rows: Row) -> bytes:
        """A file with two sound rows and these."""
        return self.write([("first", "1000", "5"), ("second", "1010", "7"), *rows])


def _ort(rows: Sequence[Row]) -> bytes:
    nodes = [
        f'{{"cat":"Node","pid":1,"tid":1,"dur":{dur},"ts":{start},"ph":"X",'
        f'"name":{json.dumps(f"{name}_kernel_time")},"args":{{"op_name":"Relu",'
        '"provider":"CPUExecutionProvider","node_index":"0"}}'
        for name, start, dur in rows
    ]
    run = '{"cat":"Session","pid":1,"tid":1,"dur":100000,"ts":900,"ph":"X","name":"model_run"}'
    return ("[" + ",\n".join([*nodes, run]) + "]").encode("utf-8", "surrogatepass")


def _kineto(rows: Sequence[Row]) -> bytes:
    events = [
        f'{{"ph":"X","cat":"kernel","name":{json.dumps(name)},"pid":0,"tid":7,"ts":{start},"dur":{dur},'
        '"args":{"device":0,"stream":7,"correlation":1}}'
        for name, start, dur in rows
    ]
    body = ",\n".join(events)
    head = '{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU"}],"traceEvents":['
    return f"{head}{body}]}}".encode("utf-8", "surrogatepass")


def _chrome(rows: Sequence[Row]) -> bytes:
    events = [
        f'{{"ph":"X","name":{json.dumps(name)},"pid":1,"tid":1,"ts":{start},"dur":{dur}}}'
        for name, start, dur in rows
    ]
    return ('{"traceEvents":[' + ",\n".join(events) + "]}").encode("utf-8", "surrogatepass")


def _tensorrt(rows: Sequence[Row]) -> bytes:
    layers = [
        f'{{"name":{json.dumps(name)},"timeMs":{dur},"averageMs":{dur},"percentage":10}}'
        for name, _, dur in rows
    ]
    return ('[{"count":10},' + ",\n".join(layers) + "]").encode("utf-8", "surrogatepass")


def _table(
    heads: str, cells: Callable[[Row], list[str]], separator: str = ","
) -> Callable[[Sequence[Row]], bytes]:
    def write(rows: Sequence[Row]) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
        writer.writerow(heads.split(separator))
        writer.writerows(cells(row) for row in rows)
        return text.getvalue().encode("utf-8", "replace")

    return write


KERNEL_HEADS = (
    "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),"
    "Duration(us),Wait Time(us),Block Dim"
)

KINDS = (
    Kind("onnxruntime", True, _ort),
    Kind("kineto", True, _kineto),
    Kind("chrome_trace", True, _chrome),
    Kind("tensorrt_profile", True, _tensorrt, has_start=False),
    Kind(
        "ascend_kernel_details",
        False,
        _table(
            KERNEL_HEADS,
            lambda row: ["1", "4294967295", "7", "2", row[0], "Relu", "dynamic", "AI_VECTOR_CORE",
                         f"{row[1]}\t", row[2], "0", "8"],
        ),
    ),
    Kind(
        "rocprof",
        False,
        _table(
            "Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,"
            "End_Timestamp",
            lambda row: ["KERNEL_DISPATCH", "1", "1", "1", row[0], "1", row[1],
                         _end(row[1], row[2])],
        ),
    ),
)  # fmt: skip


def _end(start: str, dur: str) -> str:
    """The end of a row whose duration is `dur`; hostile text stands as it is."""
    try:
        return str(int(start) + int(dur))
    except ValueError:
        return dur
