"""Survey: every opportunity of a model, with what was made of it and why not more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fusescope.analysis.graph import Graph
from fusescope.analysis.patterns import Block, Match, chains
from fusescope.collectors.fusion import registry, scopes
from fusescope.collectors.fusion.passes import Fused, Reason, joined, matches
from fusescope.collectors.fusion.report import Asked, Opportunity, Value
from fusescope.collectors.fusion.rules import Rules
from fusescope.collectors.fusion.working import Origin, Step

Differences = Mapping[tuple[Step, ...], float | None]


def opportunities(
    graph: Graph, ideal: Fused, actual: Fused, differences: Differences
) -> tuple[Opportunity, ...]:
    """In the order of the model: what the pass does without rules (`ideal`), as far as it was done
    (`actual`), and what conditions keep even that from doing. `differences` are those of the
    verified groups, by the steps that made them."""
    rows = [
        *_groups(graph, ideal, actual, differences),
        *_blocked(graph, ideal),
    ]
    return tuple(sorted(rows, key=lambda row: min(graph.index[name] for name in row.operators)))


def asked(rules: Rules, actual: Fused, rows: Sequence[Opportunity]) -> tuple[Asked, ...]:
    """What became of every pattern that the rules list."""
    groups = list(actual.working.groups().values())
    return tuple(_asked(rules, entry, groups, rows) for entry in rules.patterns or ())


def _asked(
    rules: Rules,
    entry: str | tuple[str, ...],
    groups: Sequence[Origin],
    rows: Sequence[Opportunity],
) -> Asked:
    """Places are the opportunities that take the rewrite, or hold the operators in one piece."""
    if isinstance(entry, str):
        name = entry
        here = [row for row in rows if entry in row.rewrites]
        applied = sum(any(step.rewrite == entry for step in of.steps) for of in groups)
    else:
        name = joined(entry)
        here = [row for row in rows if registry.holds(row.op_types, entry)]
        applied = sum(of.op_types == entry for of in groups)
    reasons = Counter(row.blocked_by for row in here if row.blocked_by)
    if applied or not reasons:
        return Asked(name, max(len(here), applied), applied)
    if not isinstance(entry, str) and entry not in rules.sequences:
        facts: dict[str, Value] = {"level": rules.level, "needs": registry.level_of(entry)}
        return Asked(name, len(here), 0, "fusion_level", values=facts)
    [(code, _)] = reasons.most_common(1)
    first = next(row for row in here if row.blocked_by == code)
    return Asked(name, len(here), 0, code, first.tensor, first.values)


def _groups(
    graph: Graph, ideal: Fused, actual: Fused, differences: Differences
) -> Iterator[Opportunity]:
    done = actual.done()
    left = dict(actual.working.groups())
    holder = {member: name for name, part in left.items() for member in part.members}
    for origin in ideal.working.groups().values():
        own = set(origin.members)
        inside = dict.fromkeys(holder[name] for name in origin.members if name in holder)
        parts = {name: left[name] for name in inside if own.issuperset(left[name].members)}
        for name in parts:
            del left[name]
        missing = next((step for step in origin.steps if step not in done), None)
        reason = Reason("") if missing is None else actual.refused.get(missing, Reason("taken"))
        yield _row(graph, origin, parts, actual, reason, differences)
    # A ban or a rule can make other operators meet than without it.
    for name, origin in left.items():
        yield _row(graph, origin, {name: origin}, actual, Reason(""), differences)


def _row(
    graph: Graph,
    origin: Origin,
    parts: Mapping[str, Origin],
    actual: Fused,
    reason: Reason,
    differences: Differences,
) -> Opportunity:
    whole = not reason.code
    counted = list(parts.values()) if parts else [origin]
    sizes = [_bytes_removed(graph, part) for part in counted]
    known = [differences.get(part.steps) for part in parts.values()]
    compared = [value for value in known if value is not None]
    return Opportunity(
        pattern=origin.pattern,
        rewrites=tuple(dict.fromkeys(step.rewrite for step in origin.steps)),
        operators=origin.members,
        op_types=origin.op_types,
        scope=scopes.common(origin.members),
        outcome="applied" if whole else "partly" if parts else "no",
        makes=actual.working.nodes[next(iter(parts))].op_type if parts else "",
        bytes_removed=None if None in sizes else sum(size or 0 for size in sizes),
        difference=max(compared) if compared else None,
        blocked_by=reason.code,
        tensor=reason.tensor,
        values=dict(reason.values),
    )


def _blocked(graph: Graph, ideal: Fused) -> Iterator[Opportunity]:
    """What stands in the model and cannot be rewritten, each operator in one place."""
    working = ideal.working
    claimed: set[str] = set(working.groups())
    for rewrite in sorted(registry.REWRITES, key=lambda of: -len(of.pattern.templates[0].steps)):
        found: dict[str, Match] = {}
        for match in matches(working, rewrite):
            last = match.nodes[-1].name
            if match.complete or any(node.name in claimed for node in match.absorbed):
                continue
            known = found.get(last)
            if known is None or len(match.blocks) < len(known.blocks):
                found[last] = match
        for match in found.values():
            names = {node.name for node in match.absorbed}
            if claimed.isdisjoint(names):
                claimed |= names
                yield _place(graph, ideal, match, (rewrite.name,))
    for match in chains(working.view, working.nodes.keys() - claimed):
        yield _place(graph, ideal, match, ())


def _place(graph: Graph, ideal: Fused, match: Match, rewrites: tuple[str, ...]) -> Opportunity:
    working = ideal.working
    block: Block = match.blocks[0]
    origin = Origin(working.members(match), working.op_types(match))
    return Opportunity(
        pattern=match.name,
        rewrites=rewrites,
        operators=origin.members,
        op_types=origin.op_types,
        scope=scopes.common(origin.members),
        outcome="no",
        bytes_removed=_bytes_removed(graph, origin),
        blocked_by=block.code,
        tensor=block.tensor,
        values=dict(block.values),
    )


def _bytes_removed(graph: Graph, origin: Origin) -> int | None:
    """Bytes of the tensors that only these operators write and read."""
    own = set(origin.members)
    total = 0
    for name in origin.members:
        for tensor in graph.node[name].outputs:
            readers = [reader.name for reader in graph.consumers.get(tensor, [])]
            if readers and own.issuperset(readers) and tensor not in graph.returned:
                size = graph.bytes_of(tensor)
                if size is None:
                    return None
                total += size
    return total
