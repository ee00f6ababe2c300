"""A command recorded from start to end, with times and traces that are known."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read_path
from fusescope.collectors.progress import Progress
from fusescope.collectors.record_command import CommandRecording
from tests.own_commands import SCRIPT, STEPS, recorded, script_in
from tests.patience import GIVE_UP_S

STEP = "step: {value} ms"


def recording(tmp_path: Path, text: str = SCRIPT, **options: Any) -> CommandRecording:
    script = script_in(tmp_path / "own", text)
    return CommandRecording(
        **{
            "command": str(script),
            "environment": ("FAST=0,1",),
            "names": ("slow", "fast"),
            "time": STEP,
            "out": tmp_path / "made.zip",
            "blocks": 5,
            **options,
        }
    )


def read(path: Path) -> Experiment:
    value = read_path(path)
    assert isinstance(value, Experiment)
    return value


def ran(tmp_path: Path) -> list[str]:
    return (tmp_path / "own" / "ran").read_text().splitlines()


def test_times_are_what_it_prints_and_traces_what_it_writes(tmp_path: Path) -> None:
    """8 ms against 4 ms in every block; 160 and 130 µs of operators in a step."""
    experiment = read(recorded(recording(tmp_path, profile_environment=("PROFILE=1",))))
    record = experiment.record
    assert record.names == ("slow", "fast") and record.settings.baseline == "slow"
    slow, fast = record.variants
    assert set(slow.samples.wall_ns) == {8_000_000} and set(fast.samples.wall_ns) == {4_000_000}
    assert sorted(zip(slow.samples.block, slow.samples.copy, strict=True)) == [
        (block, copy) for block in range(5) for copy in (1, 2)
    ]
    assert fast.samples.block == list(range(5))
    assert slow.settings == {"FAST": "0"}
    assert record.command is not None
    assert record.command.time == "printed" and record.command.profiled == "apart"
    assert record.command.line == "bench.sh"
    sides = [side_of_variant(experiment, name) for name in ("slow", "fast")]
    made = compare(*sides)
    assert made.verdict.outcome == "faster" and made.verdict.of == "command_printed"
    assert made.verdict.speedup == pytest.approx(2.0)
    total = made.ledger.reconciliation
    assert total.of == "run_span"  # the change of the steps in the traces, not of what is printed
    assert total.delta_ns == -30_000 and total.baseline_ns == 160_000
    assert len(made.baseline.trace.profiled_runs) == STEPS
    assert made.explanation is not None and made.explanation.unit.of_other_runs
    changes = {
        str(row.op_type): (row.per_run_ns_baseline, row.per_run_ns_candidate)
        for row in made.op_types.itertuples()
    }
    assert any(40_000 in pair for pair in changes.values())
    codes = {note.code for note in made.diagnostics}
    assert {"paired_command", "command_time", "command_traced"} <= codes
    assert "command_profiled" not in codes and "profiled_headline" not in codes


def test_runs_that_are_profiled_are_not_timed(tmp_path: Path) -> None:
    """Each variant runs once at first and once profiled; every block has it once, the baseline
    twice."""
    recorded(recording(tmp_path, profile_environment=("PROFILE=1",), profile_arguments="--p 'a b'"))
    lines = ran(tmp_path)
    assert [line for line in lines if "none" not in line] == ["0 1 --p a b", "1 1 --p a b"]
    assert lines.count("0 none ") == 1 + 2 * 5 and lines.count("1 none ") == 1 + 5
    blocks = [lines[4 + 3 * at : 7 + 3 * at] for at in range(5)]
    assert all(sorted(block) == ["0 none ", "0 none ", "1 none "] for block in blocks)
    assert len({tuple(block) for block in blocks}) > 1  # in drawn order


def test_without_a_switch_the_file_says_that_profiled_runs_were_timed(tmp_path: Path) -> None:
    experiment = read(recorded(recording(tmp_path)))
    assert experiment.record.command is not None
    assert experiment.record.command.profiled == "together"
    sides = [side_of_variant(experiment, name) for name in ("slow", "fast")]
    notes = {note.code: note.severity for note in compare(*sides).diagnostics}
    assert notes["command_profiled"] == "warning"
    assert [len(variant.profiles) for variant in experiment.record.variants] == [1, 1]


def test_the_wall_time_of_a_run_and_its_processor_time(tmp_path: Path) -> None:
    experiment = read(recorded(recording(tmp_path, time="wall")))
    samples = experiment.record.variant("slow").samples
    assert len(samples.wall_ns) == 10 and min(samples.wall_ns) > 0 and min(samples.cpu_ns) > 0
    sides = [side_of_variant(experiment, name) for name in ("slow", "fast")]
    assert compare(*sides).verdict.of == "command_wall"


def test_every_time_that_a_run_prints_counts(tmp_path: Path) -> None:
    text = SCRIPT + "\necho 'step: 6 ms'\n"
    experiment = read(recorded(recording(tmp_path, text, blocks=2, rounds=2)))
    fast = experiment.record.variant("fast").samples
    assert fast.wall_ns == [4_000_000, 6_000_000] * 4
    assert fast.round == [0, 1, 2, 3] * 2


def test_a_rate_that_is_large_is_kept_as_the_time_of_many(tmp_path: Path) -> None:
    """1 000 000 a second: 1 µs each, so a sample is that of 1 000."""
    text = SCRIPT + "\necho 'rate 1,000,000 items/s'\n"
    experiment = read(recorded(recording(tmp_path, text, time="rate {value} items/s", blocks=2)))
    assert set(experiment.record.variant("slow").samples.wall_ns) == {1_000_000}
    assert experiment.record.command is not None
    assert experiment.record.command.samples_of == 1000 and experiment.record.command.is_rate
    sides = [side_of_variant(experiment, name) for name in ("slow", "fast")]
    throughput = compare(*sides).figure("throughput")
    assert throughput.baseline.value == pytest.approx(1e6)


def test_the_folder_of_a_run_stands_in_its_words_and_settings(tmp_path: Path) -> None:
    text = '#!/bin/sh\ncp "$(dirname "$0")/trace-0.json" "$OUT/x.json"\necho "$1" > "$2/y.txt"\n'
    experiment = read(
        recorded(
            recording(
                tmp_path,
                text,
                command=f"{script_in(tmp_path / 'own', text)} hello {{trace_dir}}",
                environment=("OUT={trace_dir}",),
                names=(),
                trace="*.json",
                time="wall",
                blocks=1,
            )
        )
    )
    assert experiment.record.names == ("command",)
    assert [one.file for one in experiment.record.variants[0].profiles] == [
        "profiles/command/0/x.json"
    ]


def test_traces_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those that the run wrote: an older one of the same kind is none."""
    monkeypatch.chdir(tmp_path)
    Path("old-trace.json").write_text("{}")
    os.utime("old-trace.json", (1, 1))
    text = '#!/bin/sh\ncp "$(dirname "$0")/trace-0.json" new-trace.json\n'
    path = recorded(recording(tmp_path, text, trace="./*-trace.json", time="wall", blocks=1))
    (profile,) = read(path).record.variants[0].profiles
    assert profile.file == "profiles/slow/0/new-trace.json"


