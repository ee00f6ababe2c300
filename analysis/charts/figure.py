"""What all figures share: no background, the report's ticks, names as text."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from fusescope.analysis import units
from fusescope.analysis.axis import LogScale, Tick

LABEL_CHARS = 40
# Of `figure.layout = dict(...)`: `update_layout` on an empty one takes seven times as long.
BARE = {
    "separators": ". ",  # the decimal sign and what stands between groups of digits, as everywhere
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
}


def label_text(text: str, chars: int = LABEL_CHARS) -> str:
    """A name as Plotly shows it literally: cut in the middle, markup escaped."""
    return html.escape(units.middle_cut(text, chars), quote=False)


def ticks(marks: Sequence[Tick], scale: LogScale, unit: float = 1.0) -> dict[str, object]:
    """The report's ticks on a logarithmic axis of Plotly; `unit` divides the values."""
    ends = (scale.low / unit, scale.high / unit)
    return {
        "range": [float(end) for end in np.log10(ends)],
        "tickvals": [scale.value(tick.at) / unit for tick in marks],
        "ticktext": [tick.text for tick in marks],
    }
