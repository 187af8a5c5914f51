"""A collection with two tasks that share a topic, and collections that have only what belongs to one of them."""

from collections.abc import Callable, Collection

import numpy as np
from beginning import beginning
from build import LIMIT, NOW, SLUG, build, document_file, labels, news, run, topic_file
from sqlalchemy.orm import Session
from tasks import task

from annotator.files import InputFile
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.judging import judgement_import
from annotator.workflows.runs.runs import withdraw_run

TOPICS = {"long": ("1", "2", "3"), "short": ("3", "4")}
NUMBERS = ("1", "2", "3", "4")
DOCNOS = [f"d{number:02}" for number in range(20)]
# Team of each run; a run begins with the key of its task, but for the one that has none.
TEAMS = {
    "long-0": "red",
    "long-1": "blue",
    "long-2": None,
    "short-0": "red",
    "short-1": "green",
    "short-2": None,
    "stray": "blue",
}
ALONE = "alone"
MACHINE = "llm"


def runs_of(key: str) -> list[str]:
    """The tags of the runs of a task."""
    return [tag for tag in TEAMS if tag.startswith(key)]


@beginning
def add_two_tasks(session: Session) -> None:
    """Task `long` has topics 1 to 3, `short` 3 and 4, each with three runs; a run from before has every topic."""
    fill(session, SLUG, NUMBERS, TEAMS)
    for key, topics in TOPICS.items():
        task(session, key, topics, runs=runs_of(key))


def add_alone(
    session: Session, key: str, *, others: bool = False, prepare: Callable[[Session, str], object] | None = None
) -> None:
    """A collection with the topics and the runs of a task alone.

    With `others`, the pool was built while other runs with these topics were there, which were withdrawn since.
    """
    fill(session, ALONE, TOPICS[key], TEAMS if others else runs_of(key), prepare)
    for tag in [*TEAMS] if others else []:
        if tag not in runs_of(key) and lists_of(tag).keys() & set(TOPICS[key]):
            withdraw_run(session, ALONE, tag, at=NOW)


def lists_of(tag: str) -> dict[str, list[str]]:
    """Twelve documents for each topic of a run's task, or of all for the run without one; always the same."""
    chance = np.random.default_rng(list(TEAMS).index(tag))
    orders = {number: chance.permutation(DOCNOS)[:12].tolist() for number in NUMBERS}
    return {number: orders[number] for number in TOPICS.get(tag.split("-", maxsplit=1)[0], NUMBERS)}


def fill(
    session: Session,
    slug: str,
    topics: Collection[str],
    tags: Collection[str],
    prepare: Callable[[Session, str], object] | None = None,
) -> None:
    """A pooled and judged collection with these topics and these runs, without their lists for other topics."""
    news(session, slug)
    topic_file(session, "".join(f"{number}\ttopic\n" for number in topics), slug=slug)
    document_file(session, DOCNOS, slug=slug)
    for tag in tags:
        lists = {number: docnos for number, docnos in lists_of(tag).items() if number in topics}
        if lists:
            run(session, tag, lists, slug=slug, team=TEAMS[tag])
    build(session, PoolRequest("depth", {"depth": 4}), seed=1, slug=slug)
    chance = np.random.default_rng(8)
    grades = {(number, docno): int(chance.integers(3)) for number in NUMBERS for docno in DOCNOS}
    judged = [pair for pair in grades if pair[0] in topics and int(pair[1][1:]) % 5]
    made = "".join(f"{number} 0 {docno} {grades[number, docno]}\n" for number, docno in judged)
    labels(session, "jo", made, add_to_pool=True, slug=slug)
    if prepare is not None:
        prepare(session, slug)


def machine_labels(session: Session, slug: str = SLUG, topics: Collection[str] = NUMBERS) -> None:
    """A machine's grades of the documents in the pool of every topic; it errs on one in four."""
    made = "".join(
        f"{number} 0 {docno} {(int(docno[1:]) + int(number) * (int(docno[1:]) % 4 == 0)) % 3}\n"
        for number in topics
        for docno in DOCNOS
    )
    file = InputFile("machine.txt", made.encode())
    checked = judgement_import.check_judgements(session, slug, file, add_to_pool=True, unpacked_limit=LIMIT)
    facts = MachineFacts("model", "", None)
    judgement_import.store_judgements(session, slug, checked, judge=MACHINE, machine=facts, added_at=NOW)


def second_grades(topics: Collection[str]) -> str:
    """Qrels lines of a second judge, who differs from the first."""
    return "".join(f"{number} 0 {docno} {int(docno[1:]) % 3}\n" for number in topics for docno in DOCNOS)
