"""A command that stands in for a user's own: it prints a known time and writes a known trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fusescope.analysis.readers.input.folder import folder_sources
from fusescope.analysis.readers.written import trace_of
from fusescope.analysis.redaction import text_without_paths
from fusescope.collectors.progress import Progress
from fusescope.collectors.record_command import CommandRecording, record_command

STEPS = 3
# Operators of a step with their µs: 160 in three of them, 130 in two.
SLOW = (("aten::addmm", 100), ("aten::mul", 40), ("aten::relu", 20))
FAST = (("aten::addmm", 100), ("aten::mul_relu", 30))
SCRIPT = """\
#!/bin/sh
here=$(dirname "$0")
printf '%s %s %s\\n' "${FAST-unset}" "${PROFILE-none}" "$*" >> "$here/ran"
if [ "${TRACE-1}" = 1 ]; then
    cp "$here/trace-${FAST:-0}.json" "$FUSESCOPE_TRACE_DIR/trace.json"
fi
if [ "${FAST:-0}" = 1 ]; then echo "step: 4 ms"; else echo "step: 8 ms"; fi
"""


def trace(operators: tuple[tuple[str, int], ...]) -> str:
    """A trace of torch.profiler with STEPS steps of these operators, one after the other."""
    at = 1_000
    events: list[dict[str, Any]] = []

    def add(name: str, category: str, start: int, dur: int) -> None:
        events.append(
            {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur}
            | {"args": {"External id": len(events) + 1}}
        )

    for step in range(STEPS):
        start = at
        for name, dur in operators:
            add(name, "cpu_op", at, dur)
            at += dur
        add(f"ProfilerStep#{step}", "user_annotation", start, at - start)
        at += 10
    return json.dumps({"schemaVersion": 1, "traceEvents": events})


def script_in(folder: Path, text: str = SCRIPT) -> Path:
    """The command, with the traces that it writes beside it."""
    folder.mkdir(exist_ok=True)
    for number, operators in enumerate((SLOW, FAST)):
        (folder / f"trace-{number}.json").write_text(trace(operators))
    script = folder / "bench.sh"
    script.write_text(text)
    script.chmod(0o755)
    return script


def recorded(
    recording: CommandRecording,
    enough: Callable[[object], bool] | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Path:
    """The file of a recording, made as the command line makes it."""
    return record_command(
        recording,
        on_progress=on_progress,
        check_trace=lambda folder: trace_of(folder_sources(folder), folder.name) and None,
        redact=text_without_paths,
        enough=enough,
        cancelled=cancelled,
    )
