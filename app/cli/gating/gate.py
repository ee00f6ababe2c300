"""`fusescope gate`: fails where a condition on two variants, models or traces is true."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli import streams
from fusescope.app.cli.limits import LimitOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fusescope.analysis.gate.judged import Judged
    from fusescope.app.cli.gating.judging import Outcome


def gate(
    given: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="An experiment file, a model (an ONNX file or a built-in one), which is recorded "
            "first, or a trace.",
        ),
    ],
    other: Annotated[
        Path | None,
        typer.Argument(
            metavar="NEW",
            help="Another model: whether it is slower than FILE, or has lost fusions of it. With "
            "--structure also a recording. Or another trace: what makes it slower.",
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Fail where this is true: 'speedup < 0.97 with 95%', 'p50 slower 3%', "
            "'fusion.lost > 0', of two traces 'explanation.slower 5%' (docs/ci.md); may be given "
            "several times.",
        ),
    ] = None,
    base: Annotated[
        str,
        typer.Option(
            "--base",
            "--baseline",
            help="Variant that is compared with, a release (onnxruntime==1.20.1), another model's "
            "file, or a baseline of traces that was saved.",
        ),
    ] = "",
    head: Annotated[
        str, typer.Option("--head", "--candidate", help="Variant, release or model that is judged.")
    ] = "",
    structure: Annotated[
        bool,
        typer.Option(
            "--structure",
            help="Judge graphs alone: exact, on any machine, in seconds.",
        ),
    ] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of a recording.")] = None,
    blocks: Annotated[int | None, typer.Option(min=1, help="Blocks of a recording.")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Time budget of a recording, in seconds.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where the recording goes: a file or a folder.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md).")] = False,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write a pull request comment to this file."),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            metavar="FILE.zip",
            help="Keep what the candidate runs, without a time, for a later gate in place of FILE.",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the report of both to this file.")
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave out user names, host names and absolute paths.")
    ] = False,
    limit: LimitOption = None,  # in force by now
) -> None:
    """Exit code 1 where a condition is true, 2 where one cannot be judged."""
    from fusescope.analysis.gate.condition import parse_condition
    from fusescope.app.cli.gating.judging import Asked, is_recording, judge_one
    from fusescope.app.cli.gating.models import models_of
    from fusescope.app.cli.gating.releases import judge_releases
    from fusescope.app.cli.gating.traces import are_traces, judge_traces
    from fusescope.app.cli.gating.two_models import Given, judge_structures, judge_timed
    from fusescope.app.cli.given.saved import saved_baseline
    from fusescope.app.cli.writing.outputs import refuse_lost

    if not fail_if and (keep is None or junit or markdown or html or json):
        raise FuseScopeError("gate_needs_condition")
    conditions = [parse_condition(text) for text in fail_if or ()]
    files = {"--junit": junit, "--markdown": markdown, "--html": html, "--keep": keep}
    refuse_lost(files, [given, other])
    timed = next((one for one in conditions if not one.is_structural), None)
    if structure and timed is not None:
        raise FuseScopeError("gate_structure_only", condition=timed.text)
    are_releases = "==" in base and "==" in head and not is_recording(given)
    asked = Asked(base, head, structure, threads, blocks, seconds, out, redact)
    timing = {"--blocks": blocks, "--seconds": seconds, "--threads": threads, "--html": html}
    if other is None and base and is_recording(given):
        saved = saved_baseline(base, given)
        if saved is not None:
            given, other, base = saved, given, ""
    pair = models_of(given, other, base, head)
    if other is not None and not structure and are_traces(given, other):
        refused: dict[str, object] = {
            "--base": base, "--head": head, "--out": out, "--keep": keep, "--blocks": blocks,
            "--seconds": seconds, "--threads": threads,
        }  # fmt: skip
        outcome = judge_traces(given, other, conditions, refused, html, redact=redact)
    elif structure and other is None and are_releases:
        refused = {**timing, "--out": out, "--keep": keep}
        outcome = judge_releases(given, base, head, conditions, refused, redact=redact)
    elif pair is not None and structure:
        refused = {"--base": base if other is not None else "", **timing}
        two = Given(*pair, head if other is not None else "", refused, redact)
        outcome = judge_structures(two, conditions, out, keep)
    elif pair is not None:
        refused = {"--base": base, "--head": head} if other is not None else {}
        outcome = judge_timed(
            Given(*pair, refused=refused, redact=redact), conditions, asked, html, keep
        )
    else:
        outcome = judge_one(given, conditions, asked, html, keep)
    if not conditions:
        return
    _write(outcome, junit, markdown)
    if json:
        from fusescope.analysis.report.gate.gate_json import gate_json

        streams.write_json(gate_json(outcome.judged, *outcome.names, outcome.misses))
    else:
        from fusescope.app.cli.printing.gate import print_gate

        print_gate(outcome.judged, *outcome.names, outcome.misses)
    _leave(outcome.judged)


def _write(outcome: Outcome, junit: Path | None, markdown: Path | None) -> None:
    from fusescope.app.cli.writing.outputs import write_whole

    if junit is not None:
        from fusescope.analysis.report.gate.junit import junit_xml

        data = junit_xml(outcome.judged, *outcome.names)
        write_whole(junit, data, option="--junit", code="report_unwritable")
    if markdown is not None:
        from fusescope.analysis.report.gate.markdown import gate_markdown

        text = gate_markdown(outcome.judged, *outcome.names, outcome.misses)
        data = _step_summary(markdown) + text.encode()
        write_whole(markdown, data, option="--markdown", code="report_unwritable")


def _step_summary(path: Path) -> bytes:
    """What the file holds already where it is the summary of a step of a CI job: several programs
    of the step write to it."""
    if os.environ.get("GITHUB_STEP_SUMMARY") != str(path):
        return b""
    with contextlib.suppress(OSError):
        return path.read_bytes()
    return b""


def _leave(judged: Sequence[Judged]) -> None:
    """Ends with 1 where a condition is true; raises FuseScopeError for what cannot be judged."""
    from fusescope.analysis.gate.judgement import has_failed
    from fusescope.analysis.wording.gate import REASONS

    if has_failed(judged):
        raise SystemExit(1)
    for one in judged:
        if one.outcome == "unknown" and one.reason is not None:
            reason = str(REASONS[one.reason]).rstrip(".。")
            raise FuseScopeError("gate_not_judged", condition=one.condition.text, reason=reason)