@pytest.mark.parametrize(
    ("text", "options", "code", "says"),
    [
        (
            "#!/bin/sh\necho one; echo /home/ann/x: bad >&2; exit 4\n",
            {},
            "command_failed",
            ": bad",
        ),
        ("#!/bin/sh\nexit 4\n", {}, "command_failed", "exit code 4: (no output). "),
        ("#!/bin/sh\nkill -9 $$\n", {}, "command_ended_by_signal", "9: (no output)"),
        ("#!/bin/sh\necho 'step: 4 ms'\n", {}, "command_no_trace", "FUSESCOPE_TRACE_DIR"),
        (SCRIPT, {"trace": "*.pb"}, "command_trace_unmatched", "trace.json"),
        (SCRIPT, {"trace": "a/../x"}, "command_trace_form", "a/../x"),
        (SCRIPT, {"time": "speed {value} ms"}, "command_time_not_printed", "step: 8 ms"),
        (SCRIPT + "echo t 0 ms", {"time": "t {value} ms"}, "command_time_impossible", "t 0 ms"),
        (SCRIPT.replace("cp ", "echo > /dev/null "), {}, "command_no_trace", "slow"),
        (
            '#!/bin/sh\necho nonsense > "$FUSESCOPE_TRACE_DIR/a.json"\necho step: 1 ms\n',
            {},
            "command_trace_unread",
            "slow",
        ),
        (SCRIPT, {"command": "no-such-program x"}, "command_not_found", "no-such-program"),
        (
            SCRIPT,
            {"command": "nothing-here", "shell": True},
            "command_not_found_by_shell",
            "nothing",
        ),
        (SCRIPT, {"baseline": "other"}, "baseline_not_recorded", "other"),
        (SCRIPT, {"profile_environment": ("A=1,2",)}, "command_profile_values", "A=1,2"),
        (SCRIPT, {"rounds": 0}, "number_out_of_range", "--rounds"),
        (SCRIPT, {"run_timeout": 0}, "number_too_small", "--timeout"),
    ],
)
def test_what_goes_wrong_is_said(
    tmp_path: Path, text: str, options: dict[str, Any], code: str, says: str
) -> None:
    with pytest.raises(FuseScopeError) as caught:
        recorded(recording(tmp_path, text, **options))
    assert caught.value.code == code
    assert says in str(caught.value)
    assert "/home/ann" not in str(caught.value)
    assert not (tmp_path / "made.zip").exists()


