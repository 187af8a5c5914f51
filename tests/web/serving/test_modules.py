"""Addresses of JavaScript modules: permanent, and other ones when a module changes."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
from build import SLUG
from flask import Flask
from visiting import Visit

from annotator.web.serving import modules


@pytest.mark.usefixtures("news")
def test_the_judging_screen_loads_one_script_that_is_kept_for_good(visit: Visit) -> None:
    page = visit("jo").get(f"/collections/{SLUG}/judge/topics/1").text
    address = re.findall(r'"(/static/v-[0-9a-f]{12}/judging/[^"]+[.]js)"', page)
    assert [name.rpartition("/")[2] for name in address] == ["main.bundle.js"]
    guest = visit(None)
    whole = guest.get(address[0])
    small = guest.get(address[0], headers={"Accept-Encoding": "gzip"})
    assert "immutable" in whole.headers["Cache-Control"]
    assert whole.mimetype == "text/javascript"
    assert gzip.decompress(small.data) == whole.data
    again = guest.get(address[0], headers={"Accept-Encoding": "gzip", "If-None-Match": small.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert guest.get("/static/judging/none.bundle.js").status_code == 404


@pytest.mark.usefixtures("news")
def test_what_modules_import_has_a_permanent_address_too(visit: Visit) -> None:
    page = visit("ola").get(f"/collections/{SLUG}/topics").text
    address = re.search(r'"(/static/v-[0-9a-f]{12}/site/tables[.]js)"', page)
    assert address is not None
    guest = visit(None)
    imported = re.findall(r' from "(.+)";', guest.get(address[1], buffered=True).text)
    assert imported
    for name in imported:
        found = guest.get(urljoin(address[1], name), buffered=True)
        assert "immutable" in found.headers["Cache-Control"]
    outdated = guest.get("/static/v-000000000000/site/tables.js", buffered=True)
    assert (outdated.status_code, outdated.headers["Cache-Control"]) == (200, "no-cache")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The static files of an application in which this test works."""
    with Flask("modules", static_folder=str(tmp_path)).app_context():
        yield tmp_path


def test_the_address_of_modules_changes_with_each_of_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = set()
    for second, content in enumerate(["export const b = 1;", "export const b = 22;"]):
        monkeypatch.setattr("time.monotonic", lambda second=second: float(second))
        (folder / "b.js").write_text(content)
        versions.add(modules.version())
    assert len(versions) == 2


def test_a_bundle_has_what_a_module_imports_before_it(folder: Path) -> None:
    (folder / "site").mkdir()
    (folder / "site" / "a.js").write_text('import {\n  b as other,\n  two,\n} from "../b.js";\nother(two);\n')
    (folder / "b.js").write_text("export const two = 2;\nexport async function b(number) {}\n")
    assert modules.generated("site/a.bundle.js") == (
        b"const $b_js=(()=>{const two=2;async function b(number){}\nreturn{two,b};})();"
        b"const $site_a_js=(()=>{const{b:other,two,}=$b_js;other(two);return{};})();"
    )


def test_stylesheets_are_served_without_comments(folder: Path) -> None:
    (folder / "a.css").write_text("/* Why */\na  { color : red; }\n")
    assert modules.generated("a.css") == b"a{color:red}"
    assert modules.generated("../a.css") is None
    assert modules.generated("none.css") is None


def test_a_stylesheet_holds_those_that_it_imports(folder: Path) -> None:
    (folder / "a.css").write_text('/* Both */\n@import "./b.css";\na { top: 0; }\n')
    (folder / "b.css").write_text("b { top: 1px; }\n")
    assert modules.generated("a.bundle.css") == b"b{top:1px}a{top:0}"
    assert modules.is_module("a.bundle.css")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("export let a = 1;", "cannot hold"),
        ('import * as b from "./b.js";', "cannot hold"),
        ('import("./b.js");', "cannot hold"),
        ('import { b } from "./a.js";', "import each other"),
    ],
)
def test_a_bundle_refuses_what_it_cannot_hold(folder: Path, text: str, problem: str) -> None:
    (folder / "a.js").write_text(text)
    with pytest.raises(ValueError, match=problem):
        modules.generated("a.bundle.js")
