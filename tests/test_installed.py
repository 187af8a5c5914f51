"""What is installed goes by a name that nobody else has on PyPI, and everything that installs it uses that name."""

import re
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import annotator
from annotator.errors import InvalidValueError
from annotator.installed import DISTRIBUTION, how_to_install, installed_version
from annotator.storage import Database

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
# `pip install annotator`, also with an extra, a version or a mark in quotes.
OF_SOMEBODY_ELSE = re.compile(r"pip install[^\n`&]*[\s'\"]annotator(?![\w./-])")
INSTRUCTIONS = [*DOCUMENTS, ROOT / "Makefile", *sorted((ROOT / "annotator").rglob("*.py"))]


def test_the_distribution_is_found_by_its_name_and_brings_the_command() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (project["name"], project["version"]) == (DISTRIBUTION, installed_version())
    [command] = [one for one in distribution(DISTRIBUTION).entry_points if one.group == "console_scripts"]
    assert (command.name, command.value) == ("annotator", "annotator.cli:main")


def requirements() -> list[Requirement]:
    file = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lists = [file["build-system"]["requires"], file["project"]["dependencies"]]
    lists += [*file["project"]["optional-dependencies"].values(), *file["dependency-groups"].values()]
    return [Requirement(text) for texts in lists for text in texts]


def test_the_package_names_its_version() -> None:
    assert annotator.__version__ == installed_version()
    with pytest.raises(AttributeError):
        getattr(annotator, "no_such_name")  # noqa: B009 - mypy would refuse the plain form


def test_every_requirement_ends_before_a_major_version_that_nobody_has_tried() -> None:
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    versions = {canonicalize_name(name): version for name, version in pinned.items()}
    for requirement in requirements():
        bounds = {one.operator: one.version for one in requirement.specifier}
        assert set(bounds) == {">=", "<"}, requirement
        assert bounds["<"].isdecimal(), requirement
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_nothing_advises_to_install_what_somebody_else_publishes() -> None:
    assert OF_SOMEBODY_ELSE.search("pip install annotator[postgres]")
    assert OF_SOMEBODY_ELSE.search("pip install -U 'annotator'")
    advised = {path.name: OF_SOMEBODY_ELSE.findall(path.read_text()) for path in INSTRUCTIONS}
    assert {name: found for name, found in advised.items() if found} == {}


def test_the_documents_name_the_file_of_this_version() -> None:
    texts = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    named = set(re.findall(r"\S*annotator-[\d.]+-py3-none-any\.whl", texts))
    assert {name.rpartition("/")[2].strip("`\"'") for name in named} == {
        f"relevance_annotator-{installed_version()}-py3-none-any.whl"
    }


def test_without_the_driver_of_postgresql_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InvalidValueError) as refused:
        Database("postgresql+psycopg://ann:secret@db/task")
    assert how_to_install("postgres") in str(refused.value)
    assert "relevance_annotator-" in str(refused.value)
    assert "[postgres]" in str(refused.value)
    assert "secret" not in str(refused.value)
