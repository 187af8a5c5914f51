"""What is installed: the distribution with its version, and where templates, static files and migrations are."""

from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).parent
# On PyPI “annotator” is another project.
DISTRIBUTION = "relevance-annotator"


@cache
def installed_version() -> str:
    """The version of this installation, as manifests, archives, pages and the API name it."""
    return version(DISTRIBUTION)


def how_to_install(extra: str) -> str:
    """A command that adds an extra to this installation; the wheel is named, for PyPI may not have it."""
    file = f"{DISTRIBUTION.replace('-', '_')}-{installed_version()}-py3-none-any.whl"
    return f"pip install '{file}[{extra}]'"


def asset_folder(name: str) -> Path:
    """The folder `templates`, `static` or `migrations`: inside the package when installed, beside it in a checkout."""
    installed = PACKAGE / "assets" / name
    return installed if installed.is_dir() else PACKAGE.parent / name
