"""How well and how fast continuous active learning orders documents, on collections that you name.

    python -m benchmarks.active_learning FOLDER [clef] [screening] [pooled] [corpus] [--seeds N] [--passages N]

FOLDER has `clef-tar17` (CLEF eHealth 2017, task 2: `topics.tsv`, `qrels-abstract.txt.gz`, `texts/TOPIC.gz`) and
`screening` (`nudging.csv.gz`, `ace.csv.gz`). Each part runs in a process of its own, for its memory.

`clef`: all documents of each topic with texts are ordered, beginning with the topic's title, in batches that grow by a
tenth. `screening`: as in published trials (Ferdinands et al., Systematic Reviews 12, 2023) each of fifteen begins with
one relevant and one other document, drawn at random, without a topic. Both are left out of the measure. There the
classifier was trained after each document; here batches grow to 20, which changes the mean by less than the trials
differ and takes a tenth of the time. Titles count twice, as in the texts of CLEF. `pooled` and `corpus`: what one
round costs, to train on 1,000 judged documents and to score all, of 10,000 abstracts and of a million made passages.
"""

import argparse
import csv
import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from annotator import evaluate
from annotator.evaluation.pooling.active_learning import learning_batches, order_by_learning, relevance_scores
from annotator.evaluation.pooling.text_features import TextFeatures, count_terms, weighted
from benchmarks.costs import Cost, cost_of_call

PARTS = ("clef", "screening", "pooled", "corpus")
LEAST_AREA, MOST_LAST = 0.915, 380
LEAST_SAVED = {"nudging": 0.72, "ace": 0.81}
TRIALS, LARGEST = 15, 20
POOLED, JUDGED, ROUNDS = 10_000, 1_000, 7
MOST_POOLED, MOST_CORPUS, MOST_MEGABYTES = 0.1, 2.0, 1000
LENGTH = 56  # words of a passage, as in MS MARCO
LONGEST_FIELD = 10**9


