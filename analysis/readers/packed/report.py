"""An HTML report as the files that it holds: found by its mark, never interpreted as a page."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.input.folder import zip_sources
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.packed.archive import zipped
from fusescope.analysis.text import clean_text

GENERATOR = "FuseScope report"
DATA_ID = "fusescope-data"
_MANIFEST = "report.json"
VERSION = 1
BOTH = "both"
_MARK = re.compile(rb"""<meta\s[^>]{0,40}\bname=["']?generator["']?\s[^>]{0,40}FuseScope report""")
_DATA = re.compile(rb"""<script\s[^>]{0,200}\bid=["']?fusescope-data\b[^>]{0,200}>""")
_LABEL_CHARS = 400

MAX_SIDES = 8
FileName = Annotated[
    str, msgspec.Meta(pattern=r"\A(?:baseline|candidate(?:-[2-7])?)\.(?:tables|zip)\Z")
]
Real = Annotated[float, msgspec.Meta(gt=0, le=1e18)]
Runs = Annotated[int, msgspec.Meta(ge=1, le=100_000)]
Size = Annotated[int, msgspec.Meta(ge=0, le=10**12)]


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One side of the comparison: its file in the archive, what it is called, its variant."""

    file: FileName
    label: str
    variant: str | None = None


class Work(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of work, as work_units.Work has it."""

    phase: Literal["prefill", "decode", "mixed"] | None = None
    batch: Size | None = None
    tokens: Size | None = None


class Assumed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the reader of the comparison had set, as compare.assumptions.Assumptions has it."""

    tau_ns: Real | None = None
    peak_flops_per_s: Real | None = None
    cache_bytes: Annotated[int, msgspec.Meta(ge=1, le=2**50)] | None = None
    bandwidth_bytes_per_s: Real | None = None
    runs: tuple[Runs | None, Runs | None] = (None, None)
    work: Work | None = None


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """report.json: what was compared; `more` are the candidates after the first."""

    baseline: Side
    candidate: Side
    assumed: Assumed = Assumed()
    more: Annotated[tuple[Side, ...], msgspec.Meta(max_length=MAX_SIDES - 2)] = ()
    version: int = VERSION

    @property
    def sides(self) -> tuple[Side, ...]:
        """All of them, the baseline first."""
        return (self.baseline, self.candidate, *self.more)


def file_name(place: int, kind: Literal["tables", "zip"]) -> FileName:
    """What the file is called whose first side stands at that place of a report."""
    role = ("baseline", "candidate")[place] if place < 2 else f"candidate-{place}"
    return f"{role}.{kind}"


class Contents(msgspec.Struct, frozen=True):
    """What a report compares, and its files: one where all sides are of it, else more."""

    manifest: Manifest
    sources: tuple[Enclosed, ...]

    def source_of(self, side: Side) -> Enclosed:
        """The file that a side is of."""
        return next(source for source in self.sources if source.member == side.file)


def is_report(head: bytes) -> bool:
    """True for the first bytes of a report, with or without data in it."""
    return head[:200].lstrip(b"\xef\xbb\xbf \r\n\t").lower().startswith(b"<!doctype html") and (
        _MARK.search(head) is not None
    )


def packed_report(manifest: Manifest, files: Mapping[str, bytes]) -> bytes:
    """The archive of a report: equal files give equal bytes."""
    return zipped({_MANIFEST: msgspec.json.encode(manifest), **files})


def contents(source: Source) -> Contents:
    """What the report in `source` holds. Raises FuseScopeError where it holds nothing, is damaged
    or beyond the limits."""
    found = _DATA.search(source.content)
    if found is None:
        raise FuseScopeError("report_without_data", where=source.name)
    end = source.content.find(b"<", found.end())
    text = source.content[found.end() : end if end >= 0 else None]
    try:
        data = base64.b64decode(bytes(text.translate(None, b" \t\r\n")), validate=True)
    except (binascii.Error, ValueError) as error:
        raise _damaged(source, str(error)) from error
    outer = Source(source.name, data, source.limits, path=source.path)
    members = {member.path: member for member in zip_sources(outer)}
    if _MANIFEST not in members:
        raise _damaged(source, f"{_MANIFEST} is missing")
    manifest = _manifest(source, members[_MANIFEST].data)
    named: dict[FileName, Side] = {}
    for side in manifest.sides:
        named.setdefault(side.file, side)
    if any(name not in members for name in named):
        raise _damaged(source, f"{next(n for n in named if n not in members)} is missing")
    files = (_inside(source, side, members, manifest) for side in named.values())
    return Contents(manifest, tuple(files))


def role_of(source: Source) -> str:
    """The role in its report of a file that comes from one, BOTH for one that is compared with
    itself; '' for any other file."""
    if not isinstance(source, Enclosed):
        return ""
    if source.manifest.more:
        return source.role
    first, second = source.manifest.baseline, source.manifest.candidate
    if (first.file, first.variant) == (second.file, second.variant):
        return BOTH
    return source.role


def places_of(source: Source) -> tuple[tuple[int, str | None], ...]:
    """Where in a report of several a file that comes from it stands, 0 being the baseline, and with
    which variant; nothing for any other file."""
    if not isinstance(source, Enclosed) or not source.manifest.more:
        return ()
    sides = enumerate(source.manifest.sides)
    return tuple((place, side.variant) for place, side in sides if side.file == source.member)


def assumed_of(source: Source) -> Assumed | None:
    """What the reader of the report had set that a file comes from; None for any other file."""
    return source.manifest.assumed if isinstance(source, Enclosed) else None


class Enclosed(Source):
    """A file that a report holds: its name is what it is called there, its path ends in the role
    that it has; `manifest` is that of the report, `member` its name in the archive."""

    manifest: Manifest
    member: FileName

    @property
    def role(self) -> str:
        """baseline, candidate, or which of the other candidates."""
        return self.path.rpartition("/")[2]


def _inside(
    report: Source, side: Side, members: Mapping[str, Source], manifest: Manifest
) -> Enclosed:
    found = Enclosed(
        clean_text(side.label, _LABEL_CHARS),
        members[side.file].load,
        report.limits,
        path=f"{report.path}/{side.file.partition('.')[0]}",
    )
    found.manifest, found.member = manifest, side.file
    return found


def _manifest(source: Source, data: bytes) -> Manifest:
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise _damaged(source, str(error)) from error
    if manifest.version != VERSION:
        raise FuseScopeError("report_version", where=source.name, version=manifest.version)
    return manifest


def _damaged(source: Source, reason: str) -> FuseScopeError:
    return FuseScopeError("report_damaged", where=source.name, reason=clean_text(reason, 160))


def expanded(sources: Sequence[Source]) -> tuple[list[Source], list[tuple[str, FuseScopeError]]]:
    """The files with those of a report in its place, and reports that give none."""
    found: list[Source] = []
    failed: list[tuple[str, FuseScopeError]] = []
    for source in sources:
        try:
            found += contents(source).sources if is_report(source.head) else [source]
        except FuseScopeError as error:
            failed.append((source.path, error))
    return found, failed
