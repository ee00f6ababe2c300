"""Members of two exports of one model whose nodes are numbered differently: 'Conv_9', 'Conv_12'.

An exporter numbers nodes as it writes them, so one node more shifts all that follow. Names of
weights come from the model itself and stay.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from fusescope.analysis.operators.members import type_in_name

Claims = dict[int, tuple[str, ...]]

_WEIGHT = re.compile(r".*[./_](?:weight|bias|kernel|gamma|beta)s?$", re.IGNORECASE | re.DOTALL)
_NUMBERED = re.compile(r"[A-Za-z]\w{0,80}_\d{1,9}")
_OTHER_EXPORT = "{} (of the other export)"


def by_weights(baseline: Claims, candidate: Claims) -> tuple[Claims, int]:
    """The candidate's claims with the numbers of the baseline's export, and how many layers weights
    joined; as they are, and 0, where no weight says that numbers differ.

    Layers with a weight of one name are of the same node. Where that gives the n-th operator of a
    type the number of the n-th on the other side, so do the others of that type; a number that
    nothing tells is none of the baseline's.
    """
    pairs = _pairs(baseline, candidate)
    told: dict[str, str] = {}
    for before, after in pairs:
        told |= _alike(baseline[before], candidate[after])
    if all(after == before for after, before in told.items()):
        return candidate, 0
    known = _ranked(_numbered(baseline.values()), _numbered(candidate.values()), told) | told
    named = {
        name: known.get(name) or _OTHER_EXPORT.format(name)
        for listed in candidate.values()
        for name in listed
        if _is_numbered(name)
    }
    made = {at: tuple(named.get(name, name) for name in listed) for at, listed in candidate.items()}
    return made, len(pairs)


def _pairs(baseline: Claims, candidate: Claims) -> list[tuple[int, int]]:
    """Positions of layers that read a weight of one name, which one layer of each side reads."""
    places = [_readers(claims) for claims in (baseline, candidate)]
    shared = [name for name in places[0] if name in places[1]]
    found = {(places[0][name], places[1][name]) for name in shared}
    once = [Counter(pair[side] for pair in found) for side in (0, 1)]
    return sorted(pair for pair in found if once[0][pair[0]] == once[1][pair[1]] == 1)


def _readers(claims: Claims) -> dict[str, int]:
    """The layer of each weight that a single one reads."""
    found: dict[str, list[int]] = defaultdict(list)
    for at, listed in claims.items():
        for name in listed:
            if _WEIGHT.match(name):
                found[name].append(at)
    return {name: places[0] for name, places in found.items() if len(places) == 1}


def _alike(before: Iterable[str], after: Iterable[str]) -> dict[str, str]:
    """Numbered names of one layer by those of the other, where both have one of the type."""
    sides = (_numbered([tuple(before)]), _numbered([tuple(after)]))
    return {
        sides[1][kind][0]: sides[0][kind][0]
        for kind in sides[1]
        if len(sides[1][kind]) == 1 == len(sides[0].get(kind, ()))
    }


def _numbered(listed: Iterable[tuple[str, ...]]) -> dict[str, list[str]]:
    """Numbered names by their type, in order of the number."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for names in listed:
        for name in filter(_is_numbered, names):
            found[type_in_name(name)][name] = int(name.rpartition("_")[2])
    return {kind: sorted(names, key=names.__getitem__) for kind, names in found.items()}


def _ranked(
    before: Mapping[str, list[str]], after: Mapping[str, list[str]], told: Mapping[str, str]
) -> dict[str, str]:
    """The n-th name of a type as the n-th on the other side: for types of which both have as many,
    and that what weights told does not contradict."""
    found: dict[str, str] = {}
    for kind, names in after.items():
        own = dict(zip(names, before.get(kind, ()), strict=False))
        alike = len(names) == len(before.get(kind, ()))
        if alike and all(own[name] == told[name] for name in names if name in told):
            found |= own
    return found


def _is_numbered(name: str) -> bool:
    return _NUMBERED.fullmatch(name) is not None and bool(type_in_name(name))
