"""Colours of the marks that stand for a side or an outcome, of the dashboard and of the report.

One definition for both themes: charts take the values, style sheets custom properties. Okabe-Ito
where it has one; vermilion means slower, so neither side has it. tests/test_colours.py holds the
contrast of 3 : 1 that WCAG 2 asks of marks, also of those that let through what lies below.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

OPACITY = 0.7  # of marks that lie on each other, as runs and operators do


@dataclass(frozen=True)
class Colours:
    """#rrggbb of one theme. `neutral` is what belongs to no side, or may be gain or loss; `ink` is
    that of a text on the mark of a side."""

    baseline: str
    candidate: str
    faster: str
    slower: str
    neutral: str
    ink: str

    def without_direction(self) -> Colours:
        """Return these with one colour for what is faster and what is slower."""
        return replace(self, faster=self.neutral, slower=self.neutral)


LIGHT = Colours(
    baseline="#57606a",
    candidate="#0072b2",
    faster="#0072b2",
    slower="#d55e00",
    neutral="#868e96",
    ink="#ffffff",
)
DARK = Colours(
    baseline="#9aa4af",
    candidate="#56b4e9",
    faster="#56b4e9",
    slower="#ff8a3d",
    neutral="#717a84",
    ink="#101720",
)

# A notebook is light or dark, and does not say which: these are told from both.
NOTEBOOK = replace(LIGHT, baseline="#7d8691", candidate="#2b8cc4", faster="#2b8cc4")


def colours_of(theme: str | None) -> Colours:
    """Those of a theme by its name, the light ones where there is none: what paper has."""
    return DARK if theme == "dark" else LIGHT


def mixed(first: str, second: str, share: float) -> str:
    """The colour that lies by `share` of the way from the first to the second, as #rrggbb."""
    ends = zip(_rgb(first), _rgb(second), strict=True)
    return "#" + bytes(round(a + share * (b - a)) for a, b in ends).hex()


def ink_on(ground: str) -> str:
    """Black or white, whichever can be read better on a ground: its contrast is 4.5 or more on
    every colour (WCAG 2)."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in _rgb(ground))
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # (L + 0.05) / 0.05 of black, 1.05 / (L + 0.05) of white
    return "#000000" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "#ffffff"


def _rgb(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def report_sheet() -> str:
    """`--mark-baseline` and the like for a page in the theme of the reader's system."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_properties(DARK)} }} }}"
    return f":root {{ {_properties(LIGHT)} }}\n{dark}\n"


def timeline_sheet() -> str:
    """The same for the timeline, which is told its theme by an attribute."""
    dark = f'.fst[data-theme="dark"] {{ {_properties(DARK)} }}'
    return f".fst {{ {_properties(LIGHT)} }}\n{dark}\n"


def _properties(colours: Colours) -> str:
    named = " ".join(
        f"--mark-{name}: {value};" for name, value in asdict(colours).items() if name != "ink"
    )
    return f"{named} --mark-opacity: {OPACITY};"
