"""What the demonstration has besides runs and people's labels, all of it made up: costs, clicks, a machine's labels."""

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from annotator.storage.agreement.machines import MachineFacts

SEED = 7
LOG_NAME = "A/B test"
VARIANTS = ("bm25-porter", "tfidf-cosine")
USERS = 60  # of each variant
SHOWN = 5  # documents on a page of results
MACHINE = "word-counter"
MACHINE_FACTS = MachineFacts(model="counts query words", prompt="title and first paragraph")
GREATEST = 2  # grade
MISTAKES = 0.25  # share of documents that the machine grades one too high or too low
# Key, detail and value of each cost, by run: systems that read more answer more slowly.
COSTS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    tag: (
        ("latency_p50", "", f"{latency} ms"),
        ("indexing_time", "", f"{indexing} s"),
        ("index_size", "", f"{size} MB"),
    )
    for tag, latency, indexing, size in (
        ("bm25-plain", 3, 4, 9),
        ("bm25-porter", 4, 6, 8),
        ("bm25-names", 5, 6, 10),
        ("bm25-description", 9, 6, 10),
        ("tfidf-cosine", 14, 8, 21),
        ("trigram-summary", 22, 11, 34),
    )
}


def click_log(lists: Mapping[str, Mapping[str, Sequence[str]]], relevant: set[tuple[str, str]], at: datetime) -> str:
    """A log of users who see the list of one variant and click what is relevant more often.

    `lists` has documents by variant and topic; `relevant` has topics with documents.
    """
    chance = random.Random(SEED)  # noqa: S311 - no secret
    lines = ["time,user,session,query,variant,page,position,docno,event,value"]
    topics = sorted(set.intersection(*(set(of_variant) for of_variant in lists.values())))
    for variant, number in ((variant, number) for variant in lists for number in range(USERS)):
        begun = at - timedelta(days=number % 14, minutes=number)
        topic = topics[number % len(topics)]
        who = f"{variant}-{number}"
        page = list(enumerate(lists[variant][topic][:SHOWN], start=1))
        times = (
            f"{(begun + timedelta(seconds=second)).isoformat()},{who},{who},{topic},{variant},1" for second in range(99)
        )
        lines += [f"{next(times)},{place},{docno},impression," for place, docno in page]
        for place, docno in page:
            if chance.random() < (0.6 if (topic, docno) in relevant else 0.15) / place**0.5:
                lines.append(f"{next(times)},{place},{docno},click,")
    return "\n".join(lines) + "\n"


def machine_labels(labels: Sequence[tuple[str, str, int]]) -> str:
    """Labels as qrels by a machine that mostly agrees with these ones, of topic, document and grade."""
    chance = random.Random(SEED)  # noqa: S311 - no secret
    lines = []
    for topic, docno, grade in labels:
        wrong = chance.random() < MISTAKES
        given = max(0, min(GREATEST, grade + chance.choice((-1, 1)))) if wrong else grade
        lines.append(f"{topic} 0 {docno} {given}\n")
    return "".join(lines)
