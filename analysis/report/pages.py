"""Pages from templates: text is escaped and visible, and what a page needs is inside it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from fusescope.analysis import units
from fusescope.analysis.messages import say
from fusescope.analysis.report.text import with_unit
from fusescope.analysis.text import clean_text

MAX_SHOWN = 4000  # characters of one text; readers cut names far below


@cache
def template(name: str) -> jinja2.Template:
    """The template of that name: it escapes every text and fails on a value that is not given."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["say"] = say
    environment.filters.update(duration=units.duration, factor=units.factor, with_unit=with_unit)
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    return environment.get_template(name)


@cache
def asset(name: str) -> str:
    """The text of a template, script or style sheet."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def policy(scripts: Iterable[str]) -> str:
    """A content security policy: nothing but these scripts, the page's styles and inline images."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _visible(value: Any) -> Any:
    """Any text on its way into the page without controls that could turn or hide others."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return clean_text(value, MAX_SHOWN)
    return value
