"""Sizes of data types, by every profiler's name for them."""

from __future__ import annotations

import pytest

from fusescope.analysis.readers.building.trace_tables import dtype_bytes, dtype_name


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("DT_BOOL", 1), ("INT8", 1), ("DT_BF16", 2), ("c10::Half", 2), ("FLOAT", 4), ("INT64", 8),
        ("complex64", 8), ("float8_e4m3", 1), ("int4", 0.5), ("STRING", None), ("UNDEFINED", None),
    ],
)  # fmt: skip
def test_bytes_of_an_element(text: str, size: float | None) -> None:
    assert dtype_bytes(dtype_name(text)) == size
