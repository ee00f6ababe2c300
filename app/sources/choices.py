"""What can stand on a side, and what to compare first.

A source id is what a link holds: `sample:mobilenetv2/fused`, `recorded:<file>/fused`,
`engines:<name>/torch:fused`, `recipe:<name>/fused`,
`file:<path below a configured folder>[/variant]`,
`upload:<first 12 of SHA-256>[/variant]`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fusescope.analysis.compare.choice import (
    alike,
    chosen_names,
    default_baseline,
)
from fusescope.analysis.compare.likeness import belong_together
from fusescope.analysis.compare.side import label_of
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.messages import Message
from fusescope.analysis.readers.packed.report import BOTH
from fusescope.analysis.trace import Trace
from fusescope.app.sources import examples, places, sides
from fusescope.app.state.opened import Fate, Opened
from fusescope.app.store import records

Pair = tuple[str | None, str | None]

_OF_FILE = Message("{model:name} · {variant:name} ({file:name})")
_DATED = Message("{model:name} · {variant:name} ({date:name})")
_SAMPLE = Message("{model:name} · {variant:name} (sample)")
_RECIPE = Message("{model:name} · {variant:name} (recipe {recipe:name})")
_MOST_ALIKE = Message(
    "Of {n:count} files, {one:name} and {other:name} are compared: their operators and names are "
    "most alike. Choose others in the lists above."
)
_OF_ALL = Message(
    "Of {n:count} files that are alike, {one:name} and {other:name} are compared: the first and "
    "the last by name. Choose others in the lists above."
)
_TURNED = Message(
    "{one:name} came second and is the baseline, because of its name. Swap turns them around."
)


@dataclass(frozen=True)
class Choice:
    """One thing that can stand on a side: `label` may hold text from a file."""

    id: str
    label: str


def choices(opened: Mapping[str, Opened], asked: Iterable[str | None] = ()) -> tuple[Choice, ...]:
    """Everything that can stand on a side: opened files, newest first, the last experiments and
    those that are `asked` for, samples, and the recorded recipes that come with FuseScope."""
    found: list[Choice] = []
    for file in reversed(list(opened.values())):
        if isinstance(file.value, Experiment):
            model = file.value.record.model.name
            for variant in file.value.traces:
                label = _OF_FILE.text(model=model, variant=variant, file=file.name)
                found.append(Choice(f"{file.id}/{variant}", label))
        else:
            found += _units(file)
    experiments = places.experiments()
    for id_ in asked:
        kind, _, rest = (id_ or "").partition(":")
        name = rest.partition("/")[0]
        if kind == "recorded" and (older := places.recording(name)) is not None:
            experiments.setdefault(name, older)
    for name, path in experiments.items():
        found += _variants(f"recorded:{name}", path, _DATED)
    for name, path in places.samples().items():
        found += _variants(f"sample:{name}", path, _SAMPLE)
    for name, path in places.engine_samples().items():
        found += _variants(f"engines:{name}", path, _SAMPLE)
    for name, path in places.recipe_samples().items():
        found += _variants(f"recipe:{name}", path, _RECIPE, recipe=name)
    times = Counter(choice.label for choice in found)
    alike = {label for label, count in times.items() if count > 1}
    return tuple(
        replace(choice, label=f"{choice.label} · {choice.id}") if choice.label in alike else choice
        for choice in {choice.id: choice for choice in found}.values()
    )


def _units(file: Opened) -> list[Choice]:
    """A profile; of one of several processes or devices each, the one that is shown without its
    name in the id."""
    if isinstance(file.value, Experiment):
        return []
    if not file.value.others:
        return [Choice(file.id, file.name)]
    return [
        Choice(_id_of(file, trace), label_of(file.name, trace))
        for trace in file.value.units.values()
    ]


def _ids(file: Opened) -> list[str]:
    """The ids of a profile, of one of several processes or devices of each."""
    return [choice.id for choice in _units(file)]


def _id_of(file: Opened, trace: Trace) -> str:
    """The id of a process or device of a file."""
    return file.id if trace is file.value else f"{file.id}/{trace.meta.variant}"


def with_several(found: Iterable[Choice], ids: Iterable[str | None]) -> tuple[Choice, ...]:
    """What can be chosen, behind the sides of several files among `ids`, as far as all of their
    files are there."""
    found = tuple(found)
    labels = {choice.id: choice.label for choice in found}
    asked = [id_ for id_ in dict.fromkeys(ids) if id_ and sides.is_several(id_)]
    told = {id_: label for id_ in asked if (label := sides.label_of(id_, labels)) is not None}
    times = Counter(told.values())
    return (
        *(
            Choice(
                id_, label if times[label] == 1 else f"{label} · {labels[sides.members(id_)[0]]}"
            )
            for id_, label in told.items()
        ),
        *found,
    )


def of_all(opened: Mapping[str, Opened], ids: Iterable[str | None]) -> tuple[Choice, ...]:
    """What can be chosen where no pair is ticked: `choices` behind the sides of several files among
    `ids`, and those that opened profiles make."""
    ids = tuple(ids)
    return with_several(choices(opened, ids), (*ids, *sides.groups(opened.values())))


def first_pair() -> Pair:
    """What to compare when nobody said what: the first sample, else the newest experiment."""
    files = [(f"sample:{name}", path) for name, path in places.samples().items()]
    files += [(f"recorded:{name}", path) for name, path in places.experiments().items()]
    pairs = (records.pair_in(prefix, path) for prefix, path in files)
    return next((pair for pair in pairs if None not in pair), (None, None))


def suggested(files: Iterable[Opened], *, in_order: bool = False) -> Pair:
    """Baseline and candidate among files opened together; None for a side that is not there.

    The last experiment compares what the terminal does: its own baseline with its most optimised
    variant. Two profiles stand in the order in which they came, and of more than two the first
    and the last by name of those that belong together are taken; names like 'unfused' or 'before'
    stand in front. With `in_order`, as of arguments, whatever names say. Several of each of two
    folders, or of names that differ in their numbers alone, are two sides of several files. Those
    of a report keep the sides that they have there.
    """
    files = list(files)
    two = None if any(file.places for file in files) else sides.two_sides(files)
    if two is not None:
        first, second = two if in_order else sorted(two, key=lambda side: _place(side[0]))
        return sides.id_of([one.id for one in first]), sides.id_of([one.id for one in second])
    for file in reversed(files):
        if isinstance(file.value, Experiment) and len(file.value.traces) > 1:
            baseline, candidate = chosen_names(file.value.record)
            return f"{file.id}/{baseline}", f"{file.id}/{candidate}"
    if len(files) == 1 and files[0].role == BOTH:
        return _whole(files[0]), _whole(files[0])
    files = _together(files)
    if not in_order and len(files) > 2:
        files.sort(key=lambda file: file.name.lower())
    files.sort(key=lambda file: _place(file) if file.role or not in_order else _NEITHER)
    ids = [_whole(file) for file in files]
    if len(ids) > 1:
        before, after = files[0].value, files[-1].value
        if isinstance(before, Trace) and isinstance(after, Trace):
            one, other = alike(before, after)
            return _id_of(files[0], one), _id_of(files[-1], other)
    return (ids[0], ids[-1]) if len(ids) > 1 else (None, ids[0] if ids else None)


def _together(files: list[Opened]) -> list[Opened]:
    """Return the profiles that belong together, where there are more than two, else all files."""
    traces = [(file.name, file.value) for file in files if isinstance(file.value, Trace)]
    if len(files) < 3 or len(traces) < len(files) or any(file.places for file in files):
        return files
    return [files[place] for place in belong_together(traces)]


def why_suggested(files: Iterable[Opened], pair: Pair) -> Fate | None:
    """Return a note on how two of more than two profiles were chosen, or why the second of two is
    the baseline; None of others."""
    files = list(files)
    names = [next((file.name for file in files if id_ in _ids(file)), None) for id_ in pair]
    if len(files) < 2 or None in names or not all(isinstance(file.value, Trace) for file in files):
        return None
    if len(files) == 2:
        is_turned = pair[0] in _ids(files[1]) and not any(file.role for file in files)
        return Fate("suggested", None, _TURNED.of(one=names[0])) if is_turned else None
    is_all = len(_together(files)) == len(files)
    sentence = (_OF_ALL if is_all else _MOST_ALIKE).of(n=len(files), one=names[0], other=names[1])
    return Fate("suggested", None, sentence)


def of_report(files: Iterable[Opened]) -> tuple[str, ...]:
    """Ids of what the report of several compares that was opened, as far as they are open, the
    baseline first; none where anything else was opened."""
    files = list(files)
    if not all(file.places for file in files):
        return ()
    placed = {
        place: file.id if variant is None else f"{file.id}/{variant}"
        for file in files
        for place, variant in file.places
    }
    return tuple(dict.fromkeys(placed[place] for place in sorted(placed)))


def _whole(file: Opened) -> str:
    if isinstance(file.value, Experiment):
        return f"{file.id}/{next(iter(file.value.traces))}"
    return file.id


_BASELINE_WORDS = ("unfused", "nofus", "no_fus", "baseline", "before", "disable", "eager", "orig")
_NEITHER = 1
_CANDIDATE_WORDS = ("fused", "fusion", "candidate", "after", "enable", "optimi", "new")


def _place(file: Opened) -> int:
    """As `_looks_like`, by the side in a report where it comes from one."""
    return _looks_like(file.role or file.name)


def _looks_like(name: str) -> int:
    """0 for a name that says baseline, 2 for one that says candidate, `_NEITHER` else."""
    lower = name.lower()
    if any(word in lower for word in _BASELINE_WORDS):
        return 0
    return 2 if any(word in lower for word in _CANDIDATE_WORDS) else _NEITHER


def together(id_: str, opened: Mapping[str, Opened]) -> tuple[str, ...]:
    """Ids of all variants recorded together with that of `id_`, the recorded baseline first; none
    of a profile."""
    file = id_.rpartition("/")[0]
    if not file:
        return ()
    if id_.startswith(("upload:", "file:")):
        value = next((one.value for one in opened.values() if one.id == file), None)
        record = value.record if isinstance(value, Experiment) else None
    else:
        kind, _, name = file.partition(":")
        known = {
            "sample": places.samples,
            "recorded": places.experiments,
            "engines": places.engine_samples,
            "recipe": places.recipe_samples,
        }.get(kind)
        path = known().get(name) if known is not None else None
        record = records.record_at(path) if path is not None else None
    if record is None:
        return ()
    baseline = default_baseline(record)
    return tuple(f"{file}/{name}" for name in sorted(record.names, key=lambda n: n != baseline))


def is_sample(id_: str) -> bool:
    """True for what comes with FuseScope and is nobody's own recording."""
    return id_.partition(":")[0] in ("sample", "engines", "recipe", examples.PREFIX)


def _variants(prefix: str, path: Path, label: Message, recipe: str = "") -> list[Choice]:
    """The variants of the experiment at `path`; none where the file is not an experiment."""
    record = records.record_at(path)
    if record is None:
        return []
    day = record.created[:16].replace("T", " ")
    return [
        Choice(
            f"{prefix}/{name}",
            label.text(model=record.model.name, variant=name, date=day, recipe=recipe),
        )
        for name in record.names
    ]
