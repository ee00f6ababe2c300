"""History: the graphs that releases of an engine made of one model, and the file that keeps them.

The file is a zip with one member, RECORD_NAME: a History as JSON. It holds no times, no weights and
nothing of the machine but what it is called.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from datetime import datetime
from typing import Literal

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import RELEASES_NAME, ModelFacts, TensorMatch
from fusescope.analysis.graph import Graph
from fusescope.analysis.limits import DEFAULT_LIMITS, MIB
from fusescope.analysis.text import clean_text

SCHEMA_VERSION = 1
RECORD_NAME = RELEASES_NAME
MAX_BYTES = 256 * MIB
_NO_BOMB_BYTES = 16 * MIB  # what a small file may unpack to, whatever its size
# no_wheel: the index has none for this Python and machine; refused: it could not load or run the
# model; not_importable: it needs other packages than those that are installed, such as an older
# NumPy.
Reason = Literal["no_wheel", "refused", "not_importable"]
_VERSION = re.compile(r"[0-9]\w{0,20}(?:[.+-]\w{1,20}){0,8}", re.ASCII)
_ENGINE = re.compile(r"[a-z][a-z0-9_]{0,40}", re.ASCII)
_UNREADABLE = (
    msgspec.MsgspecError, RecursionError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error,
    EOFError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError,
)  # fmt: skip


class Made(msgspec.Struct, frozen=True):
    """A graph, and which of its tensors hold the values of which of the model's."""

    graph: Graph
    matches: tuple[TensorMatch, ...] = ()


class Release(msgspec.Struct, frozen=True, omit_defaults=True):
    """A release. `made` is the place of its graph in `History.made`, None where it was left out,
    for `reason`; `said` is what the engine said then."""

    version: str
    made: int | None = None
    reason: Reason | None = None
    said: str = ""


class History(msgspec.Struct, frozen=True):
    """Releases oldest first, of which several may have made the same graph. `graph` is that of the
    model, which all of them have in common; `command` made it."""

    schema_version: int
    created: str
    engine: str
    model: ModelFacts
    graph: Graph
    releases: tuple[Release, ...]
    made: tuple[Made, ...]
    command: str = ""

    @property
    def compared(self) -> tuple[Release, ...]:
        """Those that were not left out."""
        return tuple(release for release in self.releases if release.made is not None)

    def made_by(self, release: Release) -> Made:
        """The graph of a release that was not left out."""
        assert release.made is not None
        return self.made[release.made]

    def find(self, version: str) -> Release:
        """The release of that version, also where it is written shorter (1.20). Raises KeyError."""
        written = {release.version: release for release in self.releases}
        while version not in written and version.count(".") < 4:
            version += ".0"
        return written[version]

    def nodes(self, release: Release) -> int | None:
        """Operators of its graph; None where it was left out."""
        return None if release.made is None else len(self.made[release.made].graph.nodes)


def history_file(history: History) -> bytes:
    """The content of the file."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        info = zipfile.ZipInfo(RECORD_NAME)  # without the time of day, as experiment files
        archive.writestr(info, msgspec.json.encode(history), zipfile.ZIP_DEFLATED, 9)
    return whole.getvalue()


def is_history(data: bytes) -> bool:
    """Whether these bytes are such a file, by the names in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return RECORD_NAME in archive.namelist()
    except _UNREADABLE:
        return False


def parse_history(data: bytes, where: str) -> History:
    """The history that a file holds. Raises FuseScopeError naming `where`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            info = archive.getinfo(RECORD_NAME)
            _check_packing(info, len(data))
            with archive.open(info) as member:
                text = member.read(MAX_BYTES)
        history = msgspec.json.decode(text, type=History)
        _check(history)
    except _UNREADABLE as error:
        reason = clean_text(str(error), 160)
        raise FuseScopeError("releases_file_damaged", where=where, reason=reason) from None
    if history.schema_version > SCHEMA_VERSION:
        raise FuseScopeError("releases_file_newer", where=where, version=history.schema_version)
    return history


def _check_packing(info: zipfile.ZipInfo, packed: int) -> None:
    """Raises ValueError for a member that would take more memory than such a file can."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("it is packed in another way")  # without a bound on memory
    is_bomb = info.file_size > max(_NO_BOMB_BYTES, packed * DEFAULT_LIMITS.zip_ratio)
    if info.file_size > MAX_BYTES or is_bomb:
        raise ValueError("it would unpack to more than such a file can hold")


def _check(history: History) -> None:
    """Raises ValueError for what no recording of ours holds."""
    if not _ENGINE.fullmatch(history.engine):
        raise ValueError("an engine is none")
    datetime.fromisoformat(history.created)
    for release in history.releases:
        if not _VERSION.fullmatch(release.version):
            raise ValueError("a version is none")
        if release.made is not None and not 0 <= release.made < len(history.made):
            raise ValueError(f"release {release.version} has no graph")
    for graph in (history.graph, *(made.graph for made in history.made)):
        written = sum(1 for node in graph.nodes for name in node.outputs if name)
        if len(graph.node) != len(graph.nodes) or len(graph.producer) != written:
            raise ValueError("names of a graph are not unique")
