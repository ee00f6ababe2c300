"""What kernels multiply by their names: the data type that libraries write into them."""

from __future__ import annotations

import re
from functools import lru_cache

from fusescope.analysis.operators.short_names import short_name

_TYPES = {
    "bf16": "bfloat16", "fp16": "float16", "f16": "float16", "fp32": "float32", "f32": "float32",
    "tf32": "tf32", "fp64": "float64", "f64": "float64", "fp8": "float8", "bf8": "float8",
    "int8": "int8", "i8": "int8",
}  # fmt: skip
# Of 'bf16bf16' and 'bf16f32' the first: what is multiplied, before what it is summed in.
_WORD = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(sorted(_TYPES, key=len, reverse=True))})")


@lru_cache(maxsize=16384)
def type_in_name(name: str) -> str | None:
    """Return the data type in the name of a kernel, as `number_types` calls it; None without."""
    found = _WORD.search(short_name(name))
    return _TYPES[found[1]] if found else None
