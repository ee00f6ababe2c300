"""Well-known files of other tools: each refused with what it is and what to give instead."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import language
from fusescope.analysis.messages.errors.inputs.foreign import ForeignError
from fusescope.analysis.readers import read, read_all, read_path
from fusescope.analysis.readers.input.source import Source


def _database(*tables: str) -> bytes:
    connection = sqlite3.connect(":memory:")
    for table in tables:
        connection.execute(table)
    connection.execute("INSERT INTO " + tables[0].split()[2] + " DEFAULT VALUES")
    connection.commit()
    return connection.serialize()


def _xlsx() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/worksheets/sheet1.xml", "<worksheet/>")
    return buffer.getvalue()


NSYS_TEXT = b"""
 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

 Time (%)  Total Time (ns)  Instances  Avg (ns)   Med (ns)   Name
 --------  ---------------  ---------  ---------  ---------  ----------
     75.0           3000000        10   300000.0   300000.0  ampere_sgemm
"""
NSYS_TRACE_TEXT = b""" Start (ns)  Duration (ns)  CorrId  GrdX  GrdY  Name
 ----------  -------------  ------  ----  ----  ----
       1000           2000       1     1     1  sgemm
"""
KEY_AVERAGES = b"""-------------------------  ------------  ------------  ------------
                     Name    Self CPU %      Self CPU   CPU total %
-------------------------  ------------  ------------  ------------
             aten::linear        10.00%       1.000ms        60.00%
"""
NVPROF = b"""==99== NVPROF is profiling process 99, command: ./a.out
==99== Profiling application: ./a.out
==99== Profiling result:
"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
,%,ms,,us,us,us,
"GPU activities",60.0,3.0,10,300.0,290.0,310.0,"sgemm"
"""
NVPROF_TABLE = b'"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,ms,,us,us,us,\n'
NCU = b"""==PROF== Connected to process 7
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size"
"0","7","app","host","sgemm","1","7","(256, 1, 1)"
"""
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"ab" * 32 + b"\nsize 99\n"
# One packet: timestamp 5 (field 8), then a track descriptor (field 60) that names a process.
PERFETTO = bytes.fromhex("0a0a 4005 e20305 0a036162 63".replace(" ", ""))
PERFETTO_TRACK = bytes.fromhex("0a08 e20305 0a03616263".replace(" ", "")) + bytes(8)
ROCPROF = "CREATE TABLE OPS (Name TEXT, BeginNs INTEGER, EndNs INTEGER)"
CASES: dict[str, tuple[bytes, ForeignError]] = {
    "report1.nsys-rep": (b"NVIDIA Tegra Profiler Report 2024.5" + bytes(99), "nsys_report"),
    "report.ncu-rep": (b"NVR\0\x02" + bytes(99), "ncu_report"),
    "ncu.csv": (NCU, "ncu_table"),
    "nvprof.csv": (NVPROF, "nvprof_table"),
    "nvprof_bare.csv": (NVPROF_TABLE, "nvprof_table"),
    "stats.txt": (NSYS_TEXT, "nsys_stats_text"),
    "trace.txt": (NSYS_TRACE_TEXT, "nsys_stats_text"),
    "profiler_output.txt": (KEY_AVERAGES, "key_averages_table"),
    "a.pftrace": (PERFETTO, "perfetto_protobuf"),
    "b.perfetto-trace": (PERFETTO_TRACK, "perfetto_protobuf"),
    "trace.json": (LFS, "lfs_pointer"),
    "kernel_details.xlsx": (_xlsx(), "spreadsheet"),
    "results.db": (_database(ROCPROF), "rocprof_v1_database"),
    "recording.z01": (b"PK\x07\x08" + bytes(99), "zip_in_parts"),
}
NEXT: dict[ForeignError, str] = {
    "nsys_report": "nsys export --type sqlite", "ncu_report": "nsys profile",
    "ncu_table": "nsys profile", "nvprof_table": "nsys profile",
    "nsys_stats_text": "--format csv", "key_averages_table": "export_chrome_trace",
    "perfetto_protobuf": "traceconv json", "lfs_pointer": "git lfs pull",
    "spreadsheet": "CSV", "rocprof_v1_database": "results.json", "zip_in_parts": "zip -s 0",
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_says_what_it_is_and_what_to_give_instead(name: str, tmp_path: Path) -> None:
    data, code = CASES[name]
    with pytest.raises(FuseScopeError) as refused:
        read(Source(name, data))
    assert (refused.value.code, refused.value.where) == (code, name)
    assert NEXT[code] in refused.value.hint
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FuseScopeError) as refused:
        read_path(tmp_path / name)
    assert refused.value.code == code


@pytest.mark.usefixtures("translations")
@pytest.mark.parametrize("code", NEXT)
def test_commands_of_other_tools_are_the_same_in_chinese(code: ForeignError) -> None:
    with language.speaking("zh"):
        error = FuseScopeError(code, where="x")
        assert NEXT[code] in error.hint and "This" not in error.text


@pytest.mark.parametrize("name", CASES)
def test_it_is_named_among_files_of_a_folder_and_of_an_upload(name: str, tmp_path: Path) -> None:
    data, code = CASES[name]
    (tmp_path / "readme.md").write_text("# notes\n")
    (tmp_path / name).write_bytes(data)
    found = read_all([Source(name, data)])
    told = [error for _, error in (*found.lost, *found.failed)]
    assert [error.code for error in told] == [code]
    if code == "spreadsheet":  # a zip in a folder stays closed
        return
    with pytest.raises(FuseScopeError) as refused:
        read_path(tmp_path)
    assert refused.value.code == code


def test_an_unknown_database_is_not_asked_for_one_of_a_profiler() -> None:
    with pytest.raises(FuseScopeError) as refused:
        read(Source("mine.db", _database("CREATE TABLE people (name TEXT)")))
    assert "ascend" not in refused.value.text.lower()


@pytest.mark.parametrize(
    "data", [b"\n" + b"ab" * 40, b'\n{"a": 1}\n', b"\n\n2Zname,value\n1,2\n", b"\n" + bytes(80)]
)
def test_a_text_that_begins_with_an_empty_line_is_no_protobuf(data: bytes) -> None:
    with pytest.raises(FuseScopeError) as refused:
        read(Source("x", data))
    assert refused.value.code != "perfetto_protobuf"
