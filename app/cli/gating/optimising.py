"""Having the installed engine optimise models, for gates on structure alone."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import FuseScopeError
from analysis.messages import say
from app.cli import interruption
from app.cli.recording import run as recording_run
from app.cli.releases.optimising import Line

if TYPE_CHECKING:
    from analysis.releases.history import History


def can_be_optimised(variants: Sequence[str]) -> bool:
    """Whether these variants need no recording to tell what they run."""
    try:
        from collectors.optimise import needs_no_recording
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    return needs_no_recording(variants)


def check_model(given: Path) -> None:
    """Before anything is asked of a model: whether it is one that a gate records."""
    try:
        from collectors.record import Recording
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    try:
        Recording(model=str(given)).plan()
    except FuseScopeError as error:
        if error.code != "engine_not_said":
            raise
        raise FuseScopeError("gate_of_code", model=str(given)) from None


def optimised(models: Sequence[Path], variants: Sequence[str]) -> tuple[dict[str, History], ...]:
    """What the engine makes of each model, by variant. Raises FuseScopeError."""
    try:
        from collectors.optimise import optimise
        from collectors.record import Recording
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    for one in models:
        check_model(one)
    interruption.heed()
    command = shlex.join(["fusescope", *sys.argv[1:]])
    with Line() as line:
        line.show(say("The engine optimises {models:name}", models=", ".join(_names(models))))
        return optimise(
            [Recording(model=str(one), variants=tuple(variants), command=command) for one in models]
        )


def _names(models: Sequence[Path]) -> list[str]:
    from analysis.text import display_name

    return [display_name(one.name) for one in models]
