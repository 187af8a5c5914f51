"""Where templates, static files and migrations are, in a checkout and in an installed wheel."""

from pathlib import Path

PACKAGE = Path(__file__).parent


def asset_folder(name: str) -> Path:
    """The folder `templates`, `static` or `migrations`: inside the package when installed, beside it in a checkout."""
    installed = PACKAGE / "assets" / name
    return installed if installed.is_dir() else PACKAGE.parent / name
