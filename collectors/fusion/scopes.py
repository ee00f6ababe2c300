"""Which nodes the globs of a rule file mean: nodes by name, or modules with all they hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import accumulate

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.spelling import nearest
from fusescope.analysis.text import shown

_MODULES = 12  # in a message


def holds(glob: str, node: str) -> bool:
    """True where the glob fits the node's name, or a module around it.

    A name is made of modules: 'layer1/0/conv' is in 'layer1/0' and in 'layer1'. A '/' in front,
    which some exporters write, does not count; '*' stands for any text, '/' included.
    """
    name, wanted = node.strip("/"), glob.strip("/")
    *modules, _ = accumulate(name.split("/"), lambda outer, inner: f"{outer}/{inner}")
    around = (name, *modules)
    return wanted in around or any(fnmatchcase(candidate, wanted) for candidate in around)


def first(globs: Sequence[str], nodes: Iterable[str]) -> str | None:
    """The first glob that fits any of the nodes."""
    listed = list(nodes)
    return next((glob for glob in globs if any(holds(glob, node) for node in listed)), None)


def check(key: str, globs: Sequence[str], nodes: Sequence[str]) -> None:
    """Raises FuseScopeError for a glob of the rule `key` that fits no node of the model."""
    for glob in globs:
        if not any(holds(glob, node) for node in nodes):
            modules = dict.fromkeys(
                node.strip("/").partition("/")[0] for node in nodes if "/" in node.strip("/")
            )
            listed = [shown(module) for module in modules][:_MODULES]
            if not listed:
                raise FuseScopeError("rule_glob_without_modules", key=key, glob=shown(glob))
            raise FuseScopeError(
                "rule_glob_unmatched",
                key=key,
                glob=shown(glob),
                modules=", ".join(listed) + (", …" if len(modules) > _MODULES else ""),
                nearest=nearest(glob.strip("/").partition("/")[0], listed),
            )


def common(nodes: Sequence[str]) -> str:
    """The innermost module that holds all these nodes, '' for none."""
    split = [node.split("/")[:-1] for node in nodes]
    shared = []
    for parts in zip(*split, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "/".join(shared)
