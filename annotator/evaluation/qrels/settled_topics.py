"""What judges say of topics as their grades: of whole topics, or of some documents beside what was settled before."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from annotator.evaluation.qrels.graded_topic import GradedTopic, NewGrade
from annotator.evaluation.qrels.settling import Rules, Voice, settle_voices


class PlacedVoice(Voice, Protocol):
    """A voice with the topic and the document that it is of."""

    @property
    def topic_id(self) -> int:
        """The topic."""

    @property
    def document_id(self) -> int:
        """The document."""

    @property
    def judge_id(self) -> int:
        """Who says it."""


@dataclass(frozen=True)
class SettledTopic:
    """The grades of one topic, {document: grade}, its judges, and what is left out because they differ."""

    grades: dict[int, int]
    judges: frozenset[int]
    disputed: frozenset[int]


def settled_topics(said: Sequence[PlacedVoice], rules: Rules, topics: Collection[int]) -> dict[int, SettledTopic]:
    """The settled grades of these topics, of which this is all that is said."""
    settled = settle_voices(said, rules)
    pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in said}
    grades: dict[int, dict[int, int]] = {topic: {} for topic in topics}
    for item, grade in settled.grades.items():
        topic, document = pairs[item]
        grades[topic][document] = grade
    disputed: dict[int, set[int]] = {topic: set() for topic in topics}
    for item in settled.left_out:
        disputed[pairs[item][0]].add(pairs[item][1])
    judges: dict[int, set[int]] = {topic: set() for topic in topics}
    for topic, judge in {(one.topic_id, one.judge_id) for one in said}:
        judges[topic].add(judge)
    return {id_: SettledTopic(grades[id_], frozenset(judges[id_]), frozenset(disputed[id_])) for id_ in topics}


def with_new_grades(
    known: GradedTopic, number: str, settled: SettledTopic, documents: Iterable[int], docnos: Mapping[int, str]
) -> GradedTopic:
    """The topic with what is settled now of these documents, of which others are untouched."""
    changes = [NewGrade(one, docnos[one].encode(), settled.grades.get(one)) for one in documents]
    return known.changed(number, changes, judges=settled.judges, disputed=settled.disputed)
