"""Messages: every text that a user reads, as whole sentences with placeholders, in any language.

English stands in the code, once; languages/ has a catalogue for each other language. Which one is
spoken is the one thing here that is not passed as a value: `language.speaking` sets it.
"""

from __future__ import annotations

from fusescope.analysis.messages.language import mark
from fusescope.analysis.messages.message import (
    Message,
    Part,
    Said,
    Shown,
    listed,
    paragraph,
    passage,
    say,
)

__all__ = ["Message", "Part", "Said", "Shown", "listed", "mark", "paragraph", "passage", "say"]
