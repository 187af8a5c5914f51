"""The wheel, installed away from the checkout, makes and serves the demonstration with pages and styles."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from email.parser import Parser
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest
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
