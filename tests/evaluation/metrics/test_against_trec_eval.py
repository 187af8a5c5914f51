"""Equal to trec_eval 9.0.8 on whatever Hypothesis thinks of: every measure it has, per topic and over all topics."""

import json
import math
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.evaluation.metrics.evaluating import Evaluation, evaluate
from annotator.evaluation.metrics.inputs import RunsInput
from annotator.evaluation.metrics.trec_eval_names import names_of_trec_eval

ORACLE = Path(__file__).parents[2] / "support" / "trec_eval_9.py"
# All that trec_eval 9 has, but for runid and relstring, which are no numbers; cutoffs also within short lists.
RANKS = "1,2,3,5,7,10,30,1000,3000"
ASKED = [
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"),
    *("map", "gm_map", "Rprec", "bpref", "gm_bpref", "recip_rank", "infAP", "11pt_avg", "utility", "binG", "G"),
    *("ndcg", "ndcg_rel", "Rndcg", "set_P", "set_recall", "set_map", "set_relative_P", "set_F.0.25"),
    *(f"{family}.{RANKS}" for family in ("P", "recall", "map_cut", "ndcg_cut", "relative_P", "success")),
    "iprec_at_recall.0.0,0.1,0.2,0.25,0.3,0.4,0.5,0.6,0.66,0.7,0.8,0.9,1.0",
    "Rprec_mult.0.2,0.4,0.5,0.6,0.8,1.0,1.2,1.4,1.6,1.8,2.0,7.5",
]
NAMED = [name for asked in ASKED for name in names_of_trec_eval(asked) or []]
# pytrec_eval does not repeat set_F's parameter.
LABELS = [name.label.removesuffix("_0.25") if name.family == "set_F" else name.label for name in NAMED]
MEASURES = [name.measure for name in NAMED if name.measure is not None]
# Every measure is equal to the last bit, except where compilers join a multiplication and an addition into one step
# that rounds once, as on ARM; there, to the printed digits.
TO_THE_LAST_BIT = platform.machine() in {"x86_64", "AMD64"}
LEAST = 0.00001  # what a geometric mean takes for 0

Values = dict[str, float]


@dataclass(frozen=True)
class Question:
    """What to score, and how."""

    qrels: Mapping[str, Mapping[str, int]]
    run: Mapping[str, Mapping[str, float]]
    relevant_from: int = 1
    judged_only: bool = False

    def has_judged(self, topic: str) -> bool:
        """Whether the run retrieved anything for the topic that is judged."""
        return any(self.qrels[topic].get(docno, -1) >= 0 for docno in self.run[topic])


