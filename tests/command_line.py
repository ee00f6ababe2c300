"""The whole command line, as tests call it."""

from __future__ import annotations

from fusescope.app.cli.verbs import command_line

app = command_line(())
