"""Operators of two programs whose source lies on other lines, or in another file: 'jit(f)/dot
model.py:8:18' and 'jit(f)/jit(main)/dot old.py:9:12'.

JAX names an operator by its path in the program and the line that wrote it. A line more in front, a
renamed file, or a release of JAX that no longer writes `jit(main)`, changes every name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from fusescope.analysis.compare.groups.renumbered import Claims

_TRACED = re.compile(r"(p?jit\([^ ]*)(?: .*?)?( \(\d{1,9} of \d{1,9}\))?", re.DOTALL)
_ENTRY = "/jit(main)"  # of JAX before 0.5, around every operator of a program


def by_paths(baseline: Claims, candidate: Claims) -> tuple[Claims, int]:
    """Return the candidate's claims with the baseline's names of operators that have one path in
    the program, and the number of those operators; as they are, and 0, where names agree.

    A path that several operators of a side have says nothing of which is which.
    """
    names = [_names(claims) for claims in (baseline, candidate)]
    before, after = (_by_path(own) for own in names)
    renamed = {
        after[path][0]: before[path][0]
        for path in after
        if len(after[path]) == 1 == len(before.get(path, ()))
        and after[path][0] not in names[0]
        and before[path][0] not in names[1]
    }
    if not renamed:
        return candidate, 0
    made = {at: tuple(renamed.get(name, name) for name in of) for at, of in candidate.items()}
    return made, len(renamed)


def _names(claims: Claims) -> dict[str, None]:
    return {name: None for listed in claims.values() for name in listed}


def _by_path(names: Iterable[str]) -> dict[str, list[str]]:
    """Names by path and number of repetition, without the source."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        traced = _TRACED.fullmatch(name)
        if traced is not None:
            found[traced[1].replace(_ENTRY, "", 1) + (traced[2] or "")].append(name)
    return found
