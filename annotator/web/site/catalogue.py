"""Maintains the translation catalogues: extracts the sentences of the source, and compiles the translations.

`python -m annotator.web.site.catalogue` does both in a checkout; `make translations` calls it.
"""

import ast
import inspect
import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from babel.messages import Catalog
from babel.messages.extract import extract, extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from annotator.evaluation.formats.registry import FORMATS
from annotator.installed import PACKAGE, asset_folder
from annotator.workflows.pools.pools import list_strategies

TRANSLATIONS = PACKAGE / "web" / "translations"
LANGUAGES = ("ko",)
# The position of the sentence in the arguments of each call; in `Problems.add` it is the third.
KEYWORDS: dict[str, Any] = dict.fromkeys(
    (
        "_",
        "__init__",  # an error that passes its own sentence to its base class
        "gettext",
        "lazy_gettext",
        "Sentence",
        "AnnotatorError",
        "BusyError",
        "ConflictError",
        "EngineError",
        "ExportMismatchError",
        "InvalidValueError",
        "ModelError",
        "NotAllowedError",
        "NotFoundError",
        "ProviderError",
        "SlowProviderError",
        "SourceError",
        "UnknownKeyError",
    )
) | {"add": (3,)}
# The doors of programs and commands.
IN_ENGLISH = ("api", "cli", "client", "clicks/api", "clicks/cli", "library")
HELP_TAKES = ["JudgedRankings", "Setting"]  # the types of a measure's arguments
HEADER = "# The sentences of annotator. Fill in each msgstr, then run `make translations`."
# A fixed date, since the real one would change the file at every run.
DATE = datetime(2026, 1, 1, tzinfo=UTC)


def collect() -> Catalog:
    """Extract every sentence of the pages and of errors they may show, with its locations."""
    catalogue = _empty(None)
    root = PACKAGE.parent
    templates = asset_folder("templates")
    in_english = {path for door in IN_ENGLISH for path in (PACKAGE / door).rglob("*.py")}
    for path in sorted(set(PACKAGE.rglob("*.py")) - in_english):
        _add(catalogue, root, path, extract_python_and_help if "metrics" in path.parts else "python")
    for strategy in list_strategies().values():
        catalogue.add(strategy.text, None, [("annotator/evaluation/pooling/strategies.py", 0)])
    for one in (one for formats in FORMATS.values() for one in formats):
        catalogue.add(one.title, None, [("annotator/evaluation/formats/registry.py", 0)])
    for path in sorted(templates.rglob("*.html")):
        _add(catalogue, root, path, "jinja2.ext:babel_extract")
    return catalogue


def catalogue_path(language: str) -> Path:
    """The path of a language's editable catalogue."""
    return TRANSLATIONS / language / "LC_MESSAGES" / "messages.po"


def read_catalogue(language: str) -> Catalog:
    """The translations into a language; an empty catalogue if there is none yet."""
    path = catalogue_path(language)
    if not path.exists():
        return _empty(language)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def compiled(catalogue: Catalog) -> bytes:
    """The catalogue in the binary format used at run time."""
    out = io.BytesIO()
    write_mo(out, catalogue)
    return out.getvalue()


def extract_python_and_help(
    file: IO[bytes],
    keywords: Mapping[str, Any],
    comment_tags: Collection[str],
    options: Any,  # noqa: ANN401 - Babel's own
) -> Iterator[Any]:
    """Extract as from any Python file, and the docstrings of measures, which are the help texts of pages."""
    yield from extract_python(file, keywords, comment_tags, options)
    file.seek(0)
    for node in ast.parse(file.read()).body:
        if isinstance(node, ast.FunctionDef) and _is_measure(node) and (text := ast.get_docstring(node, clean=False)):
            yield node.lineno, "gettext", inspect.cleandoc(text), []


def update(language: str) -> None:
    """Update a language's catalogue with the current sentences, keep its translations, and compile it."""
    catalogue = read_catalogue(language)
    catalogue.update(collect(), no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    path = catalogue_path(language)
    with path.open("wb") as file:
        # No line numbers: they would change with every edit of the code.
        write_po(file, catalogue, width=120, include_lineno=False, sort_output=True, omit_header=False)
    path.with_suffix(".mo").write_bytes(compiled(catalogue))


def _empty(language: str | None) -> Catalog:
    return Catalog(
        locale=language,
        project="annotator",
        version=" ",
        header_comment=HEADER,
        creation_date=DATE,
        revision_date=DATE,
        last_translator="",
        language_team="",
        msgid_bugs_address="",
        charset="utf-8",
        fuzzy=False,
    )


def _is_measure(function: ast.FunctionDef) -> bool:
    takes = [argument.annotation.id for argument in function.args.args if isinstance(argument.annotation, ast.Name)]
    return not function.name.startswith("_") and takes == HELP_TAKES


def _add(catalogue: Catalog, root: Path, path: Path, method: Any) -> None:  # noqa: ANN401 - Babel's own type
    options = {"encoding": "utf-8", "trimmed": "true"}
    with path.open("rb") as file:
        found: Iterable[Any] = extract(method, file, KEYWORDS, options=options)
        for _, message, _, context in found:
            catalogue.add(message, None, [(path.relative_to(root).as_posix(), 0)], context=context)


if __name__ == "__main__":
    for each in LANGUAGES:
        update(each)
