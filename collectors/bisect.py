"""What each of several releases of ONNX Runtime makes of one model. Imports no engine: workers do,
each the release that it is for."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import Graph, parse_graph
from fusescope.analysis.messages import Message, Said, language
from fusescope.analysis.releases.history import SCHEMA_VERSION, History, Made, Release
from fusescope.collectors.files import scratch
from fusescope.collectors.recording.facts import model_facts
from fusescope.collectors.recording.request import Plan, Recording
from fusescope.collectors.recording.trials import Trials
from fusescope.collectors.releases import fetching, index, kept
from fusescope.collectors.releases.cutting import Cut, cut_out
from fusescope.collectors.releases.version import ENGINE, Span, order
from fusescope.collectors.workers import machine, worker
from fusescope.collectors.workers.jobs import Prepared, SessionSettings
from fusescope.collectors.workers.pool import WorkerPool

_VARIANT = "fused"  # what the engine does by itself
MATCHING_SECONDS = 60.0
_AT_ONCE = 4
_PREPARING = Message("Preparing {model:name}")
_FETCHING = Message("Fetching {version:name}")
_OPTIMISING = Message("{version:name} optimises the model")
_CHECKING = Message("Looking whether a smaller model shows it")
_FOLLOWING = Message("Following the tensors of {version:name}")

# A step, and how many of all releases are done by then.
OnStep = Callable[[Message | Said, int, int], None]


@dataclass(frozen=True)
class Found:
    """Releases oldest first: `usable` ones that are there or can be fetched, `missing` those of
    them that have to be, `elsewhere` those without a wheel for this Python and machine. `offline`
    is why only those that are there are listed, None where the index was asked."""

    usable: tuple[str, ...]
    missing: tuple[str, ...]
    elsewhere: tuple[str, ...]
    offline: FuseScopeError | None = None

    @property
    def download_bytes(self) -> int:
        """About what has to be fetched."""
        return len(self.missing) * fetching.DOWNLOAD_BYTES

    @property
    def disk_bytes(self) -> int:
        """About what that takes on the disk."""
        return len(self.missing) * fetching.DISK_BYTES


def find(span: Span) -> Found:
    """The releases that a user asks for. Raises FuseScopeError where one of both ends is none, and
    where the index cannot be reached and not both of them were fetched before."""
    there = tuple(one.version for one in kept.all_kept())
    offline = None
    try:
        with scratch.folder() as folder:
            listed = index.listing(folder)
    except FuseScopeError as error:
        ends = {order(one) for one in there}
        if error.code != "release_no_network" or {order(span.first), order(span.last)} - ends:
            raise
        listed, offline = index.Listing(there), error
    found = listed.within(span)
    return Found(found.usable, fetching.missing(found.usable), found.elsewhere, offline)


def find_both(older: str, newer: str) -> Found:
    """Likewise, of these two releases alone."""
    first, last = sorted((older, newer), key=order)
    found = find(Span(first, last))
    wanted = (order(first), order(last))
    usable, missing, elsewhere = (
        tuple(one for one in names if order(one) in wanted)
        for names in (found.usable, found.missing, found.elsewhere)
    )
    return Found(usable, missing, elsewhere, found.offline)


def optimise(recording: Recording, found: Found, on_step: OnStep) -> History:
    """Fetches what is missing, and has every release optimise the model, some at a time.

    A release that cannot run the model is left out. Raises FuseScopeError where the model cannot be
    read, where a release cannot be fetched, and on Ctrl-C.
    """
    plan = recording.plan()
    fetching.check_disk(len(found.missing))
    stop = threading.Event()
    pool = WorkerPool(
        plan.model,
        (recording.memory_bytes or machine.memory_limit_bytes()) // _at_once(),
        recording.run_timeout,
        None,
        stop.is_set,
    )
    with scratch.folder() as folder:
        try:
            return _Bisection(recording, plan, found, folder, pool, on_step).run(stop)
        except (KeyboardInterrupt, worker.Cancelled):
            stop.set()
            raise FuseScopeError("release_interrupted") from None


def example(
    recording: Recording,
    graph: Graph,
    names: Sequence[str],
    versions: tuple[str, str],
    shows: Callable[[History], bool],
    on_step: OnStep,
) -> tuple[bytes, Cut] | None:
    """The smallest model around the operators `names` that still shows what two releases make
    different, by `shows` of what both make of it: its ONNX file, with random weights; None where
    only the whole model shows it. `graph` is the model's. Raises FuseScopeError."""
    plan = recording.plan()
    memory = recording.memory_bytes or machine.memory_limit_bytes()
    pool = WorkerPool(plan.model, memory, recording.run_timeout, None, lambda: False)
    found = find_both(*versions)

    def is_shown(file: Path) -> bool:
        on_step(_CHECKING, 0, 1)
        seen = optimise(Recording(model=str(file), variants=(_VARIANT,)), found, lambda *_: None)
        return len(seen.compared) == len(found.usable) and shows(seen)

    with scratch.folder() as folder:
        try:
            prepared = pool.run("prepare", recording.prepare_job(plan, folder), Prepared)
            model = Path(prepared.model)
            cut = cut_out(pool, model, graph, names, folder, is_shown)
            return None if cut is None else (cut.file.read_bytes(), cut)
        except KeyboardInterrupt:
            raise FuseScopeError("release_interrupted") from None


