"""Texts with placeholders in place of names of users and hosts, and of absolute paths."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from fusescope.analysis.redaction import tensors
from fusescope.analysis.redaction.forms import (
    AT_ONCE,
    FILE_NAME,
    IN_NAMES,
    IN_TEXTS,
    PARTS_OF_URL,
    PLACEHOLDER,
    SUSPECT,
    SYMBOL_VERSION,
    WHOLE,
)
from fusescope.analysis.redaction.names import Names

# Options whose value is NAME=…, where a / belongs to the name of a model's input.
_NAMED_VALUES = ("--shape", "--input-range")


class Replacement:
    """Replaces what has been learnt, and every path and address by its form."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._known: dict[tuple[str, bool], str] = {}
        words = sorted(names.words, key=lambda word: (-len(word), word))
        found = "|".join(map(re.escape, words)) or r"(?!)"
        self._word = re.compile(
            rf"({PLACEHOLDER})|(?<![A-Za-z0-9])(?:{found})(?![A-Za-z0-9])", re.IGNORECASE
        )

    def name(self, text: str) -> str:
        """The name of an operator, tensor, variant or file."""
        return self._replaced(text, names=True)

    def names(self, texts: Sequence[str]) -> list[str]:
        """`name` of each; most of many have nothing to replace."""
        made: list[str] = []
        for at in range(0, len(texts), AT_ONCE):
            some = list(texts[at : at + AT_ONCE])
            joined = "\n".join(some)
            is_plain = not SUSPECT.search(joined) and not self._word.search(joined)
            made += some if is_plain else map(self.name, some)
        return made

    def tensors(self, texts: Sequence[str]) -> list[str]:
        """Data types, shapes and layouts; any other word in them is a placeholder."""
        return [
            text if tensors.is_known(text) else tensors.shown(text, self._hidden) for text in texts
        ]

    def _hidden(self, word: str) -> str:
        return self._names.number("private", word)

    def text(self, text: str) -> str:
        """Any other text: everything that looks like an absolute path is one."""
        return self._replaced(text, names=False)

    def paths(self, text: str) -> str:
        """A text without paths and addresses; names of persons stay."""
        return IN_NAMES.sub(self._found, text)

    def command(self, text: str) -> str:
        """A command line, word by word."""
        try:
            words = shlex.split(text)
        except ValueError:
            return self.text(text)
        made: list[str] = []
        before = ""
        for word in words:
            option, equals, value = word.partition("=")
            if before in _NAMED_VALUES or option in _NAMED_VALUES:
                made.append(self.name(word))
            elif equals and option.startswith("-"):
                made.append(f"{option}={self.text(value)}")
            else:
                made.append(self.text(word))
            before = word
        return shlex.join(made) if made != words else text

    def _replaced(self, text: str, *, names: bool) -> str:
        key = (text, names)
        if key not in self._known:
            made = text
            if SUSPECT.search(text):
                if not names and WHOLE.fullmatch(text):
                    made = self._path(text)
                else:
                    made = (IN_NAMES if names else IN_TEXTS).sub(self._found, text)
            self._known[key] = self._word.sub(self._known_word, made)
        return self._known[key]

    def _found(self, match: re.Match[str]) -> str:
        if match["url"]:
            return f"{match['scheme']}://{self._address(match['rest'])}"
        if match["mail"]:
            user, host = match["mailuser"], match["mailhost"]
            if SYMBOL_VERSION.fullmatch(host):
                return match[0]
            person = self._names.placeholder("user", user)
            path = f":{self._path(match['mailpath'])}" if match["mailpath"] else ""
            return f"{person}@{self._names.placeholder('host', host)}{path}"
        if match["port"]:
            host = match["porthost"].strip("[]")
            return match[0].replace(host, self._names.placeholder("host", host))
        return self._path(match[0])

    def _address(self, rest: str) -> str:
        """'<host1>:8080/<path>?<private1>' of what follows the scheme of a URL."""
        authority, path, asked = PARTS_OF_URL.fullmatch(rest).groups()  # type: ignore[union-attr]
        made = self._names.address(authority)
        if path:
            made += f"/{self._path(path) if path != '/' else ''}"
        return f"{made}{asked[0]}{self._names.number('private', asked)}" if asked else made

    def _path(self, path: str) -> str:
        """'<path>/model.py' of a file, '<path>' of a folder; another folder has another number."""
        folder, last = re.fullmatch(r"(.*?)([^/\\]*)", path, re.DOTALL).groups()  # type: ignore[union-attr]
        if FILE_NAME.fullmatch(last) and folder.strip("/\\") and not last.startswith("."):
            return f"{self._names.number('path', folder)}/{last}"
        return self._names.number("path", path)

    def _known_word(self, match: re.Match[str]) -> str:
        return match[1] or self._names.words[match[0].casefold()]
