"""`fusescope gate`: fails where a condition on two variants is true."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.errors import FuseScopeError
from analysis.messages import say
from app.cli import streams
from app.cli.limits import LimitOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.gate.condition import Condition
    from analysis.gate.judged import Judged


def gate(
    given: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="An experiment file, or a model (an ONNX file or a built-in one), which is "
            "recorded first.",
        ),
    ],
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Fail where this is true: 'speedup < 0.97 with 95%', 'p50 slower 3%', "
            "'fusion.lost > 0' (docs/ci.md); may be given several times.",
        ),
    ] = None,
    base: Annotated[
        str, typer.Option("--base", "--baseline", help="Variant that is compared with.")
    ] = "",
    head: Annotated[
        str, typer.Option("--head", "--candidate", help="Variant that is judged.")
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
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the report of both to this file.")
    ] = None,
    limit: LimitOption = None,  # in force by now
) -> None:
    """Exit code 1 where a condition is true, 2 where one cannot be judged."""
    from analysis.gate.condition import parse_condition
    from app.cli.outputs import refuse_lost
    from app.cli.reading import is_model

    if not fail_if:
        raise FuseScopeError("gate_needs_condition")
    conditions = [parse_condition(text) for text in fail_if]
    files = {"--junit": junit, "--markdown": markdown, "--html": html}
    refuse_lost(files, [given])
    timed = next((one for one in conditions if not one.is_structural), None)
    if structure and timed is not None:
        raise FuseScopeError("gate_structure_only", condition=timed.text)
    path = given
    if is_model(given) or not given.exists():
        path = _recorded(given, (base, head), structure, threads, blocks, seconds, out)
    judged, names = _judged(path, conditions, (base, head), structure, html)
    _write(judged, names, junit, markdown)
    if json:
        from analysis.report.gate.gate_json import gate_json

        streams.write_json(gate_json(judged, *names))
    else:
        from app.cli.printing.gate import print_gate

        print_gate(judged, *names)
    _leave(judged)


def _recorded(
    given: Path,
    names: tuple[str, str],
    structure: bool,
    threads: int | None,
    blocks: int | None,
    seconds: float | None,
    out: Path | None,
) -> Path:
    """The file of a recording of both variants in the same blocks; with `structure` as short as one
    can be, since only its graphs are looked at."""
    from app.cli.recording import run as recording_run

    if not all(names):
        raise FuseScopeError("gate_needs_variants")
    try:
        from collectors.record import Recording
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    recording = Recording(
        model=str(given),
        out=out,
        variants=names,
        baseline=names[0],
        threads=threads,
        blocks=1 if structure else blocks,
        rounds=1 if structure else None,
        seconds=None if structure else seconds,
        own_pass=False,
        command=f"fusescope gate {given}",
    )
    path = recording_run.run(recording)
    streams.tell(say("Recorded: {file:name}", file=recording_run.relative(path)))
    return path


def _judged(
    path: Path,
    conditions: Sequence[Condition],
    names: tuple[str, str],
    structure: bool,
    html: Path | None,
) -> tuple[tuple[Judged, ...], tuple[str, str]]:
    """What came of the conditions, and the names of both sides. Writes the report, too."""
    from analysis.compare import compare
    from analysis.compare.choice import choose_sides
    from analysis.compare.groups.grouping import group_operators
    from analysis.gate.judgement import judge, judge_structure
    from app.cli.outputs import write_whole
    from app.cli.reading import read_given

    value = read_given(path)
    sides = choose_sides(value, None, names[0] or None, names[1] or None)
    shown = (sides[0].name, sides[1].name)
    if structure and html is None:
        return judge_structure(conditions, group_operators(*sides)), shown
    comparison = compare(*sides)
    if html is not None:
        from analysis.report.html import report_html

        data = report_html(comparison).encode()
        write_whole(html, data, option="--html", code="report_unwritable")
    return judge(conditions, comparison), shown


def _write(
    judged: Sequence[Judged], names: tuple[str, str], junit: Path | None, markdown: Path | None
) -> None:
    from app.cli.outputs import write_whole

    if junit is not None:
        from analysis.report.gate.junit import junit_xml

        data = junit_xml(judged, *names)
        write_whole(junit, data, option="--junit", code="report_unwritable")
    if markdown is not None:
        from analysis.report.gate.markdown import gate_markdown

        data = gate_markdown(judged, *names).encode()
        write_whole(markdown, data, option="--markdown", code="report_unwritable")


def _leave(judged: Sequence[Judged]) -> None:
    """Ends with 1 where a condition is true; raises FuseScopeError for what cannot be judged."""
    from analysis.gate.judgement import has_failed
    from analysis.wording.gate import REASONS

    if has_failed(judged):
        raise SystemExit(1)
    for one in judged:
        if one.outcome == "unknown" and one.reason is not None:
            reason = str(REASONS[one.reason]).rstrip(".。")
            raise FuseScopeError("gate_not_judged", condition=one.condition.text, reason=reason)