class _Bisection:
    def __init__(
        self,
        recording: Recording,
        plan: Plan,
        found: Found,
        folder: Path,
        pool: WorkerPool,
        on_step: OnStep,
    ) -> None:
        self._recording, self._plan, self._found = recording, plan, found
        self._folder, self._pool, self._on_step = folder, pool, on_step
        self._total = len(found.usable)
        self._done = 0

    def run(self, stop: threading.Event) -> History:
        """Everything, files in the folder."""
        self._tell(_PREPARING.of(model=self._plan.model))
        created = datetime.now(UTC).isoformat(timespec="seconds")
        job = self._recording.prepare_job(self._plan, self._folder)
        self._model = self._pool.run("prepare", job, Prepared)
        self._settings = SessionSettings(
            model=self._model.model,
            inputs=self._model.inputs,
            input_names=tuple(fact.name for fact in self._model.facts),
            threads=self._recording.threads or 1,
            spin=False,
            declared=self._model.declared,
        )
        trials = dict(self._each(stop))
        releases, made = self._followed(trials)
        return History(
            schema_version=SCHEMA_VERSION,
            created=created,
            engine=ENGINE,
            model=model_facts(self._pool.name, self._model, is_built_in=self._plan.path is None),
            graph=self._graph(trials),
            releases=releases,
            made=made,
            command=self._recording.command,
        )

    def _each(self, stop: threading.Event) -> Iterator[tuple[str, Trials | FuseScopeError | None]]:
        """What each release did with the model, as soon as it has; an error that keeps all of them
        from going on is raised."""
        with ThreadPoolExecutor(_at_once()) as threads:
            running: dict[Future[Trials | FuseScopeError | None], str] = {
                threads.submit(self._one, version): version for version in self._found.usable
            }
            try:
                while running:
                    done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                    for future in done:
                        version = running.pop(future)
                        self._done += 1
                        yield version, future.result()
                        self._tell(_OPTIMISING.of(version=version))
            except BaseException:
                stop.set()
                threads.shutdown(cancel_futures=True)
                raise

    def _one(self, version: str) -> Trials | FuseScopeError | None:
        """What the release did with the model; why it could not; None where it does not exist for
        this Python and machine."""
        if version in self._found.missing:
            self._tell(_FETCHING.of(version=version))
            if not fetching.fetch(version, lambda said: None):
                return None
        folder = self._folder / "releases" / version
        for name in ("graphs", "matches"):
            (folder / name).mkdir(parents=True)
        crew = self._pool.with_packages(kept.folder_to_import(version))
        graph = Path(self._model.graph)
        trials = Trials(self._settings, _VARIANT, graph, folder, crew.memory_bytes, crew.run)
        try:
            trials.check(_VARIANT)
        except FuseScopeError as error:
            return error
        problem = trials.checked[_VARIANT].graph_problem
        return trials if problem is None else FuseScopeError("engine_refused", reason=problem)

    def _followed(
        self, trials: dict[str, Trials | FuseScopeError | None]
    ) -> tuple[tuple[Release, ...], tuple[Made, ...]]:
        """Oldest first. Tensors are followed once for graphs that are alike."""
        releases = [Release(one, reason="no_wheel") for one in self._found.elsewhere]
        first: dict[str, str] = {}
        places: dict[str, str] = {}
        for version in self._found.usable:
            done = trials[version]
            if not isinstance(done, Trials):
                releases.append(left_out(version, done))
                continue
            data = done.files(_VARIANT)["graph"].read_bytes()
            places[version] = first.setdefault(hashlib.sha256(data).hexdigest(), version)
        made: dict[str, Made] = {}
        with ThreadPoolExecutor(_at_once()) as threads:
            versions = list(first.values())
            graphs = threads.map(lambda one: self._follow(one, trials[one]), versions)
            made.update(zip(versions, graphs, strict=True))
        numbers = {version: number for number, version in enumerate(made)}
        releases += [Release(version, numbers[at]) for version, at in places.items()]
        ordered = sorted(releases, key=lambda one: order(one.version))
        return tuple(ordered), tuple(made.values())

    def _follow(self, version: str, trials: object) -> Made:
        assert isinstance(trials, Trials)
        if trials.is_optimised(_VARIANT):
            self._tell(_FOLLOWING.of(version=version))
            trials.match(_VARIANT, MATCHING_SECONDS)
        trials.drop_dump(_VARIANT)
        files = trials.files(_VARIANT)
        matches: tuple[TensorMatch, ...] = ()
        if "matches" in files:
            data = files["matches"].read_bytes()
            matches = msgspec.json.decode(data, type=tuple[TensorMatch, ...])
        return Made(parse_graph(files["graph"].read_bytes(), version), matches)

    def _graph(self, trials: dict[str, Trials | FuseScopeError | None]) -> Graph:
        """The model's, with shapes as they ran."""
        for done in trials.values():
            if isinstance(done, Trials):
                return done.model_graph()
        return parse_graph(Path(self._model.graph).read_bytes(), "model")

    def _tell(self, said: Message | Said) -> None:
        self._on_step(said, self._done, self._total)


def left_out(version: str, error: FuseScopeError | None) -> Release:
    """A release that made no graph, with what the engine said."""
    if error is None:
        return Release(version, reason="no_wheel")
    if error.code == "package_missing":
        return Release(version, reason="not_importable")
    with language.speaking(language.ENGLISH):  # as the file has it
        return Release(version, reason="refused", said=error.what)


def _at_once() -> int:
    return max(1, min(_AT_ONCE, machine.physical_cores()))
