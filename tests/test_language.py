"""Page strings, command help, the API, documents and names use plain English: a short list of words to avoid."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from babel.messages.pofile import read_po

from annotator.app import create_app
from annotator.cli.described_commands import DESCRIPTIONS
from annotator.installed import PACKAGE
from annotator.settings import Settings
from annotator.storage import Database

ROOT = Path(__file__).parent.parent
CATALOGUE = PACKAGE / "web" / "translations" / "ko" / "LC_MESSAGES" / "messages.po"
OF_PAGES = ("templates/", "annotator/web/", "annotator/clicks/web/")

# What an engineer or assessor would not write, in whole words.
PLAIN = (
    "anew",
    "call it off",
    "called off",
    "deeds?",
    "garbled",
    "goes first",
    "heard",
    "hears",
    "in force",
    "likewise",
    "of this moment",
    "of which",
    "put off",
    "said",
    "speaks?",
    "spoken",
    "stands?",
    "tells?",
    "throw it away",
    "told",
    "whoever",
    "whom it is for",
    "whomever",
)
AVOIDED = re.compile(rf"\b(?:{'|'.join(PLAIN)})\b", re.IGNORECASE)
# Values and names as programs have them: in quotation marks or backticks.
QUOTED = re.compile("“[^”]*”|`[^`]*`")
IN_NAMES = {"anew", "deed", "deeds", "garbled", "heard", "likewise", "said", "saying", "spoken", "told", "whoever"}


def strings_of_pages() -> Iterator[str]:
    """Every English sentence of a template or a form, each of its plural forms by itself."""
    with CATALOGUE.open("rb") as file:
        for message in read_po(file):
            if any(path.startswith(OF_PAGES) for path, _ in message.locations):
                yield from [message.id] if isinstance(message.id, str) else message.id


def help_texts(described: object) -> Iterator[str]:
    """Every string under a key `help` of the described commands."""
    if isinstance(described, dict):
        for key, value in described.items():
            if key == "help" and isinstance(value, str):
                yield value
            else:
                yield from help_texts(value)
    elif isinstance(described, list):
        for value in described:
            yield from help_texts(value)


def descriptions(document: object) -> Iterator[str]:
    """Every summary and description of an OpenAPI document, without its examples."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key in {"summary", "description"} and isinstance(value, str):
                yield value
            elif key not in {"example", "examples"}:
                yield from descriptions(value)
    elif isinstance(document, list):
        for value in document:
            yield from descriptions(value)


def names_of(path: Path) -> Iterator[str]:
    """The module's own name and those of its functions and classes."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def test_page_strings_are_plain_english() -> None:
    assert [text for text in strings_of_pages() if AVOIDED.search(text)] == []


def test_command_help_is_plain_english() -> None:
    texts = help_texts(json.loads(DESCRIPTIONS.read_text(encoding="utf-8")))
    assert [text for text in texts if AVOIDED.search(text)] == []


def test_names_are_plain_english() -> None:
    found = {name for path in PACKAGE.rglob("*.py") for name in names_of(path) if parts_of(name) & IN_NAMES}
    assert found == set()


def test_descriptions_of_the_api_are_plain_english() -> None:
    app = create_app(Settings(secret_key="0123456789abcdef" * 4), Database("sqlite://"))
    document = app.test_client().get("/api/v1/openapi.json").json
    assert [text for text in descriptions(document) if AVOIDED.search(QUOTED.sub("", text))] == []


def test_documents_are_plain_english() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line}"
        for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
        if path.name != "CHANGELOG.md" and "generated" not in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if AVOIDED.search(QUOTED.sub("", line))
    ]
    assert found == []


def parts_of(name: str) -> set[str]:
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z0-9]+", name)}
