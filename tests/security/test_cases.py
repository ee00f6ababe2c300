"""CASES.md is true: every case is there, and every test that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
_LAST = {"R": 32, "C": 5, "A": 14, "H": 9, "M": 14, "L": 18, "V": 7, "E": 3, "P": 8}
CASES = [f"{kind}{n}" for kind, last in _LAST.items() for n in range(1, last + 1)]
_OF_CASES = re.compile(r"def (test_((?:[rcahmlvep]\d+_(?:to_)?)+)\w*)\(")


def rows() -> dict[str, list[str]]:
    """Case -> the tests that the table names."""
    table = (HERE / "CASES.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| ([A-Z]\d+) \| [^|]+ \| ([^|]+) \|$", table, re.MULTILINE)
    assert len({case for case, _ in found}) == len(found), "a case stands twice"
    return {case: re.findall(r"`([^`]+)`", tests) for case, tests in found}


def test_every_case_has_a_test_that_exists() -> None:
    table = rows()
    assert list(table) == CASES
    for case, tests in table.items():
        assert tests, case
        for test in tests:
            file, _, name = test.partition("::")
            source = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"^def {name}\(", source, re.MULTILINE), f"{case}: {test}"


def test_every_test_that_is_named_after_a_case_stands_in_its_row() -> None:
    table, seen = rows(), 0
    for path in sorted(HERE.glob("test_*.py")):
        for name, cases in _OF_CASES.findall(path.read_text(encoding="utf-8")):
            for case in re.findall(r"[rcahmlvep]\d+", cases):
                named = [test for test in table[case.upper()] if test.endswith(f"::{name}")]
                assert named, f"{case.upper()} does not name {name}"
                seen += 1
    assert seen > 50
