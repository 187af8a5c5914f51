"""How Sphinx builds the documents: `make docs`, without network, every warning an error."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import generated

from annotator.installed import installed_version

project = "annotator"
author = "The annotator authors"
copyright = "2026, The annotator authors"  # noqa: A001 - as Sphinx calls it
release = version = installed_version()

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_click"]
exclude_patterns = ["_build"]
smartquotes = False  # `--option` stays as it is typed
default_role = "literal"  # docstrings write code as `name`
nitpicky = False  # types in signatures are of libraries, whose documents are elsewhere
language = "en"
locale_dirs = ["locale"]  # translations by gettext: `sphinx-build -b gettext`
gettext_compact = "annotator"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4  # links to headings as in the repository: guides/judges.md#keys
autodoc_member_order = "bysource"
autodoc_typehints = "description"

html_theme = "furo"
html_title = "annotator"
html_static_path: list[str] = []
html_show_sphinx = False
html_copy_source = False


def setup(app: Any) -> None:  # noqa: ANN401 - Sphinx is not installed where types are checked
    """Write the generated pages before Sphinx lists its sources."""
    app.connect("config-inited", lambda *_: generated.write_pages())
