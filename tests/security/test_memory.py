"""Hostile files must not take memory beyond their size: tiny values that decoding makes large.

Each of these took more than twenty times its size at one time. The bound is that of docs/limits.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fusescope.analysis.readers.packed.tables import MAGIC

ROOT = Path(__file__).resolve().parents[2]
TIMES = 10
MB = 10

READ = """
import json, resource, sys
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

size, cases = json.load(sys.stdin)
before = peak()
for name, (head, piece, tail) in cases.items():
    data = (head + piece * (size // len(piece)) + tail).encode()
    try:
        read(Source(name, data, Limits(events=1_000_000)))
        said = "read"
    except FuseScopeError as error:
        said = error.text
    print(json.dumps([name, peak() - before, said]), flush=True)
"""
DISPATCH = '{"start_timestamp":1,"end_timestamp":2,"dispatch_info":{"dispatch_id":1}}'
ROCPROF = f'"buffer_records":{{"kernel_dispatch":[{DISPATCH}]}}}}]}}'
KERNEL = (
    '{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"pid":0,"tid":7,'
    '"args":{"device":0,"stream":7,"correlation":1}}'
)
NODE = '{"cat":"Node","ph":"X","name":"a_kernel_time","ts":1,"dur":1}'
META = (
    '{"format":"kineto","tool":"t","version":null,"device":null,"file_name":"a","sha256":"",'
    '"variant":null,"files":[],"redactable":{}}'
)
LAYER = '{"count":1},{"name":"a","timeMs":1,"averageMs":1,"percentage":1}'


CASES = {
    "events of nothing": (f"[{NODE}", ",{}", "]"),
    "numbers for events, cut short": (f"[{NODE}", ",0", ""),
    "lists for a dispatch": (
        (
            '{"rocprofiler-sdk-tool":[{"buffer_records":{"kernel_dispatch":[{"start_timestamp":1,'
            '"end_timestamp":2,"dispatch_info":[0'
        ),
        ",[]",
        "]}]}}]}",
    ),
    "symbols of nothing": (
        '{"rocprofiler-sdk-tool":[{"kernel_symbols":[0',
        ",{}",
        f"],{ROCPROF}",
    ),
    "counters of nothing": (
        (
            '{"rocprofiler-sdk-tool":[{"callback_records":{"counter_collection":[{"dispatch_data":'
            '{"dispatch_info":{"dispatch_id":1}},"records":[0'
        ),
        ",{}",
        f"]}}]}},{ROCPROF}",
    ),
    "arguments of MindSpore": (
        '[{"ph":"X","name":"a","ts":"1","dur":"1","tid":1,"args":{"type":"HostCpuOps","x":[0',
        ",[]",
        "]}}]",
    ),
    "arguments of MindSpore before 2.4": (
        '[{"ph":"X","name":"a","ts":1,"dur":1,"tid":519,"pid":0,"args":{"fullname":"a/b","x":[0',
        ",[]",
        "]}}]",
    ),
    "layers of nothing": (f"[{LAYER}", ",{}", "]"),
    "layers that end nowhere": (f"[{LAYER},\n", '{"a":[\n', ""),
    "devices of nothing": (
        '{"schemaVersion":1,"deviceProperties":[0',
        ",{}",
        f'],"traceEvents":[{KERNEL}]}}',
    ),
    "nodes of OpenVINO": (
        '{"detailed_performance":{"nodes":[{"name":"a","status":"EXECUTED","real_time":1}',
        ",{}",
        "]}}",
    ),
    "data of a report": (
        (
            '<!doctype html><meta name="generator" content="FuseScope report">'
            '<script id="fusescope-data">'
        ),
        "AAAA",
        "</script>",
    ),
    "names in the tables of a report": (
        (
            f'{MAGIC.decode()}{{"meta":{META},"notes":[],"runs":{{"rows":0,"columns":[{{"name":"kind",'
            '"dtype":"category","form":"i1","texts":["file"'
        ),
        ',""',
        ']}]},"operators":{"rows":0,"columns":[]},"calls":{"rows":0,"columns":[]}}\n',
    ),
    "layers of an engine": ('{"Layers":[{"Name":"a","LayerType":"b"}', ",0", "]}"),
}


@pytest.mark.exhaustive  # the limits behind it are in test_files.py
def test_r8_what_is_small_in_a_file_stays_small_in_memory() -> None:
    """One process for all: the most that it ever took lies below the bound."""
    done = subprocess.run(
        [sys.executable, "-c", READ],
        cwd=ROOT,
        input=json.dumps([MB * 2**20, CASES]),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, _, _ in told] == list(CASES)
    for name, grown, said in told:
        assert grown < TIMES * MB * 2**20, (name, grown // 2**20, said)
