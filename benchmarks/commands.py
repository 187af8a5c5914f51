"""Processor seconds of help and completion for each command, compared with an empty Python program.

    python benchmarks/commands.py [--rounds N]

Medians, for the help of the root, of every noun and of a few commands, and for Tab completion.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from annotator.cli.root import NOUNS
from benchmarks.costs import Cost, cost_of_process

ANNOTATOR = (sys.executable, "-m", "annotator")
NOTHING = (sys.executable, "-c", "pass")
MOST_SECONDS = 0.3
COMMANDS = (
    ("runs", "import"),
    ("pool", "build"),
    ("judgements", "export"),
    ("collections", "quality", "show"),
    ("--site", "https://example.org", "runs", "import"),
)
TYPED = ("ru", "runs im", "runs import news --t", "runs import news --type a", "collections quality s")


def main() -> None:
    """Time everything, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    rounds: int = parser.parse_args().rounds
    works = {"python -c pass": NOTHING, **helps(), **completions()}
    # As where pip has installed it: compiled.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    cost_of_process(works["annotator --help"])
    print(f"load {os.getloadavg()[0]:.1f}, medians of {rounds}, at most {MOST_SECONDS} s of processor time each")
    for name, words in works.items():
        cost = Cost.middle([cost_of_process(words) for _ in range(rounds)])
        print(f"{name:60} {cost.processor:.3f} s  {'' if cost.processor < MOST_SECONDS else 'MISSED'}".rstrip())


def helps() -> Mapping[str, Sequence[str]]:
    """Show help."""
    asked = ((), *((noun,) for noun in NOUNS), *COMMANDS)
    return {" ".join(("annotator", *words, "--help")): (*ANNOTATOR, *words, "--help") for words in asked}


def completions() -> Mapping[str, Sequence[str]]:
    """Return the commands that bash runs for completion."""
    return {f"annotator {typed}<Tab>": _completing(f"annotator {typed}") for typed in TYPED}


def _completing(line: str) -> Sequence[str]:
    last = len(line.split()) - 1
    # The name of the program is that of the variable; with -m it would be another.
    begin = "from annotator.cli import main; main(prog_name='annotator')"
    asked = ("_ANNOTATOR_COMPLETE=bash_complete", f"COMP_WORDS={line}", f"COMP_CWORD={last}")
    return ("env", *asked, sys.executable, "-c", begin)


if __name__ == "__main__":
    main()
