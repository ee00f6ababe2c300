"""What is printed: any encoding, a full disk, a reader that goes away, little memory; and outputs
that are not regular files."""

from __future__ import annotations

import errno
import json
import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli import memory, streams
from fusescope.app.cli.printing.multiple import cut_names
from fusescope.app.cli.writing.outputs import write_whole
from tests.factories import experiment_zip
from tests.repetitions import few

ROOT = Path(__file__).resolve().parents[2]
MAIN = [sys.executable, "-c", "from fusescope.app.cli.main import main; main()"]
TIMES = {"unfused": [10.0, 10.1] * 4, "fused×2": [5.0, 5.1] * 4}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "e.zip"
    path.write_bytes(experiment_zip(TIMES))
    return path


def run(*arguments: str | Path, **settings: object) -> subprocess.CompletedProcess[bytes]:
    options: dict[str, object] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": ROOT}
    return subprocess.run([*MAIN, *map(str, arguments)], check=False, **options | settings)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("encoding", few(["gbk", "ascii", "iso8859-15"], {"gbk"}))
def test_a_terminal_of_any_encoding_is_written_to(recording: Path, encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "200"}
    done = run("compare", recording, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    assert " faster than unfused (95 % interval " in text
    if encoding == "ascii":
        assert "fusedx2 is " in text


def test_json_is_utf_8_whatever_the_terminal_speaks(recording: Path) -> None:
    done = run("compare", recording, "--json", env={**os.environ, "PYTHONIOENCODING": "gbk"})
    assert json.loads(done.stdout.decode("utf-8"))["candidate"]["label"] == "fused×2"


def test_what_an_encoding_lacks_is_written_plainly() -> None:
    streams.prepare()
    handler = streams._HANDLER
    said = "10 µs – 2 × 3 → 5 … ≤ ± ‘a’ 中 \udcff"
    assert said.encode("ascii", handler) == b"10 us - 2 x 3 -> 5 ... <= +- 'a' ? ?"
    assert "\udcff.json".encode("utf-8", handler) == b"?.json"


@pytest.mark.parametrize("verb", few([["recipe"], ["recipe", "--json"], ["--help"]], [["recipe"]]))
def test_a_full_stdout_is_a_sentence(verb: list[str]) -> None:
    if not Path("/dev/full").is_char_device():
        pytest.skip("needs /dev/full")
    with open("/dev/full", "wb") as full:
        done = run(*verb, stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "fusescope: The output cannot be written: no space left on device. Send it elsewhere.\n"
    )


@pytest.mark.parametrize("verb", few([["recipe"], ["recipe", "--json"], ["--help"]], [["--help"]]))
def test_a_reader_that_has_had_enough_is_fine(verb: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        done = run(*verb, stdout=gone)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("megabytes", "verb", "least"),
    [(60, "inspect", 450), (150, "inspect", 450), (350, "inspect", 450), (600, "serve", 800)],
)
def test_too_little_memory_is_a_sentence(
    megabytes: int, verb: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked before a library runs out of it, which would crash or hang, and told without one."""
    limited = (
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({megabytes}_000_000,) * 2);"
        "from fusescope.app.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, verb, "x.json"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    shown = f"{megabytes:.1f}" if megabytes < 100 else megabytes
    assert done.stderr == (
        f"fusescope: Memory is limited to {shown} MB here; FuseScope needs at least {least} "
        "MB. Raise the limit (ulimit -v), or close other programs.\n"
    )
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    memory.check()


@pytest.mark.parametrize(
    "error",
    [MemoryError(), ImportError("x.so: failed to map segment from shared object")],
)
def test_memory_that_runs_out_on_the_way_is_a_sentence(error: Exception) -> None:
    from fusescope.app.cli.main import _said_of

    assert _said_of(error).startswith("There is not enough memory for this. ")


# Outputs that are not regular files


def write(path: Path, data: bytes = b"new") -> None:
    write_whole(path, data, option="--html", code="report_unwritable")


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write(pipe)
    reader.join(60)
    assert read == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_device_is_written_to_and_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root could replace it: here the attempt fails before it can."""

    def refuse(*_: object) -> None:
        raise AssertionError("replaces a device")

    monkeypatch.setattr("fusescope.collectors.files.publication.replace", refuse)
    write(Path("/dev/null"))
    assert Path("/dev/null").is_char_device()
    if Path("/dev/full").is_char_device():
        with pytest.raises(FuseScopeError, match=r"report cannot be written: No space left.*full"):
            write(Path("/dev/full"))


def test_a_link_stays_one_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.html").write_bytes(b"old")
    (tmp_path / "link.html").symlink_to("real.html")
    (tmp_path / "dangling.html").symlink_to("made.html")
    write(tmp_path / "link.html")
    write(tmp_path / "dangling.html")
    assert (tmp_path / "link.html").is_symlink() and (tmp_path / "dangling.html").is_symlink()
    assert (tmp_path / "real.html").read_bytes() == b"new"
    assert (tmp_path / "made.html").read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_refuses_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = tmp_path / "r.html"
    path.write_bytes(b"old")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(FuseScopeError, match="report cannot be written") as caught:
        write(path)
    assert os.strerror(number) in caught.value.what and caught.value.where == str(path)
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["r.html"]


def test_a_report_to_stdout_stands_before_what_is_printed(recording: Path, tmp_path: Path) -> None:
    """Redirected into a file, /dev/stdout is a regular file that nothing may replace."""
    if not Path("/dev/stdout").exists():
        pytest.skip("needs /dev/stdout")
    with (tmp_path / "both.txt").open("wb") as both:
        done = run("compare", recording, "--html", "/dev/stdout", stdout=both)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "both.txt").read_text()
    assert text.startswith("<!doctype html") and "Report: /dev/stdout" in text


def test_an_experiment_to_a_pipe_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fusescope.collectors.files import archive

    monkeypatch.setattr(archive, "record_json", lambda record: b"{}")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert archive.destination(pipe, "m", "d") == pipe
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert archive.write(pipe, None, {"a": b"x"}) == pipe  # type: ignore[arg-type]
    reader.join(60)
    assert read[0].startswith(b"PK") and b"PK\x05\x06" in read[0]
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    assert archive.write(Path(os.devnull), None, {"a": b"x"}) == Path(os.devnull)  # type: ignore[arg-type]
    assert Path(os.devnull).is_char_device()


def test_names_that_are_cut_to_the_same_text_show_what_tells_them_apart() -> None:
    """Both would be 'sglang_Qw…de.json.gz'; the first character that differs is the 17th."""
    files = ["sglang_Qwen3-8B_decode.json.gz", "sglang_Qwen3-8B_prefilldecode.json.gz", "a.json"]
    assert cut_names(files, 20) == ["…decode.json.gz", "…prefilldecode.json…", "a.json"]
    ranks = [f"job_of_many_ranks_rank_{rank}_of_64_x.json" for rank in (10, 20)]
    assert cut_names(ranks, 20) == ["…ank_10_of_64_x.json", "…ank_20_of_64_x.json"]
    assert cut_names(["same_name_of_two_files.json"] * 2, 20) == ["same_name…files.json"] * 2


def test_a_process_of_its_own_ends_at_once_and_leaves_nothing_undone() -> None:
    """What was to be done at the end is done, what was printed is there, and the code is kept."""
    code = (
        "import atexit, sys\n"
        "from fusescope.app.cli.main import program\n"
        "class Freed:\n    def __del__(self): print('freed')\n"
        "freed = Freed()\n"
        "atexit.register(lambda: print('removed'))\n"
        "program()"
    )
    for arguments, returned in ((["zoo"], 0), (["nonsense"], 2)):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == returned
        assert done.stdout.endswith("removed\n"), "nothing is freed piece by piece"
