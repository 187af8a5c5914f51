r"""How fast the measures are, beside pytrec_eval and, where one is on the PATH, trec_eval.

    python benchmarks/metrics.py [--quick] [--only PART]... [--data FOLDER]

Runs and qrels are made, of TREC-8's and of MS MARCO's size, and go afterwards unless --data names a folder to keep
them in. Each figure is a median; we and the peer take turns. Before that their values are compared: every value of
every topic must be equal to the last bit.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import contenders, stored_arrays, synthetic
from benchmarks.contenders import Contender
from benchmarks.costs import Cost
from benchmarks.same_values import refuse_if_different
from benchmarks.synthetic import Collection
from benchmarks.table import Row, table


@dataclass(frozen=True)
class Size:
    """How much is measured, and how often."""

    runs: int
    marco_topics: int
    rounds: int
    rounds_of_large: int
    rounds_of_small: int


FULL = Size(synthetic.TREC8_RUNS, synthetic.MARCO_TOPICS, rounds=5, rounds_of_large=3, rounds_of_small=15)
QUICK = Size(runs=12, marco_topics=700, rounds=3, rounds_of_large=1, rounds_of_small=5)


def main() -> None:
    """Measure what is asked for, and print the table."""
    given = arguments()
    rows: list[Row] = []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        keep_bytecode(Path(folder) / "bytecode")
        for part in given.only or PARTS:
            print(f"{part} ...", file=sys.stderr, flush=True)
            rows += PARTS[part](given.data or Path(folder), QUICK if given.quick else FULL)
    print(f"{os.cpu_count()} processors; {load:.1f} of them were busy before this began.")
    if given.quick:
        print("A tenth of the files: what is needed is meant for all of them.")
    print(f"\n{table(rows)}")


def arguments() -> argparse.Namespace:
    """What to measure, and where the files are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the files: the ratios are not those of all")
    parser.add_argument("--only", action="append", choices=list(PARTS))
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    return parser.parse_args()


def from_arrays(data: Path, size: Size) -> Iterator[Row]:
    """Score all runs from what is stored, on one core."""
    yield stored_arrays.all_runs(trec8(data, size.runs), size.rounds)


def one_judgement(data: Path, size: Size) -> Iterator[Row]:
    """Score one topic of all runs again, as a judge waits."""
    yield stored_arrays.one_judgement(trec8(data, size.runs))


def from_files(data: Path, size: Size) -> Iterator[Row]:
    """Read, check and score all files."""
    collection = trec8(data, size.runs)
    refuse_different_values(collection)
    peers = [contenders.pytrec_eval(collection), *contenders.trec_eval(collection)]
    ours = [contenders.annotator(collection, "--workers", workers) for workers in ("1", "2")]
    one, two, *theirs = in_turns([*ours, *peers], size.rounds)
    for peer, cost in zip(peers, theirs, strict=True):
        yield Row.of_speed(f"{size.runs} files, one worker", one, peer.name, cost, least=1.6, goal=2)
        yield Row.of_speed(f"{size.runs} files, two workers", two, peer.name, cost, least=3, goal=3.5)


def from_large_file(data: Path, size: Size) -> Iterator[Row]:
    """Read, check and score one run of seven million lines."""
    collection = synthetic.marco(data / f"marco-{size.marco_topics}", size.marco_topics)
    refuse_different_values(collection)
    peers = [contenders.pytrec_eval(collection), *contenders.trec_eval(collection)]
    ours = [contenders.annotator(collection, "--workers", workers) for workers in ("1", "2")]
    one, two, *theirs = in_turns([*ours, *peers], size.rounds_of_large)
    megabytes = max(contender.peak_megabytes() for contender in ours)
    lines = f"{size.marco_topics * synthetic.DEPTH:,} lines"
    for peer, cost in zip(peers, theirs, strict=True):
        yield Row.of_speed(f"{lines}, one worker", one, peer.name, cost)
        yield Row.of_speed(f"{lines}, two workers", two, peer.name, cost, least=4)
        yield Row.of_memory(f"{lines}, memory", megabytes, peer.name, peer.peak_megabytes(), most=250)


def from_command(data: Path, size: Size) -> Iterator[Row]:
    """Call the command for one run of 50,000 lines."""
    several = trec8(data, size.runs)
    collection = Collection(several.qrels, several.runs[:1])
    peers = [contenders.pytrec_eval(collection), *contenders.trec_eval(collection)]
    those = [contenders.annotator_command(collection), *peers]
    in_turns(those, 1)  # compiles what it imports
    ours, *theirs = in_turns(those, size.rounds_of_small)
    for peer, cost in zip(peers, theirs, strict=True):
        yield Row.of_speed("annotator evaluate, one run", ours, peer.name, cost, least=1 / 1.3, goal=1)


PARTS: Mapping[str, Callable[[Path, Size], Iterator[Row]]] = {
    "arrays": from_arrays,
    "judgement": one_judgement,
    "files": from_files,
    "large": from_large_file,
    "command": from_command,
}


def keep_bytecode(folder: Path) -> None:
    """Let all processes find our modules and the peer's compiled, as they are where pip has installed them."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)


def trec8(data: Path, runs: int) -> Collection:
    """Make TREC-8's runs, or find them."""
    return synthetic.trec8(data / "trec8", runs)


def in_turns(those: Sequence[Contender], rounds: int) -> list[Cost]:
    """Take the median cost of each; whatever else the machine does meanwhile meets all of them."""
    costs = [[one.cost() for one in those] for _ in range(rounds)]
    return [Cost.middle(of_one) for of_one in zip(*costs, strict=True)]


def refuse_different_values(collection: Collection) -> None:
    """Compare what the processes compute, before they are timed."""
    with tempfile.TemporaryDirectory() as folder:
        files = {contend: Path(folder) / contend.__name__ for contend in (contenders.annotator, contenders.pytrec_eval)}
        for contend, file in files.items():
            contend(collection, "--values", str(file)).cost()
        refuse_if_different(*(json.loads(file.read_text()) for file in files.values()))


if __name__ == "__main__":
    main()
