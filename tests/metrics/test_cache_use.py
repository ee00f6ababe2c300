"""The cache model against passes worked out by hand, and its properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.metrics.cache_use import cache_use, subgraph_nodes, unsized_tensors


def chain(sizes: list[int], weights: dict[int, int] | None = None) -> Graph:
    """t0 -> t1 -> … of uint8 tensors; node i may read a weight of weights[i] bytes."""
    weights = weights or {}
    nodes = tuple(
        Node(f"n{i}", "Op", (f"t{i}", *([f"w{i}"] if i in weights else [])), (f"t{i + 1}",))
        for i in range(len(sizes) - 1)
    )
    tensors = [Tensor(f"t{i}", "uint8", (size,)) for i, size in enumerate(sizes)]
    tensors += [Tensor(f"w{i}", "uint8", (size,), constant=True) for i, size in weights.items()]
    return Graph(nodes, tuple(tensors), ("t0",), (f"t{len(sizes) - 1}",))


def test_everything_fits() -> None:
    """Second pass: all four touches hit, so nothing misses."""
    use = cache_use(chain([10, 10, 10]), 100)
    assert (use.missed_bytes, use.hit_ratio, use.utilisation) == (0, 1.0, None)


def test_only_neighbours_fit() -> None:
    """t0 t1 | t1 t2 with room for two: second pass misses t0, t1, hits t1, misses t2."""
    use = cache_use(chain([10, 10, 10]), 20)
    assert use.missed_bytes == 30
    assert use.hit_ratio == pytest.approx(10 / 40)
    assert use.compulsory_bytes == 20  # input and output
    assert use.utilisation == pytest.approx(20 / 30)
    assert use.intermediate_bytes == 20  # t1 written once, read once


def test_a_tensor_larger_than_the_cache_never_hits() -> None:
    """t0 t1 | t1 t2 with t1 larger than the cache: it misses twice, and t0 and t2, though they fit,
    are gone each time it has passed."""
    use = cache_use(chain([10, 50, 10]), 20)
    assert use.missed_bytes == 120
    assert use.hit_ratio == 0


def test_weights_move_once_a_pass() -> None:
    """The weight is larger than the cache, so nothing is left of the pass before."""
    use = cache_use(chain([10, 10], {0: 100}), 50)
    assert use.compulsory_bytes == 120
    assert use.missed_bytes == 120
    assert use.utilisation == pytest.approx(1.0)


def test_a_round_that_does_not_fit_keeps_nothing() -> None:
    """t0 w t1 t0 w t1 …: with room for 40 of 50 bytes each pushes out the one needed next."""
    assert cache_use(chain([10, 10], {0: 30}), 40).missed_bytes == 50
    assert cache_use(chain([10, 10], {0: 30}), 50).missed_bytes == 0


def test_tensors_of_unknown_size_are_counted() -> None:
    graph = Graph(
        (Node("n", "Loop", ("x",), ("y",)),),
        (Tensor("x", "float32", (-1, 3)), Tensor("y", "float32", (3,))),
        ("x",),
        ("y",),
    )
    assert unsized_tensors(graph) == 1 and subgraph_nodes(graph) == 1
    assert cache_use(graph, 100).missed_bytes == 0


@given(
    st.lists(st.integers(1, 40), min_size=2, max_size=12), st.integers(1, 200), st.integers(0, 200)
)
def test_a_larger_cache_never_misses_more(sizes: list[int], cache: int, more: int) -> None:
    """LRU over tensors of one size is a stack algorithm; equal sizes keep the inclusion."""
    graph = chain([10] * len(sizes))
    small, large = cache_use(graph, cache), cache_use(graph, cache + more)
    assert large.missed_bytes <= small.missed_bytes
    use = cache_use(chain(sizes), cache)
    touched = 2 * sum(sizes) - sizes[0] - sizes[-1]
    assert 0 <= use.missed_bytes <= touched
