"""Times of many events at once are those that each alone is read as."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from analysis.readers.input.times import exact_ns, exact_us_column

_NUMBERS = st.one_of(
    st.builds("{}.{:03d}".format, st.integers(0, 10**17), st.integers(0, 999)),
    st.integers(-(10**4), 10**22).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.text("0123456789.-e+ ", max_size=24),
)


@given(st.lists(_NUMBERS, max_size=20))
def test_a_column_says_what_each_time_alone_says(texts: list[str]) -> None:
    raws = [msgspec.Raw(text.encode()) for text in texts]
    numbers, known = exact_us_column(raws)
    found = [n if ok else None for n, ok in zip(numbers.tolist(), known.tolist(), strict=True)]
    assert found == [exact_ns(raw) if raw else None for raw in raws]


def test_times_by_the_epoch_keep_every_ns() -> None:
    # 19 digits: a double keeps 256 ns of them.
    raws = [msgspec.Raw(b"1727650800000000.123"), msgspec.Raw(b"4611686018427387.904")]
    numbers, known = exact_us_column(raws)
    assert numbers.tolist() == [1727650800000000123, 0]  # the second is 2^62 ns
    assert known.tolist() == [True, False]
