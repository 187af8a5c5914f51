"""Scores run files with pytrec_eval in a separate process: prints the means, and writes every value with --values.

python benchmarks/pytrec_eval_process.py [--values FILE] QRELS RUN...
"""

import argparse
import json
from pathlib import Path

import pytrec_eval

from benchmarks.measure_set import KEYS, MEASURES, Values


def main() -> None:
    """Read the qrels once, then run after run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=Path)
    parser.add_argument("qrels", type=Path)
    parser.add_argument("runs", nargs="+", type=Path)
    given = parser.parse_args()
    with given.qrels.open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES))
    values: Values = {}
    for path in given.runs:
        with path.open() as file:
            scored = evaluator.evaluate(pytrec_eval.parse_run(file))
        means = [pytrec_eval.compute_aggregated_measure(key, [of[key] for of in scored.values()]) for key in KEYS]
        print(path.name, *(f"{mean:.4f}" for mean in means))
        if given.values:
            values[path.name] = {topic: tuple(of[key] for key in KEYS) for topic, of in scored.items()}
    if given.values:
        given.values.write_text(json.dumps(values))


if __name__ == "__main__":
    main()
