"""`--help` in the language that is spoken: looked up when the command line is made."""

from __future__ import annotations

from typing import Any

import typer

from fusescope.analysis.messages import language, mark

# Texts of typer's own: the heads of its panels, and what it says behind an option.
_HEADS = {
    "ARGUMENTS_PANEL_TITLE": mark("Arguments"),
    "OPTIONS_PANEL_TITLE": mark("Options"),
    "COMMANDS_PANEL_TITLE": mark("Commands"),
    "ERRORS_PANEL_TITLE": mark("Error"),
    "REQUIRED_LONG_STRING": mark("[required]"),
    "DEFAULT_STRING": mark("[default: {}]"),
}
_HELP_OPTION = mark("Show this message and exit.")


def command_of(app: typer.Typer) -> Any:
    """The command line, to be called; every help text is in the language that is spoken."""
    command = typer.main.get_command(app)
    if language.current() != language.ENGLISH:
        from typer import rich_utils

        for name, text in _HEADS.items():
            setattr(rich_utils, name, language.translated(text))
        _translate(command)
    return command


def _translate(command: Any) -> None:
    """Translates the help of a command, of what it takes, and of the commands below it."""
    for found in (
        command,
        *command.params,
        command.get_help_option(command.context_class(command)),
    ):
        found.help = language.translated(found.help or "")
    for below in getattr(command, "commands", {}).values():
        _translate(below)
