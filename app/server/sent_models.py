"""Models that a browser sent: each in a folder of its own with the files that hold its weights, on
the disk of the server until that ends.

A model names the files of its weights itself, and is read with nothing beside it but what was sent
together.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import display_name
from fusescope.collectors.files import ownership, scratch

SUFFIX = ".onnx"
MAX_MODELS = 8  # that are kept; beyond, those that came first go
# What a model may call a file beside it, and what is safe as a name on every disk.
_NAME = re.compile(r"[\w+-][\w.+ -]{0,119}")
_DATA = re.compile(r".+([._]data|[.](bin|weights?|raw))", re.IGNORECASE | re.DOTALL)
_PIECE_BYTES = 2**20


@dataclass(frozen=True)
class Sent:
    """A file that was sent: its name, and its content, or where that lies."""

    name: str
    content: bytes | Path

    @property
    def is_model(self) -> bool:
        """Return whether it is called like an ONNX model."""
        return self.name.lower().endswith(SUFFIX)


def may_be_data(name: str, models: Iterable[str]) -> bool:
    """Return whether a file is called like one with the weights of these models."""
    return bool(_DATA.fullmatch(name)) or any(
        name != model and name.startswith(model) for model in models
    )


class SentModels:
    """The models of a server, by a number and their name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Path] = {}
        self._count = 0
        self._folder: tuple[Path, int] | None = None

    def put(self, files: Iterable[Sent]) -> list[str]:
        """Keep models with the files of their weights, and return what `path` finds them by. Raises
        FuseScopeError where none is a model, for a name that is none, and where the disk is full;
        nothing is kept then."""
        files = list(files)
        models = [file.name for file in files if file.is_model]
        if not models:
            raise FuseScopeError("no_model_among")
        for file in files:
            if not _NAME.fullmatch(file.name):
                raise FuseScopeError("model_file_name", name=display_name(file.name))
        with self._lock:
            self._count += 1
            number, folder = self._count, self._made()
        try:
            folder.mkdir(mode=0o700)
            for file in files:
                _write(file.content, folder / file.name)
        except OSError as error:
            ownership.remove(folder)
            raise scratch.refused(error) from error
        names = [f"{number}/{name}" for name in models]
        with self._lock:
            self._kept |= {name: folder / name.partition("/")[2] for name in names}
            self._make_room(folder)
        return names

    def found(self) -> dict[str, int]:
        """Return the sizes of all models in bytes, the last one in front."""
        with self._lock:
            kept = list(self._kept.items())
        sizes = {}
        for name, path in reversed(kept):
            with contextlib.suppress(OSError):  # gone since
                sizes[name] = path.stat().st_size
        return sizes

    def path(self, name: str) -> Path | None:
        """Return where the model of this name lies; None where there is none."""
        with self._lock:
            return self._kept.get(name)

    def close(self) -> None:
        """Remove everything."""
        with self._lock:
            self._kept.clear()
            if self._folder is not None:
                path, handle = self._folder
                ownership.remove(path)
                os.close(handle)
            self._folder = None

    def _made(self) -> Path:
        """Return a folder that is not there yet, in one of this user alone."""
        if self._folder is None:
            scratch.remove_stale()
            handle = -1
            while handle < 0:
                try:
                    path = Path(tempfile.mkdtemp(prefix=scratch.UPLOAD))
                except OSError as error:
                    raise scratch.refused(error) from error
                handle = ownership.take(path)
            self._folder = path, handle
        return self._folder[0] / str(self._count)

    def _make_room(self, newest: Path) -> None:
        """Let go of the models that came first, each with all that was sent together."""
        while len(self._kept) > MAX_MODELS:
            folder = next(iter(self._kept.values())).parent
            if folder == newest:
                return
            self._kept = {name: at for name, at in self._kept.items() if at.parent != folder}
            ownership.remove(folder)


def _write(content: bytes | Path, path: Path) -> None:
    """Raises OSError, also for a second file of one name."""
    with path.open("xb") as target:
        if isinstance(content, bytes):
            target.write(content)
            return
        with content.open("rb") as source:
            shutil.copyfileobj(source, target, _PIECE_BYTES)


MODELS = SentModels()
