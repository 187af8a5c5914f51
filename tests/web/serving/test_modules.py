"""Addresses of JavaScript modules: permanent, and other ones when a module changes."""

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from build import SLUG
from flask import Flask
from visiting import Visit

from annotator.web.serving import modules


@pytest.mark.usefixtures("news")
def test_modules_and_what_they_import_are_kept_for_good(visit: Visit) -> None:
    page = visit("jo").get(f"/collections/{SLUG}/judge/topics/1").text
    addresses = re.findall(r'"(/static/v-[0-9a-f]{12}/judging/[a-z_]+[.]js)"', page)
    main = next(address for address in addresses if address.endswith("/main.js"))
    guest = visit(None)
    main_text = guest.get(main, buffered=True).text
    imported = {urljoin(main, name) for name in re.findall(r' from "(.+)";', main_text)}
    assert imported < set(addresses)
    for address in addresses:
        assert "immutable" in guest.get(address, buffered=True).headers["Cache-Control"]
    outdated = guest.get("/static/v-000000000000/judging/main.js", buffered=True)
    assert (outdated.status_code, outdated.headers["Cache-Control"]) == (200, "no-cache")


def test_the_address_of_modules_changes_with_each_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = Flask("modules", static_folder=str(tmp_path))
    (tmp_path / "a.js").write_text('import { b } from "./b.js";')
    (tmp_path / "b.js").write_text("export const b = 1;")
    versions = set()
    with app.app_context():
        for second, content in enumerate(["export const b = 1;", "export const b = 22;"]):
            monkeypatch.setattr("time.monotonic", lambda second=second: float(second))
            (tmp_path / "b.js").write_text(content)
            versions.add(modules.version())
        assert modules.module_graph("a.js") == ["b.js"]
    assert len(versions) == 2