class TrecEval9:
    """The process that is asked; when it has crashed, a new one is started for the next question."""

    def __init__(self) -> None:
        """Start the first."""
        self.process = self._start()

    def ask(self, question: Question) -> dict[str, Values] | None:
        """Return its values by topic; None when the question crashed it."""
        words = json.dumps({**asdict(question), "measures": ASKED})
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None:
            raise ValueError("it has no pipes")
        stdin.write(words + "\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            self.end()
            self.process = self._start()
            return None
        answer: dict[str, Values] = json.loads(line)
        return answer

    def end(self) -> None:
        """Let it go."""
        with self.process:
            self.process.kill()

    @staticmethod
    def _start() -> "subprocess.Popen[str]":
        return subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, str(ORACLE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )


@pytest.fixture(scope="module")
def trec_eval() -> Iterator[TrecEval9]:
    """One process for all questions of this file."""
    process = TrecEval9()
    yield process
    process.end()


# In the order of their bytes, which is neither that of people nor of case-insensitive sorting.
DOCNOS = [
    "D2",
    "FR940402-1-00093",
    "FT911-3032",
    "FT911-304",
    "a",
    "aa",
    "d1",
    "d10",
    "d2",
    "e\u0301",
    "\u00e9",
    "\u6587",
]
# Equal as 32-bit floats, though not as doubles; too small or too large for them; the two zeros.
SCORES = [1.0, 1.00000001, 1.00000002, 16777216.0, 16777217.0, 0.1, 0.1 + 1e-9, 1e-46, 0.0, -0.0, 1e39, 1e300, -1e300]
TOPICS = ["1", "10", "2", "q"]

scores = st.one_of(
    st.sampled_from(SCORES),
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(-100, 100, places=2).map(float),
)
# A topic whose grades are all negative can crash pytrec_eval, and a list without documents does.
grades = st.dictionaries(st.sampled_from(DOCNOS), st.integers(-3, 4), min_size=1).filter(
    lambda of_topic: max(of_topic.values()) >= 0
)
lists = st.dictionaries(st.sampled_from(DOCNOS), scores, min_size=1)
questions = st.builds(
    Question,
    qrels=st.dictionaries(st.sampled_from(TOPICS), grades, min_size=1),
    run=st.dictionaries(st.sampled_from(TOPICS), lists),
    relevant_from=st.integers(1, 3),
    judged_only=st.booleans(),
)


@settings(max_examples=examples(200))
@given(questions)
def test_values_given_as_dictionaries_are_trec_evals(trec_eval: TrecEval9, question: Question) -> None:
    theirs = trec_eval.ask(question)
    if theirs is None:
        reject()
    compare(question, evaluate_as_9(question, {"run": question.run}), theirs)


@settings(max_examples=examples(75))
@given(questions.filter(lambda question: question.run))
def test_values_read_from_files_are_trec_evals(trec_eval: TrecEval9, question: Question) -> None:
    theirs = trec_eval.ask(question)
    if theirs is None:
        reject()
    lines = [
        f"{topic} Q0 {docno} 1 {score!r} run\n" for topic, of in question.run.items() for docno, score in of.items()
    ]
    compare(question, evaluate_as_9(question, [("run", "".join(lines).encode())]), theirs)


@pytest.mark.parametrize("relevant_from", [1, 2])
@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("decimals", [1, 3, 9])
def test_values_of_long_lists_are_trec_evals(
    trec_eval: TrecEval9, decimals: int, relevant_from: int, *, judged_only: bool
) -> None:
    """Long enough for sums, and for logarithms beyond rank 1620, to show another last bit when taken otherwise."""
    question = long_lists(decimals, relevant_from, judged_only=judged_only)
    theirs = trec_eval.ask(question)
    assert theirs is not None
    compare(question, evaluate_as_9(question, {"run": question.run}), theirs)


def long_lists(decimals: int, relevant_from: int, *, judged_only: bool) -> Question:
    """Three topics of some 3,000 documents; fewer decimals, more equal scores."""
    chance = np.random.default_rng(decimals)
    qrels, run = {}, {}
    for topic in ("401", "402", "403"):
        docnos = [f"FT{number}-{number % 7}" for number in chance.permutation(6000).tolist()]
        values = np.round(chance.normal(10, 3, 3000), decimals).tolist()
        run[topic] = dict(zip(docnos, values, strict=False))
        judged = chance.permutation(6000)[:2000].tolist()
        levels = chance.choice([-2, -1, 0, 1, 2, 3], 2000, p=[0.05, 0.05, 0.5, 0.2, 0.1, 0.1]).tolist()
        qrels[topic] = {docnos[place]: level for place, level in zip(judged, levels, strict=True)}
    return Question(qrels, run, relevant_from, judged_only)


def evaluate_as_9(question: Question, runs: RunsInput) -> Evaluation:
    """Take all measures of the one run."""
    return evaluate(
        question.qrels,
        runs,
        MEASURES,
        relevant_from=question.relevant_from,
        judged_only=question.judged_only,
        compat="9",
    )


def compare(question: Question, ours: Evaluation, theirs: Mapping[str, Values]) -> None:
    """Hold what trec_eval says of each topic, and what it prints for all of them with -c."""
    stated = {topic: as_defined(question, topic, values) for topic, values in theirs.items()}
    by_topic = ours.scores.by_topic(0)
    for topic, values in stated.items():
        found = {label: logarithmic(label, value) for label, value in zip(LABELS, by_topic[topic], strict=True)}
        assert differences(found, values) == {}
    found = dict(zip(LABELS, ours.scores.means[0].tolist(), strict=True))
    assert differences(found, over_all_topics(question, stated)) == {}


def as_defined(question: Question, topic: str, values: Values) -> Values:
    """Take 0 where -J leaves no document: trec_eval divides by zero there, and prints -nan."""
    undefined = {label for label, value in values.items() if math.isnan(value)}
    if question.judged_only and not question.has_judged(topic):
        assert undefined <= {"11pt_avg", *(label for label in LABELS if label.startswith("iprec_at_recall"))}
        return {label: 0.0 if label in undefined else value for label, value in values.items()}
    assert undefined == set()
    return values


def logarithmic(label: str, value: float) -> float:
    """Give what pytrec_eval does for a topic of a geometric mean: the logarithm that goes into it."""
    return math.log(max(value, LEAST)) if label.startswith("gm_") else value


def over_all_topics(question: Question, values: Mapping[str, Values]) -> Values:
    """Summarise as trec_eval -c: topics without a list count too, and are added in the order of their bytes."""
    by_topic = [values.get(topic) or nothing_retrieved(question, topic) for topic in sorted(question.qrels)]
    totals = {label: reduce(add, (of_topic[label] for of_topic in by_topic)) for label in LABELS}
    return {label: averaged(label, total, len(by_topic)) for label, total in totals.items()}


def nothing_retrieved(question: Question, topic: str) -> Values:
    """Give the values of a topic for which the run has no list."""
    relevant = sum(grade >= question.relevant_from for grade in question.qrels[topic].values())
    return {label: logarithmic(label, 0.0) for label in LABELS} | {"num_q": 1, "num_rel": relevant}


def averaged(label: str, total: float, topics: int) -> float:
    if label.startswith("num_"):
        return total
    return math.exp(total / topics) if label.startswith("gm_") else total / topics


def differences(ours: Values, theirs: Values) -> dict[str, tuple[float, float]]:
    """Name the measures that are not what they must be, with our value and theirs."""
    return {
        label: (value, theirs[label])
        for label, value in ours.items()
        if value != theirs[label] and (TO_THE_LAST_BIT or f"{value:.4f}" != f"{theirs[label]:.4f}")
    }
