"""The installed distribution: its version, and the folders of templates, static files and migrations."""

from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).parent
# On PyPI “annotator” is another project.
DISTRIBUTION = "relevance-annotator"


@cache
def installed_version() -> str:
    """The version of this installation, for manifests, archives, pages and the API."""
    return version(DISTRIBUTION)


def how_to_install(extra: str) -> str:
    """A pip command that adds an extra to this installation; it names the wheel, as PyPI may not have the package."""
    file = f"{DISTRIBUTION.replace('-', '_')}-{installed_version()}-py3-none-any.whl"
    return f"pip install '{file}[{extra}]'"


def asset_folder(name: str) -> Path:
    """The folder `templates`, `static` or `migrations`: inside the installed package, or beside it in a checkout."""
    installed = PACKAGE / "assets" / name
    return installed if installed.is_dir() else PACKAGE.parent / name
