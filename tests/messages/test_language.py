"""Which language is spoken: wishes, threads, damaged catalogues."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from fusescope.analysis.messages import language, paragraph, say


@pytest.fixture
def folder(pseudo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own with the language `pseudo`."""
    shutil.copy(pseudo / "pseudo.mo", tmp_path)
    monkeypatch.setenv(language.FURTHER, str(tmp_path))
    return tmp_path


def test_texts_are_told_in_the_language_that_is_spoken(folder: Path) -> None:
    assert say("{n:count} block", "{n:count} blocks", n=2) == "2 blocks"
    with language.speaking("pseudo"):
        assert say("{n:count} block", "{n:count} blocks", n=2) == "⟦2 blocks⟧"
        with language.speaking(language.ENGLISH):
            assert say("{n:count} block", "{n:count} blocks", n=1) == "1 block"
        assert say("{kept:blocks}", kept=1) == "⟦1 block⟧"
    assert say("{kept:blocks}", kept=1) == "1 block"


def test_what_no_catalogue_has_is_told_in_english(folder: Path) -> None:
    unknown = "nobody wrote this"
    with language.speaking("pseudo"):
        assert say(unknown) == unknown
        assert say("") == ""  # not the head of the catalogue
    with language.speaking("xx"):
        assert say("{kept:blocks}", kept=1) == "1 block"


def test_chinese_sentences_follow_without_a_space(translations: Path) -> None:
    with language.speaking("zh"):
        assert paragraph("甲。", "乙。") == "甲。乙。"


def test_another_thread_speaks_what_the_process_speaks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    monkeypatch.setattr(language, "_process", {"language": language.ENGLISH})
    with language.speaking("pseudo"):
        thread = threading.Thread(target=lambda: heard.append(language.current()))
        thread.start()
        thread.join()
    language.speak_everywhere("pseudo")
    thread = threading.Thread(target=lambda: heard.append(language.current()))
    thread.start()
    thread.join()
    assert heard == ["en", "pseudo"]


def test_the_languages_that_there_are(translations: Path, folder: Path) -> None:
    assert language.languages() == ("en", "pseudo", "zh")
    assert language.best("zh-CN") == language.best("zh_CN.UTF-8") == "zh"
    assert language.own_name("en") == "English"
    assert language.own_name("pseudo") == "⟦English⟧"
    assert language.own_name("zh") == "简体中文"


@pytest.mark.parametrize(
    ("wishes", "code"),
    [
        (("zh",), "zh"),
        (("zh-CN,zh;q=0.9,en;q=0.8",), "zh"),
        (("zh_CN.UTF-8",), "zh"),
        (("zh-Hans-CN",), "zh"),
        (("C.UTF-8", "zh"), "en"),
        (("POSIX",), "en"),
        (("de-DE, fr;q=0.5, en;q=0.1",), "en"),
        (("de", None, "", "zh"), "zh"),
        (("de",), None),
        ((None,), None),
        (("../zh", "zh\0", "-" * 40),  None),
    ],
)  # fmt: skip
def test_the_first_wish_that_can_be_met(
    folder: Path, wishes: tuple[str | None, ...], code: str | None
) -> None:
    shutil.copy(folder / "pseudo.mo", folder / "zh.mo")
    shutil.copy(folder / "pseudo.mo", folder / "fr.draft.mo")
    assert language.best(*wishes) == code


@pytest.mark.parametrize("content", [b"", b"\xde\x12\x04\x95", b"not a catalogue", bytes(64)])
def test_a_damaged_catalogue_is_english_and_is_named(folder: Path, content: bytes) -> None:
    (folder / "broken.mo").write_bytes(content)
    with language.speaking("broken"):
        assert say("{kept:blocks}", kept=1) == "1 block"
    assert [code for code in language.languages() if language.is_damaged(code)] == ["broken"]


def test_a_catalogue_cut_anywhere_is_english_or_as_far_as_it_goes(folder: Path) -> None:
    whole = (folder / "pseudo.mo").read_bytes()
    for size in range(0, len(whole), max(1, len(whole) // 40)):
        (folder / "cut.mo").write_bytes(whole[:size])
        language._read.cache_clear()
        with language.speaking("cut"):
            assert say("{kept:blocks}", kept=1) in ("1 block", "⟦1 block⟧")
