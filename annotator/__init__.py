"""annotator: builds pools from runs, has people judge them, and exports qrels and scores."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__: str

if not TYPE_CHECKING:

    def __getattr__(name: str) -> str:
        """Read `__version__` from the package metadata on first use: that takes longer than most commands to start."""
        if name != "__version__":
            raise AttributeError(name)
        return import_module("annotator.installed").installed_version()
