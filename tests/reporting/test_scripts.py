"""The scripts inside the report: every module of the pictures, in an order in which each finds its imports."""

import re

from annotator.installed import asset_folder
from annotator.reporting.scripts import MODULES, drawing, libraries


def test_every_module_of_the_pictures_is_in_the_report_after_its_imports() -> None:
    folder = asset_folder("static") / "site" / "charts"
    assert sorted(MODULES) == sorted(path.stem for path in folder.glob("*.js"))
    for place, name in enumerate(MODULES):
        imported = re.findall(r'from "\./(\w+)\.js"', (folder / f"{name}.js").read_text(encoding="utf-8"))
        assert set(imported) <= set(MODULES[:place]), name


def test_the_scripts_import_nothing_and_end_no_element() -> None:
    script = drawing()
    assert re.findall(r"^(?:import|export)\b.*", script, re.MULTILINE) == []
    assert all("</script" not in text for text in (script, *libraries()))


def test_the_libraries_come_with_their_licences() -> None:
    d3, plot = libraries()
    assert "Permission to use, copy, modify" in d3
    assert "Copyright 2020-2025 Observable, Inc." in plot
