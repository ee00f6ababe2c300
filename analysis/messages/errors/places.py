"""Where in a file an error is."""

from __future__ import annotations

from fusescope.analysis.messages.message import Message

AT_LINE = Message("{file:name}, line {line}")
AT_ROW = Message("{file:name}, row {row}")