def test_a_shell_runs_the_command_only_when_asked(tmp_path: Path) -> None:
    script = script_in(tmp_path / "own")
    line = f"X=ignored {script} | sed s/step/STEP/"
    with pytest.raises(FuseScopeError) as caught:
        recorded(recording(tmp_path, command=line))
    assert caught.value.code == "command_not_found"
    path = recorded(
        recording(tmp_path, command=f"{script} \"$@\" | sed s/step/STEP/ #", shell=True,
                  time="STEP: {value} ms", blocks=1)
    )  # fmt: skip
    assert read(path).record.command is not None


def test_complete_blocks_are_kept_when_it_is_cancelled(tmp_path: Path) -> None:
    seen: list[Progress] = []

    def cancelled() -> bool:
        return sum(one.stage == "blocks" for one in seen) > 2

    slow = SCRIPT + '\n[ -f "$here/wait" ] && sleep 600\nexit 0\n'

    def watch(progress: Progress) -> None:
        seen.append(progress)
        if sum(one.stage == "blocks" for one in seen) > 2:
            (tmp_path / "own" / "wait").write_text("")

    path = recorded(recording(tmp_path, slow), on_progress=watch, cancelled=cancelled)
    record = read(path).record
    assert record.outcome.stopped == "interrupted" and record.outcome.blocks == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_command_and_keeps_its_blocks(
    tmp_path: Path, number: signal.Signals
) -> None:
    text = (
        SCRIPT
        + '\n[ $(wc -l < "$here/ran") -gt 9 ] && { echo $$ > "$here/pid"; sleep 600; }\nexit 0\n'
    )
    script = script_in(tmp_path / "own", text)
    child = subprocess.Popen(
        [sys.executable, "-m", "fusescope.app.cli.main", "collect", "--command", str(script),
         "--env", "FAST=0,1", "--time", STEP, "--out", "made.zip"],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    until = time.monotonic() + GIVE_UP_S
    pid = tmp_path / "own" / "pid"
    while not pid.exists() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.1)
    child.send_signal(number)
    _, errors = child.communicate(timeout=GIVE_UP_S)
    assert b"Traceback" not in errors
    record = read(tmp_path / "made.zip").record
    assert record.outcome.stopped == "interrupted" and record.outcome.blocks == 2
    state = Path(f"/proc/{pid.read_text().strip()}/stat")
    assert not state.exists() or " Z " in state.read_text()
