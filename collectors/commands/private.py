"""What nobody but the user may see of a command: values of secrets, and folders."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

HIDDEN = "…"
_NAMES = (
    r"secret|passw|passphrase|credential|token(?!i[sz])|(?:api|access|private|auth)_?key"
    r"|(?:^|_)(?:pass|pwd|auth|authorization|bearer|cookie)$"
)
_SECRET = re.compile(_NAMES + r"|(?:^|_)keys?$")
_IN_OUTPUT = re.compile(_NAMES.replace("token(?!i[sz])", "token$"))  # "missing key: x" is an error
_COUNTED = re.compile(r"tokens?_|tokens$|keys$")  # --max-tokens 128, --token-budget 64
_COUNT = re.compile(r"[\d.]{1,9}[kKmM]?")
_SWITCH = re.compile(r"\d?|true|false|yes|no|on|off|none|auto|bearer|basic", re.IGNORECASE)
_NAME = re.compile(r"[-\w.]+")
_NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-.]+")
_PAIR = re.compile(r"""([A-Za-z][\w.-]*)(["']?\s*[:=](?!//)\s*["']?)([^\s"'&,;|}]+)""")
_OPTION = re.compile(r"(?<!\S)(--?[A-Za-z][\w-]*)(\s+)([^\s-]\S*)")
_KNOWN = re.compile(
    r"(?<=://)[^/\s@]+(?=@)|(?i:(?<=bearer )|(?<=basic ))[\w.~+/=-]{8,}"
    r"|\b(?:hf|sk|ghp|gho|ghs|github_pat|glpat|xox[abp])[-_][\w-]{16,}|\bAKIA[A-Z0-9]{16}\b"
)
_FOLDERS = re.compile(r"(?<![\w.:/])(?:~|\.{1,2})?/(?:[^\s/,=:]+/)*(?=[^\s/,=:])")
_PIECES = re.compile(r"(\s+|(?<!\\),)")
_LONG = 8  # such a value is found inside of words, too
_SHORT = 3  # a shorter one only as a whole word of a command


def is_secret(name: str, value: str = "a", names: re.Pattern[str] = _SECRET) -> bool:
    """Return True for a variable or option whose name says that this value is nobody's business. A
    count of tokens or a switch is none."""
    snake = _NEW_WORD.sub("_", name.strip("-\"' ")).lower()
    if names.search(snake) is None or _SWITCH.fullmatch(value):
        return False
    return not (_COUNTED.search(snake) and _COUNT.fullmatch(value))


def hides_values(text: str) -> bool:
    """Return True for a NAME=V1,V2, or for arguments `--name V1,--name V2`, with a value that is a
    secret."""
    return Secrets().setting(text) != _FOLDERS.sub("", text)


class Secrets:
    """Values of secrets, as they were seen in commands and settings, to be hidden in every other
    text."""

    def __init__(self) -> None:
        self._values: set[str] = set()

    def learn(self, environment: Mapping[str, str]) -> None:
        """Learns the values of secrets in an environment: a command may print those, too."""
        for name, value in environment.items():
            if len(value) >= _LONG and not value.startswith("/") and is_secret(name, value):
                self._values.add(value)

    def line(self, text: str) -> str:
        """Return a command line with the last part of each path and without values of secrets,
        which are learned."""
        try:
            words = shlex.split(text)
        except ValueError:
            self.setting(text)
            return HIDDEN
        made: list[str] = []
        for before, word in zip(["", *words], words, strict=False):
            follows = before.startswith("-") and "=" not in before and not word.startswith("--")
            hides = word in self._values or (follows and is_secret(before, word))
            made.append(self._hide(word) if hides else self._word(word))
        return shlex.join(made)

    def setting(self, text: str) -> str:
        """Return NAME=V1,V2, or arguments of which every combination is one, likewise."""
        name, equals, value = text.partition("=")
        if equals and _NAME.fullmatch(name):
            values = [one.strip().replace("\\,", ",") for one in re.split(r"(?<!\\),", value)]
            if any(one and is_secret(name, one) for one in values):
                for one in values:
                    self._hide(one)
                return f"{name}={HIDDEN}"
            return _FOLDERS.sub("", f"{name}={self._pairs(value, _SECRET)}")
        made, hides_of = [], ""
        for piece in _PIECES.split(text):
            if piece.startswith("-"):
                hides_of = piece if "=" not in piece else ""
            is_value = bool(piece) and not piece.startswith("-") and not _PIECES.fullmatch(piece)
            hides = is_value and hides_of and is_secret(hides_of, piece)
            made.append(self._hide(piece) if hides else piece)
        return _FOLDERS.sub("", self._pairs("".join(made), _SECRET))

    def hidden(self, text: str) -> str:
        """Return any text, such as what a command printed, without values of secrets."""
        for value in sorted(self._values, key=len, reverse=True):
            if len(value) >= _LONG:
                text = text.replace(value, HIDDEN)
            elif len(value) >= _SHORT:
                text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", HIDDEN, text)
        return self._pairs(text, _IN_OUTPUT)

    def words(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return each of these words without what is known of secrets."""
        return tuple(HIDDEN if word in self._values else self.hidden(word) for word in words)

    def _word(self, word: str) -> str:
        """A word of a command that no option before it makes a secret."""
        name, equals, value = word.partition("=")
        if equals and value and _NAME.fullmatch(name) and is_secret(name, value):
            return f"{name}={self._hide(value)}"
        return _FOLDERS.sub("", self._pairs(word, _SECRET))

    def _pairs(self, text: str, names: re.Pattern[str]) -> str:
        """The text without what stands behind the name of a secret, or looks like one by itself."""

        def cut(match: re.Match[str]) -> str:
            name, between, value = match.groups()
            if HIDDEN in value or not is_secret(name, value, names):
                return match[0]
            return f"{name}{between}{self._hide(value)}"

        def known(match: re.Match[str]) -> str:
            return self._hide(match[0])

        return _OPTION.sub(cut, _PAIR.sub(cut, _KNOWN.sub(known, text)))

    def _hide(self, value: str) -> str:
        value = value.strip("\"'`;|&")
        if value and value != HIDDEN and not _SWITCH.fullmatch(value):
            self._values.add(value)
        return HIDDEN
