"""Recordings: which of many files belong together, and what each recording holds."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers.building.checks.lost_rows import lost_notes
from fusescope.analysis.readers.early_end import as_far_as_whole
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Declined, Reader
from fusescope.analysis.readers.sameness import Sameness
from fusescope.analysis.readers.start_times import with_start
from fusescope.analysis.text import display_name
from fusescope.analysis.trace import Diagnostic, Trace

_WHOLE = ("_ascend_pt/", "_ascend_ms/")


@dataclass(frozen=True, eq=False)
class Recording:
    """One recording among many files: its main file, what it holds, what was read with it."""

    source: Source
    value: Trace | Experiment
    companions: tuple[Source, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of every file that was read for it, the main one first."""
        others = self.value.meta.files if isinstance(self.value, Trace) else ()
        return (self.source.path, *others)

    @property
    def sha256(self) -> str:
        """Hash of all its files, in whatever order they came; of a lone file that of the file."""
        own = self.value.meta.sha256 if isinstance(self.value, Trace) else self.source.sha256
        hashes = sorted((own, *(source.sha256 for source in self.companions)))
        if len(hashes) == 1:
            return hashes[0]
        return hashlib.sha256("".join(hashes).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Found:
    """What many files hold. Every file is in a recording, in `covered`, `failed` or `unknown`.

    `covered` are paths of files that say the same as a recording in less detail, `failed` files
    that a reader knew and could not read, `unknown` paths that no reader knows. `lost` are those of
    the files and zips given together of which no reader knows anything, and what they are instead.
    """

    recordings: tuple[Recording, ...]
    covered: tuple[str, ...] = ()
    failed: tuple[tuple[str, FuseScopeError], ...] = ()
    unknown: tuple[str, ...] = ()
    lost: tuple[tuple[str, FuseScopeError], ...] = ()


def read_value(
    reader: Reader, source: Source, readers: Sequence[Reader] = ()
) -> Trace | Experiment:
    """What `reader` makes of `source`, with what was odd about its packing, and when it began; of
    a file that ends early no run but whole ones.

    Where it declines, the others of `readers` that may know the file are asked.
    """
    try:
        value = reader.read(source)
    except Declined as declined:
        value = _by_another(reader, source, readers, declined)
    if isinstance(value, Experiment):
        return value
    cut = value.early_end  # noted once, of all processes and devices of the file
    others = tuple(_finished(_as_early(other, cut), source) for other in value.others)
    whole = sum(_executions(one) for one in (value, *value.others))
    return dataclasses.replace(
        _with_lost(_finished(value, source), whole),
        others=tuple(_with_lost(other, whole) for other in others),
    )


def _executions(trace: Trace) -> int:
    return int(trace.calls["n"].sum())


def _with_lost(trace: Trace, whole: int) -> Trace:
    """The trace with what is said of records that were lost; `whole` are executions of the file."""
    if trace.ends_early:
        return trace
    notes = lost_notes(trace.diagnostics, _executions(trace), whole)
    return dataclasses.replace(trace, diagnostics=(*trace.diagnostics, *notes))


def _as_early(trace: Trace, cut: Diagnostic | None) -> Trace:
    if cut is None or trace.ends_early:
        return trace
    return dataclasses.replace(trace, diagnostics=(*trace.diagnostics, cut))


def _finished(trace: Trace, source: Source) -> Trace:
    """The trace of a process or device with what is known of the whole file."""
    if source.notes:
        trace = dataclasses.replace(trace, diagnostics=(*source.notes, *trace.diagnostics))
    return with_start(as_far_as_whole(trace, source))


def _by_another(
    reader: Reader, source: Source, readers: Sequence[Reader], declined: Declined
) -> Trace | Experiment:
    for other in readers:
        if other is not reader and other.sniff(source.head):
            try:
                return other.read(source)
            except Declined:
                continue
    from fusescope.analysis.readers.foreign import foreign_error

    raise foreign_error(source) or declined


def find_recordings(sources: Sequence[Source], readers: Sequence[Reader]) -> Found:
    """The recordings among files of one folder, zip or upload; the first reader comes first.

    A recording takes files from its own folder down; where it is the only one of its format, from
    everywhere. A file of a format that it covers is left aside where it says the same; the folder
    of an Ascend profiler holds one recording. Raises FuseScopeError for more recordings than the
    limit.
    """
    search = _Search(sources, readers)
    for reader in readers:
        mains = search.mains(reader)
        for main in mains:
            if search.is_pending(main):
                search.take(reader, main, mains)
    return search.found()


class _Search:
    """Files of one folder on their way into recordings; `pending` are in none so far, by id."""

    def __init__(self, sources: Sequence[Source], readers: Sequence[Reader]) -> None:
        self._sources = sources
        self._readers = readers
        self._claims, self._failed = _claims(sources, readers)
        lost = {path for path, _ in self._failed}
        self._pending = {id(source): source for source in sources if source.path not in lost}
        self._recordings: list[Recording] = []
        self._covered: list[str] = []
        self._sameness = Sameness()

    def mains(self, reader: Reader) -> list[Source]:
        """The files that `reader` knows."""
        return [source for source in self._sources if self._claims.get(id(source)) is reader]

    def is_pending(self, source: Source) -> bool:
        """True for a file that no recording has taken."""
        return id(source) in self._pending

    def take(self, reader: Reader, main: Source, mains: Sequence[Source]) -> None:
        """Reads `main`, one of `mains`, with what lies beside it, and takes what it covers."""
        self._check_limit(main)
        beside = self._beside(main, mains)
        try:
            value = read_value(reader, main.among(beside), self._readers)
        except FuseScopeError as error:
            self._failed.append((main.path, error))
            del self._pending[id(main)]
            return
        used = set(value.meta.files) if isinstance(value, Trace) else set()
        companions = tuple(source for source in beside if source.path in used)
        self._recordings.append(Recording(main, value, companions))
        for source in (main, *companions):
            self._pending.pop(id(source), None)
        whole = _whole(main)
        for source in beside:
            if source.path not in used and self._is_covered(source, reader, value, whole):
                self._pending.pop(id(source), None)
                self._covered.append(source.path)

    def found(self) -> Found:
        """What became of the files."""
        return Found(
            tuple(self._recordings),
            tuple(self._covered),
            tuple(self._failed),
            tuple(source.path for source in self._pending.values()),
        )

    def _check_limit(self, main: Source) -> None:
        limits = main.limits
        if len(self._recordings) + len(self._failed) >= limits.recordings:
            raise FuseScopeError(
                "too_many_recordings",
                where=display_name(main.path.partition("/")[0]),
                limit=limits.recordings,
                raised=limits.raised("recordings"),
            )

    def _beside(self, main: Source, mains: Sequence[Source]) -> tuple[Source, ...]:
        """The files that `main` may take."""
        root = _root(main, mains)
        return tuple(
            source
            for source in self._sources
            if source is not main and source.path.startswith(root) and self.is_pending(source)
        )

    def _is_covered(
        self, source: Source, reader: Reader, value: Trace | Experiment, whole: str
    ) -> bool:
        """True where the recording `value` says what `source` says; `whole` is its folder."""
        claim = self._claims.get(id(source))
        if claim is None or not (claim is reader or claim.name in reader.covers):
            return False
        if whole and source.path.startswith(whole):
            return True
        return (
            claim is not reader
            and isinstance(value, Trace)
            and self._sameness.says_same(value, source, claim)
        )


def _claims(
    sources: Iterable[Source], readers: Sequence[Reader]
) -> tuple[dict[int, Reader], list[tuple[str, FuseScopeError]]]:
    """The reader of each file that has one, and files that cannot even be looked at."""
    claims: dict[int, Reader] = {}
    failed: list[tuple[str, FuseScopeError]] = []
    for source in sources:
        try:
            head = source.head
        except FuseScopeError as error:
            failed.append((source.path, error))
            continue
        reader = next((reader for reader in readers if reader.sniff(head)), None)
        if reader is not None:
            claims[id(source)] = reader
    return claims, failed


def _whole(source: Source) -> str:
    """The folder around it into which Ascend's profiler puts all of one recording; '' for none."""
    return next((root for root in _folders(source) if root.endswith(_WHOLE)), "")


def _folders(source: Source) -> list[str]:
    """The folders around a file, from '' down."""
    parts = source.path.split("/")[:-1]
    return ["".join(f"{part}/" for part in parts[:depth]) for depth in range(len(parts) + 1)]


def _root(main: Source, mains: Sequence[Source]) -> str:
    """The highest folder that holds no other file of the format; its own folder at the least."""
    folders = _folders(main)
    for root in folders:
        if root.endswith(_WHOLE):
            return root
        if not any(other is not main and other.path.startswith(root) for other in mains):
            return root
    return folders[-1]
