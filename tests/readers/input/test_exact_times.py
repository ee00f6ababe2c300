"""Times of many events at once are those that each alone is read as."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.readers.input.times import exact_column, exact_ns, holds_times

_NUMBERS = st.one_of(
    st.builds("{}.{:03d}".format, st.integers(0, 10**17), st.integers(0, 999)),
    st.integers(-(10**4), 10**22).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(0, 10**6).map("{:.7f}".format),
    st.builds("{}.{:04d}5".format, st.integers(0, 99), st.integers(0, 9999)),
    st.text("0123456789.-e+ ", max_size=24),
)


@given(st.lists(_NUMBERS, max_size=20))
def test_a_column_says_what_each_time_alone_says(texts: list[str]) -> None:
    raws = [msgspec.Raw(text.encode()) for text in texts]
    numbers, known = exact_column(raws)
    found = [n if ok else None for n, ok in zip(numbers.tolist(), known.tolist(), strict=True)]
    assert found == [exact_ns(raw) if raw else None for raw in raws]


def test_times_by_the_epoch_keep_every_ns() -> None:
    # 19 digits: a double keeps 256 ns of them.
    raws = [msgspec.Raw(b"1727650800000000.123"), msgspec.Raw(b"4611686018427387.904")]
    numbers, known = exact_column(raws)
    assert numbers.tolist() == [1727650800000000123, 0]  # the second is 2^62 ns
    assert known.tolist() == [True, False]


def test_parts_of_a_ns_are_rounded_half_to_even() -> None:
    raws = [msgspec.Raw(text) for text in (b"53.7410625", b"0.0005", b"0.0015", b"0.00250000001")]
    assert exact_column(raws)[0].tolist() == [53741, 0, 2, 3]


def test_times_are_found_across_the_ends_of_blocks() -> None:
    times = [1736408883000000000 + 1001 * at for at in range(16)]  # in ns
    text = b", ".join(b"%d.%03d" % divmod(ns, 1000) for ns in times)
    for size in (7, 64, 10_000):
        blocks = [text[at : at + size] for at in range(0, len(text), size)]
        assert holds_times(iter(blocks), times)
        assert not holds_times(iter(blocks), times, b"aclrt")
        assert holds_times([*blocks, b"acl", b"rt"], times, b"aclrt")
        assert not holds_times(iter(blocks), [ns + 10**12 for ns in times])
    half = [*times[:8], *(ns + 10**12 for ns in times[8:])]
    assert holds_times([text], half) and not holds_times([text], [*half[1:], 10**18])
    assert not holds_times([text], []) and not holds_times([text], [None, 5])
