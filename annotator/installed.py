"""What is installed: the distribution, whose name is not that of the package, and its version."""

from importlib.metadata import version

# On PyPI “annotator” is another project.
DISTRIBUTION = "relevance-annotator"


def installed_version() -> str:
    """The version of this installation, as manifests and archives record it."""
    return version(DISTRIBUTION)


def how_to_install(extra: str) -> str:
    """A command that adds an extra to this installation; the wheel is named, for PyPI may not have it."""
    file = f"{DISTRIBUTION.replace('-', '_')}-{installed_version()}-py3-none-any.whl"
    return f"pip install '{file}[{extra}]'"