def main() -> None:
    """Run the parts that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--passages", type=int, default=1_000_000)
    given = parser.parse_args()
    if len(given.parts) != 1:
        options = ["--seeds", str(given.seeds), "--passages", str(given.passages)]
        for part in given.parts or PARTS:
            command = [sys.executable, "-m", "benchmarks.active_learning", str(given.folder), part, *options]
            subprocess.run(command, check=True)  # noqa: S603 - our own command
        return
    [part] = given.parts
    if part == "clef":
        measure_clef(given.folder / "clef-tar17", given.seeds)
    elif part == "screening":
        for name, least in LEAST_SAVED.items():
            measure_screening(given.folder / "screening" / f"{name}.csv.gz", name, least)
    elif part == "pooled":
        texts = chain.from_iterable(topic.texts for topic in clef_topics(given.folder / "clef-tar17"))
        measure_speed("pooled", islice(texts, POOLED), MOST_POOLED)
    else:
        texts = chain.from_iterable(topic.texts for topic in clef_topics(given.folder / "clef-tar17"))
        measure_speed("corpus", passages(list(texts), given.passages), MOST_CORPUS)


class Topic:
    """A topic of CLEF with texts: its title, and of each judged document docno, text and whether it is relevant."""

    def __init__(self, folder: Path, number: str, title: str) -> None:
        """Read texts and judgements; a document without a text has an empty one."""
        with gzip.open(folder / "qrels-abstract.txt.gz", "rt") as file:
            rows = [line.split() for line in file]
        self.number, self.title = number, title
        self.grades = {docno: int(grade) for topic, _, docno, grade in rows if topic == number}
        with gzip.open(folder / "texts" / f"{number}.gz", "rt") as file:
            found = {one["id"]: f"{one['title']} {one['content']}" for one in map(json.loads, file)}
        self.texts = [found.get(docno, "") for docno in self.grades]


def clef_topics(folder: Path) -> Iterator[Topic]:
    """Read the topics with texts."""
    for line in (folder / "topics.tsv").read_text(encoding="utf-8").splitlines():
        number, title = line.split("\t")
        yield Topic(folder, number, title)


def measure_clef(folder: Path, seeds: int) -> None:
    """Print area and last relevant rank of each topic, the mean of all seeds, and of all topics."""
    areas, last = [], []
    for topic in clef_topics(folder):
        features = weighted(count_terms(topic.texts))
        docnos = list(topic.grades)
        is_relevant = np.array(list(topic.grades.values())) > 0
        orders = {
            str(seed): order_by_learning(features, topic.title, is_relevant, seed=seed, topic=topic.number)
            for seed in range(1, seeds + 1)
        }
        values = [screened([docnos[row] for row in order.tolist()], topic.grades) for order in orders.values()]
        # Rounded in each topic, as CLEF's script does.
        areas.append(mean(round(value["norm_area"], 3) for value in values))
        last.append(mean(value["last_rel"] for value in values))
        print(f"{topic.number}  norm_area {areas[-1]:.3f}  last_rel {last[-1]:6.1f}", flush=True)
    area, rank = mean(areas), mean(last)
    print(f"clef      mean norm_area {area:.4f} ({verdict(reached=area >= LEAST_AREA)})")
    print(f"clef      mean last_rel  {rank:.1f} ({verdict(reached=rank <= MOST_LAST)})")


def screened(order: list[str], grades: dict[str, int]) -> dict[str, float]:
    """The measures of an order of all documents of a topic."""
    found = evaluate({"1": grades}, {"order": {"1": {docno: -rank for rank, docno in enumerate(order)}}}, "tar")
    return {name: float(str(found.value("order", name))) for name in found.columns[1:]}


def measure_screening(path: Path, name: str, least: float) -> None:
    """Print the work saved at 95 % recall, the mean of the trials."""
    csv.field_size_limit(LONGEST_FIELD)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    features = weighted(count_terms(f"{row['title']} {row['title']} {row['abstract']}" for row in rows))
    is_relevant = np.array([row["label_included"] == "1" for row in rows])
    saved = [work_saved(features, is_relevant, seed) for seed in range(1, TRIALS + 1)]
    print(
        f"{name:8}  WSS@95 mean of {TRIALS} trials {mean(saved):.4f} ({verdict(reached=mean(saved) >= least)}), "
        f"from {min(saved):.3f} to {max(saved):.3f}",
        flush=True,
    )


def work_saved(features: TextFeatures, is_relevant: NDArray[np.bool_], seed: int) -> float:
    """Work saved at 95 % recall in one trial."""
    random = np.random.default_rng(seed)
    before = [int(random.choice(np.flatnonzero(is_relevant == kind))) for kind in (True, False)]
    grades = {str(row): int(one) for row, one in enumerate(is_relevant.tolist()) if row not in before}
    order: list[int] = []
    left = sum(grades.values())
    for batch in learning_batches(features, "", is_relevant, seed=seed, judged_before=before, largest=LARGEST):
        order += batch.rows.tolist()
        left -= int(is_relevant[batch.rows].sum())
        if not left:  # the order of the others changes nothing
            break
    order += sorted({int(row) for row in grades} - set(order))
    return screened([str(row) for row in order], grades)["WSS@0.95"]


def passages(texts: list[str], count: int) -> Iterator[str]:
    """Passages of words of these texts, a few of them with a number, so that there are rare terms as well."""
    random = np.random.default_rng(1)
    words = [text.split() for text in texts if text]
    for number in range(count):
        one = words[int(random.integers(len(words)))]
        begin = int(random.integers(max(len(one) - LENGTH, 1)))
        chosen = one[begin : begin + LENGTH]
        yield " ".join([*chosen[:-1], f"{chosen[-1]}{number % 100_000}"])


def measure_speed(name: str, texts: Iterator[str], most_seconds: float) -> None:
    """Print what counting, weighting and a round cost, and the memory of this process."""
    made: list[TextFeatures] = []

    def prepare() -> None:
        made.append(weighted(count_terms(texts)))

    prepared = cost_of_call(prepare)
    features = made[0]
    random = np.random.default_rng(1)
    shuffled = random.permutation(len(features))
    relevant, other, candidates = np.split(shuffled, [JUDGED // 4, JUDGED])

    def work() -> None:
        relevance_scores(features, "macular oedema", relevant, other, candidates, seed=1, topic="1", round_=1)

    first = cost_of_call(work)
    cost = Cost.middle([cost_of_call(work) for _ in range(ROUNDS)])
    print(f"{name:8}  {len(features):,} texts, {features.counts.columns.size:,} terms in them")
    print(f"{name:8}  count and weigh {prepared.processor:.1f} s, first round {first.processor:.2f} s of the processor")
    print(
        f"{name:8}  train on {JUDGED:,} and rank: {cost.wall * 1000:.0f} ms, processor {cost.processor * 1000:.0f} ms "
        f"({verdict(reached=cost.processor < most_seconds)})"
    )
    megabytes = peak_memory()
    print(f"{name:8}  peak memory {megabytes:.0f} MB ({verdict(reached=megabytes < MOST_MEGABYTES)})", flush=True)


def peak_memory() -> float:
    """The most memory that this process has had, in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def verdict(*, reached: bool) -> str:
    """Whether the requirement was met, in words."""
    return "reached" if reached else "MISSED"


if __name__ == "__main__":
    main()
