"""`fusescope collect --command`: what its options say, and the recording that comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli import interruption
from fusescope.app.cli.recording import run as recording_run
from fusescope.app.cli.recording.command import typed_command

OF_COMMANDS = {
    "--env", "--arg", "--names", "--trace", "--time", "--unit", "--profile-env", "--profile-arg",
    "--shell",
}  # fmt: skip
OF_BOTH = {
    "--command", "--baseline", "--blocks", "--rounds", "--seconds", "--seed", "--timeout", "--out",
    "--progress-json",
}  # fmt: skip


def check_options(context: typer.Context) -> None:
    """Raises FuseScopeError for an option that was given and belongs to the other kind of
    recording: every one that is not listed here belongs to models."""
    given = [
        one.opts[0]
        for one in context.command.params
        if one.opts[0].startswith("-") and _is_typed(context, one.name or "")
    ]
    is_command = "--command" in given
    for option in given:
        if option in OF_BOTH:
            continue
        if option not in OF_COMMANDS and is_command:
            raise FuseScopeError("option_of_models", option=option)
        if option in OF_COMMANDS and not is_command:
            raise FuseScopeError("option_of_commands", option=option)


def _is_typed(context: typer.Context, parameter: str) -> bool:
    """Return whether it stands on the command line, also with the value that it has without."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def run(*, run_timeout: float | None, progress_json: bool, **options: Any) -> Path:
    """Records, and returns the path of the file; `options` are those of a CommandRecording. Ctrl-C,
    SIGTERM and a hang-up keep complete blocks, and end the command."""
    interruption.heed()  # before anything is imported, which tries the temporary folder
    try:
        from fusescope.analysis.redaction import text_without_paths
        from fusescope.collectors.record_command import CommandRecording, record_command
    except ImportError as error:
        raise recording_run.missing_package(error) from None

    recording = CommandRecording(
        **options,
        run_timeout=CommandRecording.run_timeout if run_timeout is None else run_timeout,
        typed=typed_command(),
    )
    with recording_run.showing(progress_json) as on_progress:
        return record_command(
            recording,
            on_progress=on_progress,
            check_trace=_check_trace,
            redact=text_without_paths,
            enough=recording_run.is_decided,
        )


def _check_trace(folder: Path) -> None:
    from fusescope.analysis.readers.input.folder import folder_sources
    from fusescope.analysis.readers.written import trace_of

    trace_of(folder_sources(folder), folder.name)
