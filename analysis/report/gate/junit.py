"""A gate as JUnit XML, which test pages of CI systems show: a test case a condition.

The format is that of the Ant task, as Jenkins reads it (jenkins-junit.xsd).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

from fusescope.analysis.gate.judged import Judged
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.gate import cause_lines, change_lines, judged_sentence

# What XML 1.0 has no place for.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(judged: Sequence[Judged], baseline: str, candidate: str) -> bytes:
    """One suite named after both sides. What cannot be told is skipped with its reason, what is not
    known an error."""
    outcomes = Counter(one.outcome for one in judged)
    counts = {
        "tests": len(judged),
        "failures": outcomes["failed"],
        "skipped": outcomes["cannot_tell"],
        "errors": outcomes["unknown"],
    }
    attributes = {name: str(count) for name, count in counts.items()}
    suites = ElementTree.Element("testsuites", attributes)
    name = _shown(f"fusescope gate: {baseline} → {candidate}")
    suite = ElementTree.SubElement(suites, "testsuite", {"name": name, **attributes})
    for one in judged:
        _case(suite, one)
    ElementTree.indent(suites)
    told: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return told + b"\n"


def _case(suite: ElementTree.Element, judged: Judged) -> None:
    condition = _shown(judged.condition.text)
    case = ElementTree.SubElement(
        suite, "testcase", {"classname": "fusescope.gate", "name": condition}
    )
    tags = {"failed": "failure", "cannot_tell": "skipped", "unknown": "error"}
    sentence = _shown(judged_sentence(judged))
    tag = tags.get(judged.outcome)
    if tag is None:
        ElementTree.SubElement(case, "system-out").text = sentence
        return
    told = ElementTree.SubElement(case, tag, {"message": sentence})
    lines = [*cause_lines([judged]), *change_lines([judged])]
    told.text = "\n".join(map(_shown, lines)) or None


def _shown(text: str) -> str:
    return _NO_XML.sub("", clean_text(text))
