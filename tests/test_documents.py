"""The documents: links lead somewhere, the README is short, and what is generated has everything."""

import re
import runpy
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from ways_matrix import WAYS

from annotator.evaluation.formats.registry import FORMATS
from annotator.evaluation.metrics import MEASURES
from annotator.evaluation.pooling.strategies import STRATEGIES
from annotator.evaluation.qrels.consensus import NAMED_POLICIES
from annotator.settings import KINDS

ROOT = Path(__file__).parents[1]
MOST_LINES_OF_README = 200
GENERATED = ROOT / "docs/reference/generated"
BUILT = {"docs/_build", "docs/reference/generated"}
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *(
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if not any(path.is_relative_to(ROOT / folder) for folder in BUILT)
    ),
]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|\{download\}`[^<`]*<([^>]+)>`")
FENCED = re.compile(r"^(`{3,}|:{4,})(?!\{toctree\}).*?^\1$", re.DOTALL | re.MULTILINE)
IN_REPOSITORY = re.compile(r"`((?:annotator|tests|docs|benchmarks|templates|static|migrations)/[\w/.-]*)")
ELSEWHERE = ("https://", "http://", "mailto:")


# Each page of the reference by its name, as the next build will write it.
MAKE: Mapping[str, Callable[[], str]] = runpy.run_path(str(ROOT / "docs/generated.py"))["PAGES"]


def text_of(path: Path) -> str:
    return MAKE[path.name]() if path.parent == GENERATED else path.read_text(encoding="utf-8")


def anchors(path: Path) -> set[str]:
    """What a link to a place in a page may name: its headings as GitHub and Sphinx write them, and its own labels."""
    text = text_of(path)
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


def broken(path: Path) -> Iterator[str]:
    """The links of a page that lead nowhere."""
    text = path.read_text(encoding="utf-8")
    prose = re.sub(r"^```(?!\{).*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    for found in LINK.finditer(prose):
        link = found[1] or found[2]
        if link.startswith(ELSEWHERE):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        exists = target.name in MAKE if target.parent == GENERATED else target.exists()
        if not exists or (anchor and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_to_a_heading_of_it(path: Path) -> None:
    assert list(broken(path)) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_a_document_names_is_there(path: Path) -> None:
    history = path.name == "CHANGELOG.md"  # it names files that have moved since
    named = [] if history else IN_REPOSITORY.findall(path.read_text(encoding="utf-8"))
    assert [name for name in named if not name.startswith("docs/_build") and not (ROOT / name).exists()] == []


def test_the_map_names_every_folder_of_each_layer() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    layers = [path for path in (ROOT / "annotator").iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert [path.name for path in layers if f"`annotator/{path.name}`" not in text] == []
    features = {
        path.name
        for layer in layers
        if layer.name not in {"clicks", "worker", "reporting", "demonstration"}
        for path in layer.iterdir()
        if path.is_dir() and path.name not in {"__pycache__", "translations"}
    }
    assert [name for name in sorted(features) if f"`{name}`" not in text and f"/{name}`" not in text] == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](other.md) [b](page.md#one) [c](#two) [d](https://example.org)\n```\n[e](f.md)\n```\n")
    assert list(broken(page)) == ["other.md", "#two"]


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = {
        (path.parent / f"{entry}.md").resolve()
        for path in DOCUMENTS
        for tree in re.findall(r"^```\{toctree\}\n(?::.*\n)*\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE)
        for entry in tree.split()
    }
    pages = {path for path in DOCUMENTS if path.is_relative_to(ROOT / "docs")} - {ROOT / "docs/index.md"}
    assert pages - listed == set()


def test_what_writes_restructuredtext_is_not_read_as_markdown() -> None:
    """Sphinx does not warn of it, and the page then shows `.. option::` and the like."""
    directives = re.compile(r"^(?:```|:::)\{(?:click|auto\w+)\}", re.MULTILINE)
    assert [path.name for path in DOCUMENTS if directives.search(path.read_text(encoding="utf-8"))] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= MOST_LINES_OF_README


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("measures.md", [f"## {name}" for name in MEASURES]),
        ("strategies.md", [f"## {name}\n" for name in STRATEGIES]),
        ("policies.md", [f"`{name}`" for name in NAMED_POLICIES]),
        ("formats.md", [f"`{one.name}`" for formats in FORMATS.values() for one in formats]),
        ("settings.md", [f"`ANNOTATOR_{name.upper()}`" for name in KINDS]),
        ("ways.md", [f"| {name[0].upper()}{name[1:]} |" for name, ways in WAYS.items() if not all(ways.listed())]),
    ],
    ids=["measures", "strategies", "policies", "formats", "settings", "ways"],
)
def test_the_reference_has_everything_that_is_there(name: str, entries: list[str]) -> None:
    page = MAKE[name]()
    assert [entry for entry in entries if entry not in page] == []


def test_the_hooks_before_a_commit_are_those_of_make_lint() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile[makefile.index("\nlint:") :].split("\n\n")[0].splitlines()[2:]
    hooks = re.findall(r"entry: (.*)", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert hooks == [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe]


def test_the_licence_is_the_one_of_the_project() -> None:
    assert 'license = "MIT"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n")


def test_the_package_has_types(tmp_path: Path) -> None:
    build: Any = pytest.importorskip("hatchling.builders.wheel")
    [wheel] = build.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    names = ZipFile(wheel).namelist()
    assert "annotator/py.typed" in names
    assert [name for name in names if name.endswith("dist-info/licenses/LICENSE")]
    assert [name for name in names if "readme" in name or "pictures" in name] == []
