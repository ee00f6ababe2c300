"""The language of the command line: `--lang`, else FUSESCOPE_LANG, else that of the locale."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import language, mark, say

OPTION = "--lang"
VARIABLE = "FUSESCOPE_LANG"
METAVAR = "CODE"
HELP = mark("Language, by its code. Default: FUSESCOPE_LANG, else the locale.")
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set counts


def taken(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """The language that the arguments ask for, and what is left of them: `--lang` may stand
    before a verb or after it. Raises FuseScopeError where its value is missing."""
    rest: list[str] = []
    asked = None
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == OPTION:
            asked = next(words, None)
            if asked is None:
                raise FuseScopeError("language_missing", known=_known())
        elif word.startswith(f"{OPTION}="):
            asked = word.removeprefix(f"{OPTION}=")
        else:
            rest.append(word)
    return asked, rest


def speak(asked: str | None, environment: Mapping[str, str] = os.environ) -> None:
    """Speak the language that is asked for, else that of the environment.

    Raises FuseScopeError for one that does not exist. A locale's language is not asked for: where
    the terminal cannot write it, or there is none, it is English.
    """
    wish = asked if asked is not None else environment.get(VARIABLE)
    if wish:
        code = language.best(wish)
        if code is None:
            raise FuseScopeError("language_unknown", language=wish[:40], known=_known())
    else:
        locale = next(filter(None, map(environment.get, _LOCALE)), None)
        code = language.best(locale) or language.ENGLISH
        if not _can_be_written(language.own_name(code)):
            code = language.ENGLISH
    language.speak_everywhere(code)
    if code != language.ENGLISH:
        from fusescope.app.cli.printing.wrapping import break_between_letters  # imports rich

        break_between_letters()
    if language.is_damaged(code):
        notice = say(
            "The catalogue of the language {code:name} is damaged: texts are in English.", code=code
        )
        print(f"fusescope: {notice}", file=sys.stderr)


def _known() -> str:
    return ", ".join(language.languages())


def _can_be_written(text: str) -> bool:
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True
