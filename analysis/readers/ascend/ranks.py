"""Rank and groups of an Ascend recording: profiler_info_N.json, profiler_metadata.json, databases.

torch_npu and MindSpore write the rank into profiler_info_N.json, where it is part of the name too,
and the groups that ranks communicate in, by the names of HCCL's communicators, as
`parallel_group_info` into profiler_metadata.json and a database's META_DATA; Megatron's sizes are
`distributed_args` there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from fusescope.analysis.job import MAX_GROUPS, MAX_RANKS, Group, Job
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.text import clean_text

FACTS = ("parallel_group_info", "distributed_args")
_SIGN = re.compile(rb'"(?:parallel_group_info|distributed_args)"\s*:')
_OF_NAME = re.compile(
    r"(?:profiler_info|ascend_(?:pytorch|mindspore)_profiler)_(\d{1,6})\.(?:json|db)"
)
_MAX_BYTES = 16 * 2**20
_MAX_NAME = 80
_ALL = ("default_group", "hccl_world_group")  # of all ranks
_DIGEST = 16


class _Group(msgspec.Struct):
    name: str = msgspec.field(default="", name="group_name")
    ranks: list[int] = msgspec.field(default_factory=list, name="global_ranks")


def is_metadata(head: bytes) -> bool:
    """Return whether this is the head of profiler_metadata.json."""
    return utf8(head).lstrip()[:1] == b"{" and _SIGN.search(head) is not None


def read_metadata(source: Source) -> Job | None:
    """Return what profiler_metadata.json says of the job; None for a file too large to be one."""
    content = source.content
    if len(content) > _MAX_BYTES:
        return None
    facts = decode(content, dict[str, msgspec.Raw], {})
    return job_of_facts({name: bytes(raw) for name, raw in facts.items()})


def job_of_facts(facts: Mapping[str, bytes]) -> Job | None:
    """Return what `parallel_group_info` and `distributed_args`, as JSON, say of the job; None where
    they say nothing. Names of communicators have the address of a machine in them, so that only a
    digest of each is kept."""
    of_groups, of_sizes = (facts.get(name, b"") for name in FACTS)
    listed = decode(of_groups, dict[str, _Group], {})
    sizes = decode(of_sizes, dict[str, Any], {})
    groups, ids, world = [], [], _count(sizes.get("world_size"))
    for communicator, one in list(listed.items())[:MAX_GROUPS]:
        ranks = tuple(rank for rank in one.ranks[:MAX_RANKS] if 0 <= rank < MAX_RANKS)
        digest = hashlib.sha256(communicator.encode("utf-8", "replace")).hexdigest()[:_DIGEST]
        groups.append(Group(digest, clean_text(one.name, _MAX_NAME), ranks))
        ids.append(digest)
        if one.name in _ALL and world is None:
            world = len(ranks) or None
    if not groups and world is None:
        return None
    return Job(None, world, tuple(groups), tuple(ids))


def rank_of_settings(path: str, value: object) -> int | None:
    """Return the rank that a settings file says, else that is in its name."""
    text = str(value) if isinstance(value, int | str) else ""
    if text.isdecimal() and len(text) <= 6:
        return int(text)
    return rank_of_name(path)


def rank_of_name(path: str) -> int | None:
    """Return the rank in the name that the profiler gave a file; None of other names."""
    match = _OF_NAME.fullmatch(path.replace("\\", "/").rpartition("/")[2])
    return int(match[1]) if match else None


def _count(value: object) -> int | None:
    text = str(value) if isinstance(value, int | str) else ""
    is_number = text.isdecimal() and len(text) <= 7 and 0 < int(text) <= MAX_RANKS
    return int(text) if is_number else None


def joined(rank: int | None, world: object, *jobs: Job | None) -> Job | None:
    """Return the job that several files of one recording say, the first that says something of
    each; None where none does."""
    known = [job for job in jobs if job is not None]
    worlds = [_count(world), *(job.world for job in known)]
    found = Job(
        rank,
        next((one for one in worlds if one is not None), None),
        next((job.groups for job in known if job.groups), ()),
        tuple(dict.fromkeys(one for job in known for one in job.ids)),
    )
    return None if found == Job() else found
