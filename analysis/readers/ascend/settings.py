"""Settings of an Ascend recording: profiler_info*.json, of torch_npu and of MindSpore."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fusescope.analysis.readers.ascend.ranks import rank_of_settings
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.json_value import decoded_whole, refused
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Value

_MAX_BYTES = 2**20
_SIGN = re.compile(rb'"_?profiler_level"|"ms_profiler_info"|"cann_profiler_info"')


@dataclass(frozen=True)
class Settings:
    """Level, metrics and versions by our own names, None for what the file does not say.

    `ended_ns` is when the recording ended, `rank` the rank that it is of, and `world` how many
    there are, as the file has that.
    """

    values: dict[str, Value]
    ended_ns: int | None
    rank: int | None = None
    world: object = None


def is_settings(head: bytes) -> bool:
    """True for the head of profiler_info*.json."""
    return utf8(head).lstrip()[:1] == b"{" and (
        _SIGN.search(head) is not None or (b'"start_info"' in head and b'"end_info"' in head)
    )


def read_settings(source: Source) -> Settings | None:
    """The settings in the file; None for a file too large to be one.

    Raises FuseScopeError for a damaged file.
    """
    content = source.content
    if len(content) > _MAX_BYTES:
        return None
    with refused(source.name):
        info = decoded_whole(utf8(content), Any, [])
    ended = _value(info, "end_info", "collectionTimeEnd")
    return Settings(
        _settings(info),
        ended if isinstance(ended, int) else None,
        rank_of_settings(source.path, _value(info, "rank_id")),
        _value(info, "world_size"),
    )


def _settings(info: Any) -> dict[str, Value]:
    """Profiler settings and versions by our own names; None for what the file does not say."""
    config = _value(info, "config", "experimental_config")
    config = config if isinstance(config, dict) else _value(info, "profiler_parameters")
    told = config if isinstance(config, dict) else {}
    level = told.get("_profiler_level", told.get("profiler_level"))
    metrics = told.get("_aic_metrics", told.get("aic_metrics"))
    cache = told.get("_l2_cache", told.get("l2_cache"))
    return {
        "level": _text(level),
        "aic_metrics": _METRICS.get(str(metrics), _text(metrics)),
        "l2_cache": str(cache).lower() if isinstance(cache, bool) else None,
        "torch_npu": _text(_value(info, "torch_npu_version")),
        "mindspore": _text(_value(info, "ms_version")),
        "cann": _text(_value(info, "cann_version")),
    }


_METRICS = {
    "ACL_AICORE_PIPE_UTILIZATION": "PipeUtilization",
    "ACL_AICORE_ARITHMETIC_UTILIZATION": "ArithmeticUtilization",
    "ACL_AICORE_MEMORY_BANDWIDTH": "Memory",
    "ACL_AICORE_L0B_AND_WIDTH": "MemoryL0",
    "ACL_AICORE_MEMORY_UB": "MemoryUB",
    "ACL_AICORE_MEMORY_ACCESS": "MemoryAccess",
    "ACL_AICORE_RESOURCE_CONFLICT_RATIO": "ResourceConflictRatio",
    "ACL_AICORE_L2_CACHE": "L2Cache",
    "ACL_AICORE_NONE": "None",
}


def _text(value: Any) -> str | None:
    return clean_text(value, 60) if isinstance(value, str) and value else None


def _value(info: Any, *path: str) -> Any:
    for key in path:
        info = info.get(key) if isinstance(info, dict) else None
    return info
