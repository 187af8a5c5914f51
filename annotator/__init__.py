"""annotator: runs in, pools judged by people, qrels and scores out."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__: str

if not TYPE_CHECKING:

    def __getattr__(name: str) -> str:
        """Look up `__version__` in the metadata of the package, which takes longer than most commands begin in."""
        if name != "__version__":
            raise AttributeError(name)
        return import_module("annotator.installed").installed_version()
