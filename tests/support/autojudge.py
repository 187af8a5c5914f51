"""The readers of autojudge-base, without the face of that package, which downloads texts of NLTK on import."""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def _without_face() -> None:
    found = find_spec("autojudge_base")
    assert found is not None
    assert found.submodule_search_locations is not None
    package = ModuleType(found.name)
    package.__path__ = list(found.submodule_search_locations)
    sys.modules[found.name] = package


_without_face()
read_qrel_file = import_module("autojudge_base.qrels.qrels").read_qrel_file
Leaderboard = import_module("autojudge_base.leaderboard.leaderboard").Leaderboard
