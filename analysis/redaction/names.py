"""Names of users and hosts as texts tell them, and the placeholder that stands for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from fusescope.analysis.redaction.forms import (
    AT_ONCE,
    ENCODED,
    IN_NAMES,
    OWNER,
    SHARE,
    SUSPECT,
    SYMBOL_VERSION,
    TIME_IN_NAME,
    TRACE_NAME,
)

# Words that name nobody; replacing them would only make texts hard to read.
_NOBODY = frozenset(
    ("root", "user", "users", "admin", "administrator", "ubuntu", "runner", "nobody", "shared",
     "public", "default", "all users", "jovyan", "workspace", "docker", "test", "build", "ci",
     "dev", "data", "model", "models", "host", "hostname", "localhost",
     "localhost.localdomain", "node", "worker", "server", "local", "unknown", "none", "n/a",
     "plt", "main", "git", "127.0.0.1", "0.0.0.0", "::1")
)  # fmt: skip


class Names:
    """Placeholders of everything that was learnt; different names have different ones."""

    def __init__(self, shown: Iterable[str] = ()) -> None:
        """`shown` are names of files that their user chose: of these only users, hosts and paths
        are replaced, whatever else a file says of itself."""
        self._shown = tuple(name.casefold() for name in shown)
        self.words: dict[str, str] = {}  # a name in lower case -> its placeholder
        self._numbers: dict[str, dict[str, str]] = {}

    def learn_field(self, field: str, text: str) -> None:
        """A field that its reader marked: a host, a user, a path, or whatever else it is."""
        key = field.lower()
        if "/" in text or "\\" in text:
            return  # a path, which is found by its form
        if "host" in key or "machine" in key or "node" in key:
            self._add_host(text)
        elif "user" in key or "owner" in key:
            self._add_user(text)
        elif not text.replace(".", "").isdigit() and not self._is_shown(text):
            self._add("private", text, minimum=3)

    def _is_shown(self, text: str) -> bool:
        return any(text.casefold() in name for name in self._shown)

    def learn_all(self, texts: Sequence[str]) -> None:
        """Each of these texts, in their order; most of many tell nothing."""
        for at in range(0, len(texts), AT_ONCE):
            some = texts[at : at + AT_ONCE]
            joined = "\n".join(some)
            if SUSPECT.search(joined) or TIME_IN_NAME.search(joined):
                for text in some:
                    self.learn(text)

    def learn(self, text: str) -> None:
        """Any text: owners of folders, shares, hosts in names of traces, addresses."""
        if ENCODED.search(text):
            self.learn(unquote(unquote(text)))
        for host in TRACE_NAME.findall(text):
            self._add_host(host)
        if not SUSPECT.search(text):
            return
        for match in OWNER.finditer(text):
            self._add_user(match["spaced"] or match["plain"])
        for host in SHARE.findall(text):
            self._add_host(host)
        for match in IN_NAMES.finditer(text):
            if match["url"]:
                self.address(match["rest"])
            elif match["mail"] and not SYMBOL_VERSION.fullmatch(match["mailhost"]):
                self._add_user(match["mailuser"])
                self._add_host(match["mailhost"])
            elif match["porthost"]:
                self._add_host(match["porthost"].strip("[]"))

    def address(self, rest: str) -> str:
        """'<user1>@<host1>:8080' of what stands before the first / of a URL, '' for none. Passwords
        are left out."""
        authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
        user, at, index = authority.rpartition("@")
        host, colon, port = index.partition(":")
        made = ""
        if at:
            made = f"{self._add_user(user.partition(':')[0]) or '<user>'}@"
        if host:
            made += self._add_host(host) or host
        return made + (colon + port if port.isdecimal() else "")

    def _add_user(self, text: str) -> str | None:
        words = text.strip().split()
        whole = self._add("user", " ".join(words), minimum=2)
        for index, word in enumerate(words if len(words) > 1 else ()):
            if whole and (index == 0 or (word[:1].isupper() and len(word) > 2)):
                self._alias(word, whole)
        return whole

    def _add_host(self, text: str) -> str | None:
        whole = self._add("host", text.strip().strip("."), minimum=2)
        short = text.strip().partition(".")[0]
        if whole and len(short) > 2 and not short.isdigit():
            self._alias(short, whole)
        return whole

    def _add(self, kind: str, word: str, minimum: int) -> str | None:
        """The placeholder of a name; None for one that names nobody."""
        key = word.casefold()
        if len(key) < minimum or key in _NOBODY or key.isdigit():
            return None
        return self.words.setdefault(key, self.words.get(key) or self.number(kind, key))

    def _alias(self, word: str, placeholder: str) -> None:
        if word.casefold() not in _NOBODY:
            self.words.setdefault(word.casefold(), placeholder)

    def number(self, kind: str, key: str) -> str:
        """The numbered placeholder of `key`, the same each time: '<path>', '<path2>', '<user1>'."""
        known = self._numbers.setdefault(kind, {})
        first = "" if kind == "path" else "1"
        return known.setdefault(key, f"<{kind}{len(known) + 1 if known else first}>")

    def placeholder(self, kind: str, word: str) -> str:
        """What stands for a user or host; the word itself where it names nobody."""
        known = self.words.get(word.casefold())
        return known or (word if word.casefold() in _NOBODY else self.number(kind, word.casefold()))
