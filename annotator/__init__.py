"""annotator: builds pools from runs, has people judge them, and exports qrels and scores.

For programs and notebooks: `evaluate` scores runs, `compare` tests them against a baseline, `agreement` compares
judges, `estimate` scores runs from a sample of judgements, `pool` selects documents to judge, and `simulate` tries
pooling strategies. Each takes files, dicts and frames.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotator.library.agreement import agreement as agreement
    from annotator.library.comparison import compare as compare
    from annotator.library.estimates import estimate as estimate
    from annotator.library.pools import pool as pool
    from annotator.library.pools import simulate as simulate
    from annotator.library.scores import evaluate as evaluate

__version__: str

# Where each is defined. They are imported on first use: that takes longer than most commands to start.
_OFFERED = {
    "agreement": "annotator.library.agreement",
    "compare": "annotator.library.comparison",
    "estimate": "annotator.library.estimates",
    "evaluate": "annotator.library.scores",
    "pool": "annotator.library.pools",
    "simulate": "annotator.library.pools",
}

__all__ = ["__version__", "agreement", "compare", "estimate", "evaluate", "pool", "simulate"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:  # noqa: ANN401 - each of another type
        """Import what is offered; `__version__` is read from the package's metadata."""
        if name == "__version__":
            return import_module("annotator.installed").installed_version()
        if name not in _OFFERED:
            raise AttributeError(name)
        return getattr(import_module(_OFFERED[name]), name)

    def __dir__() -> list[str]:
        """What is offered, for completion."""
        return __all__
