"""Scores run files with annotator in a separate process: prints the means, and writes every value with --values.

python benchmarks/annotator_process.py [--workers N] [--values FILE] QRELS RUN...
"""

import argparse
import json
from pathlib import Path

from annotator.evaluation.metrics.evaluating import evaluate
from benchmarks.measure_set import MEASURES


def main() -> None:
    """Score like trec_eval 9, as pytrec_eval does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--values", type=Path)
    parser.add_argument("qrels", type=Path)
    parser.add_argument("runs", nargs="+", type=Path)
    given = parser.parse_args()
    evaluation = evaluate(given.qrels, given.runs, MEASURES, compat="9", workers=given.workers)
    for path, means in zip(given.runs, evaluation.scores.means.tolist(), strict=True):
        print(path.name, *(f"{mean:.4f}" for mean in means))
    if given.values:
        by_topic = {path.name: evaluation.scores.by_topic(run) for run, path in enumerate(given.runs)}
        given.values.write_text(json.dumps(by_topic))


if __name__ == "__main__":
    main()
