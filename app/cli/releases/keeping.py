"""Releases that were fetched: `fusescope bisect --releases` and `--remove`."""

from __future__ import annotations

import msgspec

from fusescope.analysis import units
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import say
from fusescope.app.cli import streams

SCHEMA_VERSION = 1
ALL = "all"


def list_all(*, json: bool) -> None:
    """Prints each with what it takes on the disk."""
    from fusescope.collectors.releases import kept

    there = kept.all_kept()
    if json:
        rows = [{"version": one.version, "disk_bytes": one.disk_bytes} for one in there]
        _print_json({"folder": str(kept.root()), "releases": rows})
        return
    if not there:
        print(say("No release was fetched yet."))
        return
    sizes = [one.disk_bytes for one in there]
    for one, size in zip(there, sizes, strict=True):
        print(f"onnxruntime {one.version:<10} {units.capacity(size):>10}")
    print(
        say(
            "{n:count} release takes {size:capacity} on the disk, in {folder:name}.",
            "{n:count} releases take {size:capacity} on the disk, in {folder:name}.",
            n=len(there),
            size=sum(sizes),
            folder=str(kept.root()),
        )
    )
    print(say("fusescope bisect --remove VERSION removes one, --remove all all of them."))


def remove(asked: str, *, json: bool) -> None:
    """Removes a release, or all. Raises FuseScopeError where it is not there."""
    from fusescope.analysis.spelling import nearest
    from fusescope.collectors.releases import kept

    versions = [one.version for one in kept.all_kept()]
    version = asked.removeprefix("onnxruntime==")
    if asked != ALL and version not in versions:
        near = nearest(version, versions)
        raise FuseScopeError("release_not_kept", version=version[:40], nearest=near)
    chosen = versions if asked == ALL else [version]
    freed = sum(kept.remove(one) for one in chosen)
    if json:
        _print_json({"removed": chosen, "removed_bytes": freed})
        return
    print(
        say(
            "{n:count} release was removed, which frees {size:capacity}.",
            "{n:count} releases were removed, which frees {size:capacity}.",
            n=len(chosen),
            size=freed,
        )
    )


def _print_json(values: dict[str, object]) -> None:
    whole = {"schema_version": SCHEMA_VERSION, **values}
    streams.write_json(msgspec.json.format(msgspec.json.encode(whole), indent=2))
