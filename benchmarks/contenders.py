"""Scorers of files in separate processes: annotator, pytrec_eval, and trec_eval where it is installed."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.costs import Cost, cost_of_process, peak_megabytes
from benchmarks.measure_set import MEASURES
from benchmarks.synthetic import Collection

HERE = Path(__file__).parent
OUR_SCRIPT = (sys.executable, str(HERE / "annotator_process.py"))
PYTREC_EVAL_SCRIPT = (sys.executable, str(HERE / "pytrec_eval_process.py"))
OPTIONS = tuple(word for measure in MEASURES for word in ("-m", measure))


@dataclass(frozen=True)
class Contender:
    """A scorer to time: commands that run one after the other."""

    name: str
    commands: Sequence[Sequence[str]]

    def cost(self) -> Cost:
        """Run the commands once and return their cost."""
        return Cost.total([cost_of_process(words) for words in self.commands])

    def peak_megabytes(self) -> float:
        """Run the commands once more and return the peak memory."""
        return max(peak_megabytes(words) for words in self.commands)


def annotator(collection: Collection, *options: str) -> Contender:
    """`evaluate`, in a script."""
    return Contender("annotator", [[*OUR_SCRIPT, *options, *_files(collection)]])


def annotator_command(collection: Collection) -> Contender:
    """`annotator evaluate`."""
    return Contender("annotator", [[sys.executable, "-m", "annotator", "evaluate", *_files(collection), *OPTIONS]])


def pytrec_eval(collection: Collection, *options: str) -> Contender:
    """pytrec_eval, in a script."""
    return Contender("pytrec_eval", [[*PYTREC_EVAL_SCRIPT, *options, *_files(collection)]])


def trec_eval(collection: Collection) -> list[Contender]:
    """trec_eval, once for each run; empty where it is not installed."""
    program = shutil.which("trec_eval")
    if program is None:
        return []
    commands = [[program, "-c", *OPTIONS, str(collection.qrels), str(run)] for run in collection.runs]
    return [Contender("trec_eval", commands)]


def _files(collection: Collection) -> list[str]:
    return [str(collection.qrels), *map(str, collection.runs)]
