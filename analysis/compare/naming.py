"""Short names of two sides that tell them apart, for headlines, legends and columns."""

from __future__ import annotations

import re
from dataclasses import replace

from fusescope.analysis.compare.side import Side
from fusescope.analysis.units import middle_cut

# What a headline shows whole; names of files up to FITS are what their owner knows them by.
MAX_CHARS = 34
FITS = 20
_DIGEST = 6
_PARTS = re.compile(r"[^\W_]+|[\W_]")
# Time since 1970 in s, ms or ns: what profilers put into the names of their files.
_STAMP = re.compile(r"[\W_]?(?<!\d)\d{10,}(?!\d)")


def named(baseline: Side, candidate: Side) -> tuple[Side, Side]:
    """Both sides with their short names."""
    first, second = short_names(baseline, candidate)
    return replace(baseline, short_name=first), replace(candidate, short_name=second)


def short_names(baseline: Side, candidate: Side) -> tuple[str, str]:
    """Names that differ within MAX_CHARS, where anything tells the sides apart.

    Variants keep their names, with the engine in front where there are two; of two experiments,
    equal ones get the model or the file in front.
    Of long file names the beginning and the end that both have are left out, whole words at a
    time. Equal names get the device, the step or the digest of the file behind them, and one file
    against itself its role.
    """
    sides = (baseline, candidate)
    names = (baseline.label, candidate.label)
    engines = {side.engine.name for side in sides if side.engine is not None}
    if len(engines) == 2:
        names = (engine_label(baseline), engine_label(candidate))
    if names[0] == names[1]:
        return _distinct(sides)
    files = [name for side, name in zip(sides, names, strict=True) if side.experiment is None]
    if len(files) == 2 and max(map(len, names)) > FITS:
        names = _without_common_file(sides)
    if middle_cut(names[0], MAX_CHARS) == middle_cut(names[1], MAX_CHARS):
        return _behind(names, _digests(sides))
    return names


def engine_label(side: Side) -> str:
    """The variant behind its engine, as a recording of several engines names it: `openvino:fused`;
    the label of a trace."""
    return side.label if side.engine is None else f"{side.engine.name}:{side.own_name}"


def without_common(first: str, second: str) -> tuple[str, str]:
    """Return both without the words that both begin and end with, as long as something telling is
    left, and without times of day, if the rest tells them apart."""
    bare = _STAMP.sub("", first), _STAMP.sub("", second)
    if bare[0] != bare[1]:
        first, second = bare
    a, b = _PARTS.findall(first), _PARTS.findall(second)
    maximum = min(len(a), len(b))
    start = next((n for n in range(maximum) if a[n] != b[n]), maximum)
    end = next((n for n in range(maximum - start) if a[-1 - n] != b[-1 - n]), maximum - start)
    starts = [start, *(n for n in reversed(range(start)) if a[n].isalnum())]
    ends = [end, *(n for n in reversed(range(end)) if a[-1 - n].isalnum())]
    # A number alone, or nothing, tells little: take in a word before it, else one behind it.
    tried = [(start, end)]
    for number in range(1, max(len(starts), len(ends))):
        tried += [(n, end) for n in starts[number : number + 1]]
        tried += [(start, n) for n in ends[number : number + 1]]
    for left, right in tried:
        one, other = ("".join(x[left : len(x) - right]).strip(" ._-/") for x in (a, b))
        if one != other and _tells(one) and _tells(other):
            return one, other
    return first, second


def _without_common_file(sides: tuple[Side, Side]) -> tuple[str, str]:
    """The labels without what both files have in common; a process or device, whole, stays behind
    its file where it tells the sides apart."""
    units = [_unit(side) for side in sides]
    files = [side.label.removesuffix(unit) for side, unit in zip(sides, units, strict=True)]
    if files[0] == files[1]:
        return without_common(sides[0].label, sides[1].label)
    first, second = without_common(files[0], files[1])
    if units[0] == units[1]:
        return first, second
    return first + units[0], second + units[1]


def _unit(side: Side) -> str:
    """' · process:144' at the end of a label; '' where it does not name a process or device."""
    unit = f" · {side.trace.meta.variant}" if side.trace.meta.variant else ""
    return unit if unit and side.label.endswith(unit) else ""


def _tells(name: str) -> bool:
    return len(name) > 1 and any(sign.isalpha() for sign in name)


def _distinct(sides: tuple[Side, Side]) -> tuple[str, str]:
    """Names of two sides with one label."""
    label = sides[0].label
    experiments = [side.experiment for side in sides if side.experiment is not None]
    if len(experiments) == 2 and experiments[0].sha256 != experiments[1].sha256:
        models = [one.record.model.name for one in experiments]
        fronts = models if models[0] != models[1] else [one.file_name for one in experiments]
        if fronts[0] != fronts[1]:
            first, second = without_common(fronts[0], fronts[1])
            room = max(8, MAX_CHARS - len(label) - 3)
            shown = middle_cut(first, room), middle_cut(second, room)
            if shown[0] != shown[1]:
                return f"{shown[0]} · {label}", f"{shown[1]} · {label}"
    devices = (sides[0].trace.meta.device or "", sides[1].trace.meta.device or "")
    for told in (devices, _steps(sides), _digests(sides)):
        if told[0] != told[1] and all(told):
            return _behind((label, label), told)
    return _behind((label, label), ("baseline", "candidate"))


def _steps(sides: tuple[Side, Side]) -> tuple[str, str]:
    """The step of each side, where both recorded a single one."""
    runs = [side.trace.profiled_runs for side in sides]
    if any(len(of) != 1 or of["kind"].iloc[0] != "step" for of in runs):
        return "", ""
    return f"step {runs[0]['run'].iloc[0]}", f"step {runs[1]['run'].iloc[0]}"


def _digests(sides: tuple[Side, Side]) -> tuple[str, str]:
    first, second = (side.trace.meta.sha256[:_DIGEST] for side in sides)
    return (first, second) if first != second else ("baseline", "candidate")


def _behind(names: tuple[str, str], told: tuple[str, str]) -> tuple[str, str]:
    """The names with what tells them apart behind them, all of it within MAX_CHARS."""
    short = [middle_cut(text, MAX_CHARS // 2) for text in told]
    if short[0] == short[1]:
        short = ["baseline", "candidate"]
    first, second = (
        f"{middle_cut(name, MAX_CHARS - 3 - len(text))} ({text})"
        for name, text in zip(names, short, strict=True)
    )
    return first, second
