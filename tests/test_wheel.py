"""The wheel, installed away from the checkout, makes and serves the demonstration with pages and styles."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from serving import running

ROOT = Path(__file__).parents[1]
# Nothing of the checkout may be found by way of the environment.
CLEAN: Mapping[str, str] = {"PYTHONPATH": "", "PYTHONSAFEPATH": "1"}


def run(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(  # noqa: S603 - our own command
        list(map(str, command)), cwd=folder, env={**os.environ, **CLEAN}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, folder=folder)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path) -> Path:
    """The programs of an environment that has the wheel, and the libraries of this one without our checkout.

    A path file adds the folder of the libraries, but path files inside that folder, such as that of an editable
    install, are not followed.
    """
    folder = wheel.parent
    # On PyPI “annotator” is another project: ours must not be taken for an older version of it.
    assert wheel.name.startswith("relevance_annotator-")
    venv.create(folder / "environment", symlinks=True)
    programs = folder / "environment" / "bin"
    run(
        *(sys.executable, "-m", "pip", "--python", programs / "python"),
        *("install", "--quiet", "--no-deps", "--no-index", wheel),
        folder=folder,
    )
    [packages] = (folder / "environment").glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


def test_it_holds_what_the_program_reads_and_no_sources_of_translations_or_pictures(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    kinds = {PurePosixPath(name).suffix for name in names}
    code = {".css", ".html", ".js", ".mako", ".py"}
    assert kinds <= code | {"", ".json", ".md", ".mo", ".svg", ".tsv", ".txt", ".typed", ".xml"}
    assert sorted(name for name in names if name.endswith(".svg")) == [
        "annotator/assets/static/site/mark.svg",
        "annotator/assets/static/vendor/lucide/icons.svg",
    ]
    assert not [name for name in names if name.startswith(("tests/", "docs/", "benchmarks/"))]


def test_its_metadata_say_whose_it_is_and_what_for(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["Author"] == "The annotator authors"
    assert "information retrieval" in metadata["Keywords"].split(",")
    assert "Framework :: Flask" in metadata.get_all("Classifier", [])
    assert metadata["License-Expression"] == "MIT"
    assert all("<" in one for one in metadata.get_all("Requires-Dist", []))


def requirements(name: str) -> set[str]:
    """The distributions that pip installs with one of them, without extras."""
    wanted, found = [name], set[str]()
    while wanted:
        found.add(one := wanted.pop())
        listed = [Requirement(text) for text in distribution(one).requires or ()]
        needed = [each.name for each in listed if each.marker is None or each.marker.evaluate({"extra": ""})]
        wanted += [each for each in needed if each not in found]
    return found


@pytest.fixture(scope="module")
def library(wheel: Path) -> Path:
    """The programs of an environment that has what `pip install` gives without an extra."""
    environment = wheel.parent / "library"
    venv.create(environment, symlinks=True)
    programs = environment / "bin"
    run(
        *(sys.executable, "-m", "pip", "--python", programs / "python"),
        *("install", "--quiet", "--no-deps", "--no-index", wheel),
        folder=wheel.parent,
    )
    [packages] = environment.glob("lib/python*/site-packages")
    for name in requirements("relevance-annotator") - {"relevance-annotator"}:
        tops = {file.parts[0] for file in distribution(name).files or () if file.parts[0] not in {"..", "__pycache__"}}
        for top in tops:
            (packages / top).symlink_to(Path(sysconfig.get_path("purelib")) / top)
    return programs


def refused(command: Sequence[str | Path], folder: Path) -> str:
    """Run a command that must fail with a sentence and no traceback."""
    done = subprocess.run(  # noqa: S603 - our own command
        list(map(str, command)), cwd=folder, env={**os.environ, **CLEAN}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def test_without_an_extra_it_is_a_library_and_commands_on_files_and_sites(library: Path, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n2 Q0 a 1 1 x\n")
    assert "0.7500" in run(library / "annotator", "evaluate", "qrels", "run", "-m", "AP", folder=tmp_path).stdout
    # The client is there: what is missing is the token.
    on_site: list[str | Path] = [library / "annotator", "--site", "http://127.0.0.1:9", "runs", "check", "news", "run"]
    assert "The site wants a token" in refused(on_site, tmp_path)
    script = """
import sys, annotator
from annotator.client import Site
print(annotator.evaluate("qrels", "run", "AP").value("x", "AP"), len(annotator.pool("run")),
      annotator.simulate("qrels", "run", ["depth"]).columns[0], {"flask", "sqlalchemy", "scipy"} & set(sys.modules))
"""
    assert run(library / "python", "-c", script, folder=tmp_path).stdout == "0.75 3 strategy set()\n"


def test_without_an_extra_it_says_which_one_a_command_or_a_test_needs(library: Path, tmp_path: Path) -> None:
    for command in (["serve"], ["demo"], ["collections", "list"]):
        told = refused([library / "annotator", *command], tmp_path)
        assert re.fullmatch(
            r"This command needs the packages of the server, and \w+ is not installed here: "
            r"pip install 'relevance_annotator-[\d.]+-py3-none-any\.whl\[server\]'\.\n",
            told,
        )
    script = """
import annotator
run = {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}, "3": {"b": 1.0}}
qrels = {"1": {"b": 1}, "2": {"a": 1}, "3": {"a": 1}}
try:
    annotator.compare(qrels, {"x": run, "y": {"1": {"b": 1.0}}}, "AP")
except annotator.errors.AnnotatorError as refused:
    print(refused)
"""
    told = run(library / "python", "-c", script, folder=tmp_path).stdout
    assert told == "Intervals and tests of significance need SciPy, which is not installed here: pip install scipy.\n"


def test_the_demonstration_is_made_and_served_away_from_the_checkout(programs: Path, tmp_path: Path) -> None:
    where = run(programs / "python", "-c", "import annotator; print(annotator.__file__)", folder=tmp_path).stdout
    assert Path(where.strip()).is_relative_to(programs.parent)

    assert run(programs / "annotator", "--version", folder=tmp_path).stdout.startswith("annotator, version ")
    made = run(programs / "annotator", "demo", "--no-serve", "--directory", "demo", folder=tmp_path)
    assert "Made the demonstration in demo. " in made.stderr
    command = [str(programs / "annotator"), "demo", "--directory", "demo"]
    with running(command, tmp_path / "server.log", CLEAN) as server:
        status, page = server.get("/sign-in")
        assert status == 200
        [style] = re.findall(r'<link[^>]*rel="stylesheet"[^>]*href="([^"]+)"', page.decode())[:1]
        status, rules = server.get(style)
        assert (status, b"{" in rules) == (200, True)
        server.wait_for(server.address)  # printed up to a quarter of a second after the first answer
    assert "Found the demonstration in demo" in server.log.read_text()
