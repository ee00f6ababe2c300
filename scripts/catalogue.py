"""Catalogues of messages: `update` brings every .po up to date with the code, `compile` makes the
.mo that are read at run time, `pseudo FOLDER` writes one whose every text stands in brackets, and
`missing` lists what is not translated.
"""

from __future__ import annotations

import ast
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = ROOT / "analysis" / "messages" / "languages"
PACKAGES = ("analysis", "app", "collectors")
# Calls whose first arguments are texts of the catalogue.
CALLS = frozenset({"Message", "say", "mark", "noun"})
# Calls of the command line whose `help` is one.
HELPED = frozenset({"Argument", "Option", "Typer", "command"})
PSEUDO = "pseudo"
HEAD = """\
msgid ""
msgstr ""
"Project-Id-Version: FuseScope\\n"
"Language: {language}\\n"
"Plural-Forms: {plural_forms}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""


def extracted() -> Catalog:
    """The catalogue as the code has it: every text once, with the files that hold it."""
    found = Catalog(fuzzy=False, charset="utf-8", project="FuseScope")
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            for texts in _TEXTS[path.suffix](path) if path.suffix in _TEXTS else ():
                text = texts if len(texts) > 1 else texts[0]
                found.add(text, locations=[(str(path.relative_to(ROOT)), None)])
    return found


def template_texts(path: Path) -> Iterator[tuple[str, ...]]:
    """Every text of a template: (one,) or (one, many)."""
    # Not above: where a wheel is built, which compiles catalogues, there is no jinja2.
    import jinja2
    from jinja2 import nodes

    for call in jinja2.Environment().parse(path.read_text(encoding="utf-8")).find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name == "say":
            texts = [given.value for given in call.args if isinstance(given, nodes.Const)]
            if not 0 < len(call.args) == len(texts) < 3:
                raise ValueError(f"{path}:{call.lineno}: `say` takes one or two literal texts")
            yield tuple(texts)


def python_texts(path: Path) -> Iterator[tuple[str, ...]]:
    """Every text of a Python file: (one,) or (one, many)."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        if name in CALLS:
            given = node.args
        elif name in HELPED:
            given = [word.value for word in node.keywords if word.arg == "help"]
        else:
            continue
        texts = [arg.value for arg in given if isinstance(arg, ast.Constant)]
        if 0 < len(texts) < 3:
            yield tuple(texts)


_TEXTS: Mapping[str, Callable[[Path], Iterable[tuple[str, ...]]]] = {
    ".py": python_texts,
    ".html": template_texts,
}


def read(path: Path) -> Catalog:
    """Return the catalogue of a .po file; a ValueError where it is damaged. Its date is a fixed
    one: babel puts the present minute there, and two builds of one source would differ."""
    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.stem, abort_invalid=True)
    catalogue.creation_date = datetime(1980, 1, 1, tzinfo=UTC)
    return catalogue


def write(catalogue: Catalog, path: Path) -> None:
    """A .po file whose order and lines change only where a text does."""
    texts = io.BytesIO()
    write_po(
        texts, catalogue, width=100, sort_by_file=True, ignore_obsolete=True, omit_header=True,
        include_lineno=False,
    )  # fmt: skip
    head = HEAD.format(language=path.stem, plural_forms=catalogue.plural_forms)
    path.write_text(head + texts.getvalue().decode(), encoding="utf-8")


def update() -> None:
    """Bring every .po up to date: new texts are empty in it, those that are gone are gone."""
    template = extracted()
    for path in sorted(LANGUAGES.glob("*.po")):
        catalogue = read(path)
        catalogue.update(template, no_fuzzy_matching=True, update_creation_date=False)
        catalogue.obsolete.clear()
        write(catalogue, path)


def compile_all(folder: Path = LANGUAGES) -> None:
    """Write the .mo of every .po in the folder, whole or not at all; others are removed."""
    for path in sorted(folder.glob("*.po")):
        made = path.with_suffix(".mo.new")
        with made.open("wb") as file:
            write_mo(file, read(path))
        os.replace(made, path.with_suffix(".mo"))
    for path in folder.glob("*.mo"):
        if not path.with_suffix(".po").exists():
            path.unlink()


def pseudo(folder: Path) -> None:
    """Write a language whose every text is the English one in brackets. The texts are those of a
    .po, which has every one of the code: reading the code takes 30 times as long."""
    bracketed = Catalog(fuzzy=False, charset="utf-8", project="FuseScope")
    for message in read(next(LANGUAGES.glob("*.po"))):
        if isinstance(message.id, tuple):
            bracketed.add(message.id, tuple(f"⟦{text}⟧" for text in message.id))
        elif message.id:
            bracketed.add(message.id, f"⟦{message.id}⟧")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{PSEUDO}.mo").open("wb") as file:
        write_mo(file, bracketed)


def missing(catalogue: Catalog) -> list[Any]:
    """Texts of the code that the catalogue does not translate, or only as a guess."""
    told = {m.id: m for m in catalogue if m.id and not m.fuzzy}
    return [m.id for m in extracted() if m.id and not _is_told(told.get(m.id))]


def _is_told(message: Any) -> bool:
    return message is not None and all(
        message.string if isinstance(message.string, tuple) else (message.string,)
    )


def main(arguments: list[str]) -> int:
    """Exit status: 0 done, 1 where `missing` found something, 2 for another task."""
    match arguments:
        case ["update"]:
            update()
        case ["compile"]:
            compile_all()
        case ["pseudo", folder]:
            pseudo(Path(folder))
        case ["missing"]:
            gaps = {p.name: missing(read(p)) for p in sorted(LANGUAGES.glob("*.po"))}
            for name, texts in gaps.items():
                print(f"{name}: {len(texts)} missing", *map(repr, texts), sep="\n  ")
            return int(any(gaps.values()))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
