"""Fuzzes every parser with mutated inputs: only our own exceptions may be raised, in bounded time and memory.

nice -n 19 python benchmarks/fuzzing.py --inputs 1000000 [--seed 1] [--only run] [--guided]

The inputs are shared among the parsers; the same seed makes the same ones. With --guided (one parser a process, and
`pip install atheris`) inputs are guided by coverage. An input that breaks a parser is written to the folder
--keep and printed; the exit code is then 1.
"""

import argparse
import gc
import importlib
import random
import resource
import sys
import time
import traceback
from itertools import count
from pathlib import Path
from types import FunctionType

from benchmarks.fuzz_mutating import mutated
from benchmarks.fuzz_targets import TARGETS, Target

# One input has at most 4 KiB: whoever needs longer for it than this does more than read it.
MOST_SECONDS = 1.0
MOST_MEBIBYTES = 4096  # of virtual memory, of which pyarrow reserves a large part at its start
TOLD_AT_MOST = 5


def main() -> int:
    """Feed them, and print for each how many inputs it took, how quickly, and the longest of all."""
    given = _arguments()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEBIBYTES << 20,) * 2)
    chosen = {name: target for name, target in TARGETS.items() if given.only in {None, name}}
    if given.guided:
        return _guided(chosen[given.only], given)
    broken = 0
    begin, each = time.perf_counter(), -(-given.inputs // len(chosen))
    for name, target in chosen.items():
        broken += _feed(name, target, each, given)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    total = each * len(chosen)
    print(f"{total} inputs, {total / seconds:.0f}/s, broken {broken}, peak {peak} MiB, seed {given.seed}")
    return 1 if broken else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(TARGETS))
    parser.add_argument("--guided", action="store_true")
    parser.add_argument("--keep", type=Path, default=Path("fuzzing"))
    given = parser.parse_args()
    if given.guided and given.only is None:
        parser.error("--guided needs --only")
    return given


def _feed(name: str, target: Target, inputs: int, given: argparse.Namespace) -> int:
    chance = random.Random(f"{given.seed} {name}")  # noqa: S311 - the same inputs from the same seed
    broken, longest, begin = 0, 0.0, time.perf_counter()
    for _ in range(inputs):
        data = mutated(chance, target.seeds)
        started = time.process_time()
        why = _why_broken(target, data)
        taken = time.process_time() - started
        longest = max(longest, taken)
        if why is None and taken > MOST_SECONDS:
            why = f"it took {taken:.1f} s"
        if why is not None:
            broken += 1
            if broken <= TOLD_AT_MOST:
                print(f"{name}: {_kept(given.keep, name, data)}: {why}", file=sys.stderr)
    rate = inputs / (time.perf_counter() - begin)
    print(
        f"{name:<24}{inputs:>10} inputs {rate:>8.0f}/s   longest {longest * 1000:6.1f} ms   broken {broken}", flush=True
    )
    return broken


def _why_broken(target: Target, data: bytes) -> str | None:
    try:
        target.read(data)
    except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
        return traceback.format_exc(limit=-3)
    return None


def _kept(folder: Path, name: str, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = next(path for number in count(1) if not (path := folder / f"{name.replace(' ', '-')}-{number}").exists())
    path.write_bytes(data)
    return path


def _guided(target: Target, given: argparse.Namespace) -> int:
    """Hand over to atheris, which ends the process itself."""
    atheris = importlib.import_module("atheris")
    corpus = given.keep / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    for function in [one for one in gc.get_objects() if isinstance(one, FunctionType)]:
        if (function.__module__ or "").startswith("annotator.evaluation"):
            atheris.instrument_func(function)
    atheris.Setup(
        [sys.argv[0], f"-runs={given.inputs}", f"-seed={given.seed}", "-max_len=4096", str(corpus)], target.read
    )
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
