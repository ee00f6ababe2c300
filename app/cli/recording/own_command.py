"""`fusescope collect --command`: what its options say, and the recording that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli import interruption
from fusescope.app.cli.recording import run as recording_run
from fusescope.app.cli.recording.command import typed_command


def check_options(
    is_command: bool, of_models: Mapping[str, bool], of_commands: Mapping[str, bool]
) -> None:
    """Raises FuseScopeError for an option, by name, that was given and belongs to the other kind of
    recording."""
    for option, given in (of_models if is_command else of_commands).items():
        if given and is_command:
            raise FuseScopeError("option_of_models", option=option)
        if given:
            raise FuseScopeError("option_of_commands", option=option)


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
