"""Path data of SVG pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup

_DATA = re.compile(r"[MLHVmlhvz0-9.,\- ]*")


def path_data(parts: Iterable[str]) -> Markup:
    """Return the data of one SVG path as markup, which a page takes as it is.

    Pages shorten long texts, and a path that is cut shows something else. Data are only
    commands and numbers; anything else raises ValueError, since markup is not escaped.
    """
    data = "".join(parts)
    if _DATA.fullmatch(data) is None:
        raise ValueError("path data are commands and numbers")
    return Markup(data)
