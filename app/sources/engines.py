"""Recordings of one model that are compared by engine: one of several engines, or one of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fusescope.analysis.compare.multiple.engines import first_variants
from fusescope.analysis.experiment import ExperimentRecord
from fusescope.app.sources.recordings import recordings, samples
from fusescope.app.state.opened import Opened

_SHA_CHARS = 12
Recording = tuple[str, ExperimentRecord]  # its id without a variant, and its record


@dataclass(frozen=True)
class Recorded:
    """Recordings of one model with one batch size and one number of threads, each with its id
    without a variant. `key` is what an address holds."""

    key: str
    recordings: tuple[Recording, ...]

    @property
    def model(self) -> str:
        """Its name, which may come from a file."""
        return self.recordings[0][1].model.name

    @property
    def engines(self) -> tuple[str, ...]:
        """Those that ran it, each once, with the providers of its own where there are several."""
        return tuple(dict.fromkeys(name for _, record in self.recordings for name in _ran(record)))

    @property
    def variants(self) -> tuple[str, ...]:
        """Ids of all variants, the baseline of the first recording in front."""
        first_id, first = self.recordings[0]
        found = [f"{first_id}/{first.settings.baseline}"]
        found += [f"{id_}/{name}" for id_, record in self.recordings for name in record.names]
        return tuple(dict.fromkeys(found))

    @property
    def first(self) -> tuple[str, ...]:
        """Ids of the variants that are shown when nobody said which."""
        ids = [id_ for id_, _ in self.recordings]
        chosen = first_variants([record for _, record in self.recordings])
        return tuple(f"{ids[at]}/{name}" for at, name in chosen)


def recorded(opened: Mapping[str, Opened]) -> dict[str, Recorded]:
    """What can be shown, by key: those of several engines first, recordings of them together before
    recordings apart; of the samples, where nothing was recorded or opened."""
    return {one.key: one for one in _sets(list(recordings(opened)) or list(samples()))}


def key_of(ids: Iterable[str], opened: Mapping[str, Opened]) -> str | None:
    """What the Engines page shows that has all these variants and several engines; None where
    nothing has."""
    wanted = set(ids)
    sets = (one for one in recorded(opened).values() if len(one.engines) > 1)
    return next((one.key for one in sets if wanted <= set(one.variants)), None)


def _sets(found: list[Recording]) -> Iterable[Recorded]:
    together: list[Recorded] = []
    apart: list[Recorded] = []
    alone: list[Recorded] = []
    models: dict[tuple[str, int | None, int], dict[str, Recording]] = {}
    for id_, record in sorted(found, key=lambda one: one[1].created, reverse=True):
        engines = _ran(record)
        if len(engines) > 1:
            together.append(Recorded(id_, ((id_, record),)))
            continue
        key = (record.model.sha256, record.model.batch, record.settings.threads)
        models.setdefault(key, {}).setdefault(engines[0], (id_, record))
    for (sha256, batch, threads), newest in models.items():
        key_ = f"model:{sha256[:_SHA_CHARS]}:{batch}:{threads}"
        made = Recorded(key_, tuple(newest[name] for name in sorted(newest, key=_place)))
        (apart if len(newest) > 1 else alone).append(made)
    return (*together, *apart, *alone)


def _place(engine: str) -> tuple[bool, str]:
    """ONNX Runtime, which comes with FuseScope, in front."""
    return engine != "onnxruntime", engine


def _ran(record: ExperimentRecord) -> tuple[str, ...]:
    """Names of engines; of one engine by several of its execution providers, those behind it."""
    pairs = dict.fromkeys(
        (record.engine_of(one.name).name, str(one.settings.get("provider", "")))
        for one in record.variants
    )
    names = tuple(dict.fromkeys(name for name, _ in pairs))
    if len(names) > 1 or len(pairs) == 1:
        return names
    return tuple(f"{name} {provider}" for name, provider in pairs)
