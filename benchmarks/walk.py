r"""What each step of the walk takes on a real collection: seconds, processor seconds and peak memory of each command.

The collection is named on the command line and copied nowhere:

    python benchmarks/walk.py --topics topics.tsv --documents passages.jsonl.gz --field docno=id --field body=text \
        --qrels qrels.txt --scale "0=No,1=Related,2=Highly,3=Perfect" --pool-runs "official.*" runs/*.gz
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SLUG = "walk"
MEASURES = ("nDCG@10", "AP", "P@10", "RR", "Bpref")


def main() -> None:
    """Walk once, in a temporary folder, and print a line for each step."""
    given = arguments()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "ANNOTATOR_DATABASE_URL": f"sqlite:///{folder}/walk.sqlite"}
        print(f"{'step':<22}{'seconds':>9}{'processor':>11}{'MB':>7}")
        for name, words in steps(given, Path(folder)):
            print(f"{name:<22}{measured(words, environment)}", flush=True)


def arguments() -> argparse.Namespace:
    """The files of the collection, by their full paths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", required=True)
    parser.add_argument("--documents", required=True)
    parser.add_argument("--qrels", required=True)
    parser.add_argument("--field", action="append", default=[])
    parser.add_argument("--scale", default="0=Not relevant,1=Relevant,2=Highly relevant")
    parser.add_argument("--pool-runs", default="*")
    parser.add_argument("--depth", default="10")
    parser.add_argument("runs", nargs="+")
    return parser.parse_args()


def steps(given: argparse.Namespace, folder: Path) -> list[tuple[str, list[str]]]:
    """The commands of the walk, each with its name."""
    fields = [word for field in given.field for word in ("--field", field)]
    measures = [word for measure in MEASURES for word in ("-m", measure)]
    new = ["collections", "add", SLUG, "--title", "Walk", "--scale", given.scale, "--relevant-from", "1"]
    return [
        ("collection", new),
        ("topics import", ["topics", "import", SLUG, given.topics]),
        ("documents import", ["documents", "import", SLUG, given.documents, *fields]),
        ("runs check", ["runs", "check", SLUG, *given.runs, "--tag-from-file"]),
        ("runs import", ["runs", "import", SLUG, *given.runs, "--tag-from-file"]),
        ("pool build", ["pool", "build", SLUG, "--depth", given.depth, "--runs", given.pool_runs]),
        ("judgements import", ["judgements", "import", SLUG, given.qrels, "--judge", "qrels", "--add-to-pool"]),
        ("agreement show", ["agreement", "show", SLUG]),
        ("qrels export", ["qrels", "export", SLUG, "-o", str(folder / "walk.qrels")]),
        ("leaderboard show", ["leaderboard", "show", SLUG, *measures]),
        ("leaderboard, from file", ["leaderboard", "show", SLUG, *measures, "--qrels", str(folder / "walk.qrels")]),
    ]


def measured(words: list[str], environment: dict[str, str]) -> str:
    """Run a command to its end; wall seconds, processor seconds and peak memory of its process."""
    begin = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "annotator", *words],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    said = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"annotator {' '.join(words[:2])} failed:\n{said.decode()}")
    return f"{seconds:>9.2f}{usage.ru_utime + usage.ru_stime:>11.2f}{usage.ru_maxrss / 1024:>7.0f}"


if __name__ == "__main__":
    main()
