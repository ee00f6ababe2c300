"""Pairs of operators against the plain way to find them, on random small traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from analysis.compare.groups.pairs import paired_operators
from analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame

Row = tuple[str, str | None, str | None, str | None, str | None, str, bool]

_ROW = st.tuples(
    st.sampled_from(["a", "b", "c", "d"]),
    st.sampled_from(["Conv", "Add", None]),
    st.sampled_from(["f[1]", "f[2]", None]),
    st.sampled_from(["f[1]", None]),
    st.sampled_from(["aten::add", "aten::mul", None]),
    st.sampled_from(["device_kernel", "framework_op"]),
    st.booleans(),
)


def _trace(rows: Sequence[Row], order: Sequence[int]) -> Trace:
    columns = [*zip(*rows, strict=True)]
    names = ("name", "op_type", "inputs", "outputs", "launched_by", "level", "is_communication")
    operators = {name: list(cells) for name, cells in zip(names, columns, strict=True)}
    ran = [at for at in order if at < len(rows)]
    return Trace(
        Meta("test", "test"),
        runs_frame(run=[0], dur_ns=[1], profiled=[True]),
        operators_frame(operator=list(range(len(rows))), **operators),
        calls_frame(
            operator=ran, run=[0] * len(ran), start_ns=[*range(len(ran))], dur_ns=[1] * len(ran)
        ),
    )


def _plain(rows: Sequence[Sequence[Row]], ran: Sequence[Sequence[int]], origins: Mapping[str, str]):
    """As paired_operators documents it, one operator after the other; pairs of rows."""
    origin = [
        [rows[0][at][0] for at in ran[0]],
        [origins.get(rows[1][at][0], rows[1][at][0]) for at in ran[1]],
    ]
    keys = {"op_type": 1, "inputs": 2, "outputs": 3, "launched_by": 4}

    def join(
        of: Sequence[str], among: Sequence[Iterable[int]], used: Sequence[set[int]]
    ) -> list[tuple[int, int]]:
        found: list[dict[tuple[object, ...], int]] = []
        for side in (0, 1):
            seen: Counter[tuple[object, ...]] = Counter()
            keyed: dict[tuple[object, ...], int] = {}
            for at in among[side]:
                row = rows[side][ran[side][at]]
                key = tuple(
                    origin[side][at] if name == "origin" else row[keys[name]] for name in of
                )
                if at in used[side] or None in key or "" in key:
                    continue
                keyed[(*key, seen[key])] = at
                seen[key] += 1
            found.append(keyed)
        return [(at, found[1][key]) for key, at in found[0].items() if key in found[1]]

    counts = [Counter(of) for of in origin]
    told = [{origin[s][at] for at, row in enumerate(ran[s]) if rows[s][row][2]} for s in (0, 1)]
    differ = {
        name
        for name in counts[0].keys() & counts[1].keys()
        if counts[0][name] != counts[1][name] and (name in told[0]) != (name in told[1])
    }
    pairs = [
        (b, c, "name" if rows[0][ran[0][b]][0] == rows[1][ran[1][c]][0] else "graph")
        for b, c in join(
            ["origin"],
            [range(len(of)) for of in ran],
            [{at for at, name in enumerate(of) if name in differ} for of in origin],
        )
    ]
    every = [range(len(of)) for of in ran]
    untold = [
        [
            at
            for at in every[s]
            if rows[s][ran[s][at]][3] is None and rows[s][ran[s][at]][5] != "device_kernel"
        ]
        for s in (0, 1)
    ]
    talking = [[at for at in every[s] if rows[s][ran[s][at]][6]] for s in (0, 1)]
    alone = {at for at, name in enumerate(origin[1]) if not name}
    for among, of, label in (
        (every, ["op_type", "inputs", "outputs"], "shape"),
        (untold, ["op_type", "inputs"], "shape"),
        (every, ["launched_by", "inputs"], "launcher"),
        (talking, ["op_type"], "order"),
    ):
        used = [{pair[0] for pair in pairs}, {pair[1] for pair in pairs} | alone]
        pairs += [(b, c, label) for b, c in join(of, among, used)]
    used = [{pair[0] for pair in pairs}, {pair[1] for pair in pairs}]
    pairs += [(b, -1, "") for b in every[0] if b not in used[0]]
    return pairs + [(-1, c, "") for c in every[1] if c not in used[1]]


@given(
    st.lists(_ROW, min_size=1, max_size=12),
    st.lists(_ROW, min_size=1, max_size=12),
    st.permutations(range(12)),
    st.sampled_from([{}, {"a": "b", "c": ""}, {"d": "new"}]),
)
def test_pairs_are_those_of_the_plain_way(
    before: list[Row], after: list[Row], order: list[int], origins: dict[str, str]
) -> None:
    first, second, pairs = paired_operators(
        _trace(before, order), _trace(after, order[::-1]), origins
    )
    ran = [
        [at for at in of if at < len(rows)] for of, rows in ((order, before), (order[::-1], after))
    ]
    assert first.table["operator"].tolist() == ran[0]
    assert second.table["operator"].tolist() == ran[1]
    found = [*zip(pairs.before.tolist(), pairs.after.tolist(), pairs.by.tolist(), strict=True)]
    assert found == _plain([before, after], ran, origins)
