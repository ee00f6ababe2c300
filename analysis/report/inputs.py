"""Where the values of a recorded model's inputs come from."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fusescope.analysis.experiment import FROM_FILE
from fusescope.analysis.messages import Message

_UNIFORM = re.compile(r"uniform (-?[\d.e+-]{1,30}) to (-?[\d.e+-]{1,30})")
_EVEN = Message("uniform {low:name} to {high:name}")
_SOURCES: Mapping[str, Message] = {
    FROM_FILE: Message("from a file"),
    "smooth images": Message("smooth images"),
    "standard normal": Message("standard normal"),
    "0 or 1": Message("0 or 1"),
    "made by the model's function": Message("made by the model's function"),
}


def input_source(source: str) -> str:
    """What a recording calls the source of an input's values, in the language spoken; as it is
    where it is none that is known."""
    found = _UNIFORM.fullmatch(source)
    if found is not None:
        return _EVEN.text(low=found[1], high=found[2])
    return _SOURCES[source].text() if source in _SOURCES else source
