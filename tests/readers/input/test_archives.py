"""Files packed with zstd, tar archives, and zips with a damaged member."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import read, read_all, read_path
from fusescope.analysis.readers.input import unpacking
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests import miniatures
from tests.factories import UNFUSED_OPERATORS, experiment_zip, profile_json

PROFILE = profile_json(UNFUSED_OPERATORS, runs=3)


def _zstd(data: bytes) -> bytes:
    pa = pytest.importorskip("pyarrow")
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def _tar(
    members: Mapping[str, bytes], more: Callable[[tarfile.TarFile], None] | None = None
) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        if more is not None:
            more(archive)
    return buffer.getvalue()


def _trace(name: str, data: bytes, limits: Limits | None = None) -> Trace:
    value = read(Source(name, data, limits) if limits else Source(name, data))
    assert isinstance(value, Trace)
    return value


def test_a_file_packed_with_zstd_is_read_as_it_is_unpacked() -> None:
    plain = _trace("p.json", PROFILE)
    for data in (_zstd(PROFILE), _zstd(PROFILE[:100]) + _zstd(PROFILE[100:])):
        assert _trace("p.json.zst", data).calls.equals(plain.calls)


def test_a_zstd_file_that_ends_early_says_so() -> None:
    data = _zstd(os.urandom(3_000_000).hex().encode())  # large: most of it comes out
    source = Source("x.zst", data[: len(data) // 2])
    assert 0 < len(source.content) < 6_000_000
    assert [note.code for note in source.notes] == ["zstd_cut_short"]
    with pytest.raises(FuseScopeError) as refused:
        read(Source("p.json.zst", _zstd(PROFILE)[:-9]))
    assert refused.value.code == "cut_before_operators"


def test_a_zstd_bomb_stops_at_the_limit() -> None:
    bomb = _zstd(bytes(64 * 2**20))
    with pytest.raises(FuseScopeError, match="unpacks to more than the limit of 8 MiB"):
        read(Source("bomb.zst", bomb, Limits(unpacked_bytes=8 * 2**20)))


def test_damaged_zstd_is_an_error() -> None:
    with pytest.raises(FuseScopeError) as refused:
        read(Source("x.zst", unpacking.ZSTD + b"no zstd at all"))
    assert refused.value.code == "zstd_damaged"


def test_without_arrow_zstd_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _zstd(PROFILE)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(FuseScopeError) as refused:
        read(Source("p.json.zst", data))
    assert refused.value.code == "zstd_not_installed" and "zstd -d" in refused.value.hint


def test_two_layers_of_packing_are_refused_whichever_they_are() -> None:
    for data in (gzip.compress(_zstd(PROFILE)), _zstd(gzip.compress(PROFILE))):
        with pytest.raises(FuseScopeError) as refused:
            read(Source("p", data))
        assert refused.value.code == "compressed_twice"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, _zstd], ids=["tar", "gz", "zst"])
def test_a_tar_is_opened_like_a_zip(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    reader = next(one for one in miniatures.FORMATS if one.name == "ascend_kernel_details")
    files = miniatures.files(reader)
    data = pack(_tar({f"run/{one.path}": one.data for one in files}))
    whole = miniatures.only_trace(files)
    assert _trace("run.tar", data).calls.equals(whole.calls)
    (tmp_path / "run.tar").write_bytes(data)
    from_disk = read_path(tmp_path / "run.tar")
    assert isinstance(from_disk, Trace) and from_disk.calls.equals(whole.calls)
    found = read_all([Source("run.tar", data)])
    assert len(found.recordings) == 1 and not found.failed and not found.lost


def _odd(archive: tarfile.TarFile) -> None:
    """A symbolic link, a hard link, a device, a folder and a pipe."""
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE,
                 tarfile.FIFOTYPE):  # fmt: skip
        info = tarfile.TarInfo(f"odd{kind.decode()}.json")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)


def test_links_and_paths_out_of_a_tar_lead_nowhere() -> None:
    data = _tar({"../../up/p.json": PROFILE, ".hidden/q.json": b"{}"}, _odd)
    found = read_all([Source("t.tar", data)])
    assert [one.source.path for one in found.recordings] == ["t.tar/up/p.json"]
    assert not found.unknown and not found.failed


def test_a_tar_beyond_the_limits_is_refused() -> None:
    many = _tar({f"{at}.txt": b"x" for at in range(20)})
    with pytest.raises(FuseScopeError) as refused:
        read(Source("t.tar", many, Limits(zip_members=10)))
    assert refused.value.code == "too_many_zip_members"
    large = _tar({"p.json": PROFILE, "big.bin": bytes(3 * 2**20)})
    with pytest.raises(FuseScopeError) as refused:
        read(Source("t.tar", large, Limits(unpacked_bytes=2**20)))
    assert refused.value.code == "zip_too_large"


def test_a_sparse_file_in_a_tar_is_left_out() -> None:
    """Its data are few, and it says to be 8 GiB: what is read of it would be zeros."""
    info = tarfile.TarInfo("sparse.json")
    info.pax_headers = {
        "GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": str(2**33),
        "GNU.sparse.numblocks": "1", "GNU.sparse.map": "0,0", "GNU.sparse.name": "sparse.json",
    }  # fmt: skip

    def add(archive: tarfile.TarFile) -> None:
        archive.format = tarfile.PAX_FORMAT
        archive.addfile(info)

    assert _trace("t.tar", _tar({"p.json": PROFILE}, add)).calls["dur_ns"].sum() > 0


def test_a_tar_that_ends_between_two_members_is_refused() -> None:
    first = _tar({"p.json": PROFILE})
    both = _tar({"p.json": PROFILE, "q.json": PROFILE})
    assert both.startswith(first[: 512 + len(PROFILE)])
    end = 512 + -(-len(PROFILE) // 512) * 512
    with pytest.raises(FuseScopeError) as refused:
        read(Source("t.tar", both[:end]))
    assert refused.value.code == "tar_cut_short"


@pytest.mark.parametrize("tenths", [3, 6, 9])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["tar", "gz"])
def test_a_tar_that_ends_early_is_refused(pack: Callable[[bytes], bytes], tenths: int) -> None:
    whole = pack(_tar({"p.json": PROFILE, "q.txt": os.urandom(30_000)}))
    with pytest.raises(FuseScopeError) as refused:
        read(Source("t.tar", whole[: len(whole) * tenths // 10]))
    assert refused.value.code in ("tar_cut_short", "tar_damaged", "cut_before_operators")


@pytest.mark.parametrize("tenths", [1, 5, 9])
def test_a_zip_that_ends_early_says_so(tenths: int) -> None:
    """Also that of a recording of ours, which is told from others by its members."""
    folder = io.BytesIO()
    with zipfile.ZipFile(folder, "w") as archive:
        archive.writestr("a/profile.json", PROFILE)
    for whole in (folder.getvalue(), experiment_zip({"unfused": [10.0] * 6})):
        with pytest.raises(FuseScopeError) as refused:
            read(Source("run.zip", whole[: len(whole) * tenths // 10]))
        assert refused.value.code == "zip_cut_short"


def test_a_zip_with_a_damaged_member_is_not_read_as_if_it_were_whole() -> None:
    """The other member reads by itself, but may be only a part of the recording."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a/profile.json", PROFILE)
        archive.writestr("b/profile.json", PROFILE.replace(b"model_run", b"model_RUN"))
    data = bytearray(buffer.getvalue())
    at = data.index(b"model_RUN")
    data[at : at + 9] = b"model_xxx"  # the sum of the member is wrong from here on
    with pytest.raises(FuseScopeError) as refused:
        read(Source("run.zip", bytes(data)))
    assert refused.value.code == "zip_damaged"
    assert "run.zip" in str(refused.value.where) and "profile.json" in str(refused.value.where)
