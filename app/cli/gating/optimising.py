"""Having the installed engine optimise models, for gates on structure alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import say
from fusescope.app.cli import interruption
from fusescope.app.cli.recording import run as recording_run
from fusescope.app.cli.recording.command import typed_command
from fusescope.app.cli.releases.optimising import Line

if TYPE_CHECKING:
    from fusescope.analysis.releases.history import History


def can_be_optimised(variants: Sequence[str]) -> bool:
    """Whether these variants need no recording to tell what they run."""
    interruption.heed()  # before anything is imported, which tries the temporary folder
    try:
        from fusescope.collectors.optimise import needs_no_recording
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    return needs_no_recording(variants)


def check_model(given: Path) -> None:
    """Before anything is asked of a model: whether it is one that a gate records."""
    try:
        from fusescope.collectors.record import Recording
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    try:
        Recording(model=str(given)).plan()
    except FuseScopeError as error:
        if error.code != "engine_not_said":
            raise
        raise FuseScopeError("gate_of_code", model=str(given)) from None


def optimised(
    models: Sequence[Path], variants: Sequence[str], *, redact: bool = False
) -> tuple[dict[str, History], ...]:
    """What the engine makes of each model, by variant, with `redact` without names of users and
    hosts and absolute paths. Raises FuseScopeError."""
    try:
        from fusescope.collectors.optimise import optimise
        from fusescope.collectors.record import Recording
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    for one in models:
        check_model(one)
    command = typed_command()
    with Line() as line:
        line.show(say("The engine optimises {models:name}", models=", ".join(_names(models))))
        made = optimise(
            [Recording(model=str(one), variants=tuple(variants), command=command) for one in models]
        )
    return _redacted(made) if redact else made


def _redacted(made: Sequence[Mapping[str, History]]) -> tuple[dict[str, History], ...]:
    """The same placeholders in all of them."""
    from fusescope.analysis.redaction import redacted_histories

    shown = iter(redacted_histories([history for one in made for history in one.values()]))
    return tuple({variant: next(shown) for variant in one} for one in made)


def _names(models: Sequence[Path]) -> list[str]:
    from fusescope.analysis.text import display_name

    return [display_name(one.name) for one in models]
