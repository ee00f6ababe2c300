"""Which language is spoken, which there are, and the catalogue of each."""

from __future__ import annotations

import contextlib
import gettext
import os
import struct
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

ENGLISH = "en"
FOLDER = Path(__file__).with_name("languages")
# A folder with further catalogues (xx.mo), for who writes one.
FURTHER = "FUSESCOPE_LANGUAGES"

_spoken: ContextVar[str | None] = ContextVar("language", default=None)
_process = {"language": ENGLISH}


def current() -> str:
    """The language that is spoken here: of this thread, else of the process."""
    return _spoken.get() or _process["language"]


@contextlib.contextmanager
def speaking(code: str) -> Iterator[None]:
    """In its body, messages are told in that language."""
    token = _spoken.set(code)
    try:
        yield
    finally:
        _spoken.reset(token)


def speak(code: str) -> None:
    """From here on this thread's messages are told in that language."""
    _spoken.set(code)


def speak_everywhere(code: str) -> None:
    """What threads speak that chose none: the language of a command line."""
    _process["language"] = code


def languages() -> tuple[str, ...]:
    """Codes of all languages, English first."""
    return ENGLISH, *sorted(_files().keys() - {ENGLISH})


def best(*wished: str | None) -> str | None:
    """The first of these wishes that there is: 'zh-CN', 'zh_CN.UTF-8' and 'zh' are all zh."""
    there = languages()
    for wish in wished:
        for text in (wish or "").split(","):
            code = text.split(";")[0].split(".")[0].strip().replace("_", "-").lower()
            while code:
                if code in there:
                    return code
                if code in ("c", "posix"):
                    return ENGLISH
                code = code.rpartition("-")[0]
    return None


def own_name(code: str) -> str:
    """What the language is called in itself."""
    # By agreement with translators: the translation of "English" is the name of their language.
    return _catalogue(code).gettext(mark("English"))


def mark(text: str) -> str:
    """`text` itself, which catalogues have too: for a text that is looked up where it is shown."""
    return text


def translated(one: str, many: str = "", values: Mapping[str, object] | None = None) -> str:
    """The text in the language that is spoken; with `many`, values["n"] decides which of both."""
    catalogue = _catalogue(current())
    if not many:
        return catalogue.gettext(one) if one else ""
    count = (values or {})["n"]
    # Languages count in whole numbers; a half is many.
    number = abs(count) if isinstance(count, int | float) else 2
    return catalogue.ngettext(one, many, int(number) if number == int(number) else 2)


def is_damaged(code: str) -> bool:
    """Return whether the catalogue of a language cannot be read: its messages are in English."""
    return code != ENGLISH and code in languages() and _read(code) is None


def _files() -> dict[str, Path]:
    folders = [FOLDER, *map(Path, filter(None, [os.environ.get(FURTHER)]))]
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.mo"))}


def _catalogue(code: str) -> gettext.NullTranslations:
    return _read(code) or _ENGLISH


_ENGLISH = gettext.NullTranslations()


@lru_cache(maxsize=32)
def _read(code: str) -> gettext.NullTranslations | None:
    path = _files().get(code)
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            return gettext.GNUTranslations(file)
    except (OSError, ValueError, struct.error, LookupError, IndexError, SyntaxError):
        return None
