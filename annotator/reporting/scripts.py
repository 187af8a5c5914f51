"""The scripts of the report's pictures in one text: the chart library, and the modules of the pages without imports."""

import re
from functools import cache
from pathlib import PurePath

from annotator.installed import asset_folder

LIBRARIES = (("d3", "d3.min.js"), ("plot", "plot.umd.min.js"))
# Each module after those it imports.
MODULES = ("style", "reading", "axes", "named", "numeric", "heat", "saving")
IMPORT = re.compile(r"^import (\{[^}]*\}) from \"([^\"]+)\";$", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (\w+))", re.MULTILINE)
FOLD = 'for (const numbers of document.querySelectorAll(".chart + details")) numbers.open = false;'


@cache
def libraries() -> tuple[str, ...]:
    """The libraries, each under its licence."""
    folder = asset_folder("static") / "vendor"
    texts = ((folder / name / "LICENSE", folder / name / file) for name, file in LIBRARIES)
    return tuple(
        _harmless(f"/*\n{licence.read_text(encoding='utf-8')}*/\n{library.read_text(encoding='utf-8')}")
        for licence, library in texts
    )


@cache
def drawing() -> str:
    """The modules that draw every table with `data-chart`; the tables are folded once they are drawn."""
    site = asset_folder("static") / "site"
    parts = [_as_object(name, (site / "charts" / f"{name}.js").read_text(encoding="utf-8")) for name in MODULES]
    return _harmless("\n".join([*parts, _as_object("charts", (site / "charts.js").read_text(encoding="utf-8")), FOLD]))


@cache
def chart_style() -> str:
    """The style sheet of the pictures."""
    return (asset_folder("static") / "site" / "charts.css").read_text(encoding="utf-8")


def _as_object(name: str, module: str) -> str:
    """A module as a constant with its exports, which takes its imports from the constants before it."""
    exports = ", ".join(EXPORT.findall(module))
    imported = IMPORT.sub(lambda found: f"const {found[1]} = module_{PurePath(found[2]).stem};", module)
    return f"const module_{name} = (() => {{\n{EXPORT.sub('', imported)}\nreturn {{ {exports} }};\n}})();"


def _harmless(script: str) -> str:
    """A script that does not end the element it stands in."""
    return script.replace("</script", "<\\/script")
