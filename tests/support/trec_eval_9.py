"""Scores runs with trec_eval 9.0.8 through pytrec_eval: one JSON request per input line, one response per output line.

It runs in a process of its own: there are qrels that crash pytrec_eval, and the interpreter with it.
"""

import json
import sys

import pytrec_eval

Answer = dict[str, dict[str, float]]  # by topic that both run and qrels have, then by measure as trec_eval names it


def answer(
    qrels: dict[str, dict[str, int]],
    run: dict[str, dict[str, float]],
    measures: list[str],
    relevant_from: int,
    *,
    judged_only: bool,
) -> Answer:
    """Score one run."""
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, measures, relevance_level=relevant_from, judged_docs_only_flag=judged_only
    )
    values: Answer = evaluator.evaluate(run)
    return values


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(**json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
