"""Inter-assessor agreement: overall, by pair, topic, judge and grade, and over time."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Collection as SizedIterable
from dataclasses import dataclass, replace
from enum import StrEnum

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, aliased

from annotator.errors import NotFoundError, Sentence
from annotator.evaluation.agreement.columns import (
    Upheld,
    code_columns,
    documents_in_common,
    same_grade_of_any_two,
    upheld,
)
from annotator.evaluation.agreement.judge_quality import Lenience, lenience_of_judges
from annotator.evaluation.agreement.kappa import Weighting
from annotator.evaluation.agreement.labels import Labels
from annotator.evaluation.agreement.report import (
    AgreementOfAll,
    AgreementOfJudge,
    AgreementOfPair,
    AgreementOfTopic,
    AgreementOnGrade,
    OverTime,
    Table,
    agreement_of_all,
    agreement_of_judges,
    agreement_of_pairs,
    agreement_of_topics,
    agreement_on_grades,
    interval_of_all,
    running_alpha,
    running_kappa,
    table_of_all,
    table_of_grades,
    table_of_judges,
    table_of_moments,
    table_of_pairs,
    table_of_topics,
)
from annotator.evaluation.agreement.results import Band, Kappa
from annotator.evaluation.agreement.topic_intervals import TopicInterval
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.qrels.topic_judgements import JudgementColumns
from annotator.garbage_collection import garbage_collection_off
from annotator.storage import ACCEPTED, DROPPED, Collection, Document, Judgement, PoolItem, Topic, User, UserKind
from annotator.storage.agreement.adjudication_queue import decided_grades, decisions
from annotator.storage.collections.collection import find_collection, scale_of, topic_ids
from annotator.storage.judging.leases import DECIDING
from annotator.storage.judging.topic_judgements import judges_by_id
from annotator.workflows.judging.topic_judgements import read_judgements

POINTS_OVER_TIME = 60


# The names of two judges in alphabetical order.
Pair = tuple[str, str]
ChoosePairs = Callable[[Mapping[Pair, int]], SizedIterable[Pair]]


class By(StrEnum):
    """The tables of the report."""

    ALL = "all"
    PAIR = "pair"
    TOPIC = "topic"
    JUDGE = "judge"
    GRADE = "grade"
    TIME = "time"


class PairPart(StrEnum):
    """The tables of the comparison of two judges."""

    PAIR = "pair"
    GRADES = "grades"
    TIME = "time"


@dataclass(frozen=True)
class Choice:
    """The request: how kappa weights differing grades, and which topics count (none: all accepted topics)."""

    weighting: Weighting = Weighting.NONE
    topics: tuple[str, ...] = ()


WHOLE = Choice()


@dataclass(frozen=True)
class ScaleGrade:
    """A grade of the scale."""

    value: int
    name: str


@dataclass(frozen=True)
class PairAgreement:
    """Two judges, by name, and their agreement on the documents both graded."""

    figures: AgreementOfPair

    @property
    def first(self) -> str:
        """The judge of the rows."""
        return self.figures.first

    @property
    def second(self) -> str:
        """The judge of the columns."""
        return self.figures.second

    @property
    def kappa(self) -> Kappa:
        """Cohen's kappa, with the figures needed to interpret it."""
        return self.figures.kappa

    @property
    def band(self) -> Sentence | None:
        """The verbal label of the kappa value, None when there is no kappa."""
        return self.figures.band and self.figures.band.sentence

    @property
    def may_be_chance(self) -> bool:
        """Whether the confidence interval of kappa contains 0."""
        return self.figures.band is Band.CHANCE

    @property
    def confusion(self) -> list[list[int]]:
        """The confusion matrix: first judge's grade (row) by second's (column), in the order of the scale."""
        confusion: list[list[int]] = self.figures.kappa.confusion.tolist()
        return confusion


@dataclass(frozen=True)
class JudgeLenience:
    """A judge, and how many more documents they find relevant than the others on the same topics."""

    judge: str
    lenience: Lenience

    @property
    def value(self) -> float:
        """The difference of shares; above 0 this judge is the more lenient."""
        return self.lenience.difference.value


@dataclass(frozen=True)
class AgreementReport:
    """Agreement over a whole collection, or some of its topics; `grades` is the scale in order.

    Only judgements that people made independently are compared: machines, adjudicators' decisions and labels copied
    from a document with the same text are left out.
    """

    judges: tuple[str, ...]
    grades: tuple[ScaleGrade, ...]
    relevant_from: int
    choice: Choice
    topics_dropped: tuple[str, ...]
    all: AgreementOfAll
    interval: TopicInterval  # for the ordinal alpha
    same: Figure
    in_common: Mapping[Pair, int]  # documents in common, for every pair of judges
    pairs: tuple[PairAgreement, ...]  # all, or the chosen ones
    by_topic: tuple[AgreementOfTopic, ...]
    by_judge: tuple[AgreementOfJudge, ...]
    by_grade: tuple[AgreementOnGrade, ...]
    over_time: OverTime  # the ordinal alpha
    upheld: tuple[Upheld, ...]  # judges of documents that an adjudicator decided
    lenience: tuple[JudgeLenience, ...]  # most lenient first, without judges whose topics nobody else graded

    def table(self, by: By) -> Table:
        """One part of the report as a table of plain values."""
        match by:
            case By.ALL:
                return table_of_all(self.all, self.interval)
            case By.PAIR:
                return table_of_pairs([pair.figures for pair in self.pairs])
            case By.TOPIC:
                return table_of_topics(self.by_topic)
            case By.JUDGE:
                return table_of_judges(self.by_judge)
            case By.GRADE:
                return table_of_grades(self.by_grade)
            case By.TIME:
                return table_of_moments(self.over_time.moments)


@dataclass(frozen=True)
class PairReport:
    """The full comparison of two judges."""

    grades: tuple[ScaleGrade, ...]
    relevant_from: int
    choice: Choice
    pair: PairAgreement
    over_time: OverTime  # kappa

    def table(self, part: PairPart) -> Table:
        """One part of the comparison as a table of plain values."""
        match part:
            case PairPart.PAIR:
                return table_of_pairs([self.pair.figures])
            case PairPart.GRADES:
                values = [grade.value for grade in self.grades]
                rows: list[list[str | int | float | None]] = [
                    [first, second, count]
                    for first, of_first in zip(values, self.pair.confusion, strict=True)
                    for second, count in zip(values, of_first, strict=True)
                ]
                return Table(("first_grade", "second_grade", "documents"), rows)
            case PairPart.TIME:
                return Table(("documents", "kappa"), [[one.items, one.value] for one in self.over_time.moments])


def agreement_report(
    session: Session,
    slug: str,
    choice: Choice = WHOLE,
    *,
    choose_pairs: ChoosePairs | None = None,
) -> AgreementReport:
    """Measure agreement on all accepted topics, or on some; *cannot judge* is not a grade.

    Dropped topics do not count: the report says how far the grades in the qrels can be trusted, and topics with hardly
    anything or nearly everything relevant, the usual ones to drop, lower kappa by prevalence alone. `choose_pairs` gets
    all pairs with their number of documents in common and returns those to measure. Raises `NotFoundError` for a topic
    that does not count.
    """
    collection = find_collection(session, slug)
    scale = _scale(session, collection)
    counting = _topics(session, collection, choice.topics)
    given = _judgements(session, collection, choice, counting)
    people = _people(session)
    labels = code_columns(given, people, counting, _values(scale))
    decided = decided_grades(decisions(session, collection.id))
    relevant = _first_relevant(scale, collection)
    in_common = documents_in_common(labels)
    chosen = None if choose_pairs is None else choose_pairs(in_common)
    # Of all pairs of judges there are thousands of objects.
    with garbage_collection_off():
        pairs = tuple(map(PairAgreement, agreement_of_pairs(labels, relevant, choice.weighting, only=chosen)))
    return AgreementReport(
        judges=labels.judges,
        grades=scale,
        relevant_from=collection.relevant_from,
        choice=choice,
        topics_dropped=tuple(sorted(topic_ids(session, collection.id, DROPPED), key=natural_order)),
        all=agreement_of_all(labels, relevant, choice.weighting),
        interval=interval_of_all(labels),
        same=same_grade_of_any_two(labels),
        in_common=in_common,
        pairs=pairs,
        by_topic=tuple(sorted(agreement_of_topics(labels), key=lambda one: natural_order(one.topic))),
        by_judge=tuple(agreement_of_judges(labels, choice.weighting)),
        by_grade=tuple(agreement_on_grades(labels)),
        over_time=running_alpha(labels, points=POINTS_OVER_TIME),
        upheld=tuple(upheld(given, people, counting, decided)),
        lenience=_lenience(labels, relevant),
    )


def pair_report(
    session: Session,
    slug: str,
    first: str,
    second: str,
    *,
    choice: Choice = WHOLE,
) -> PairReport:
    """Compare two judges by name, in alphabetical order.

    Raises `NotFoundError` for a topic that does not count, and unless the names are those of two people.
    """
    collection = find_collection(session, slug)
    scale = _scale(session, collection)
    counting = _topics(session, collection, choice.topics)
    one, other = sorted((first, second))
    two = {id_: name for id_, name in _people(session).items() if name in (one, other)}
    if len(two) != 2:  # noqa: PLR2004 - two judges
        raise NotFoundError("There are no two judges “%(first)s” and “%(second)s”.", first=first, second=second)
    labels = code_columns(_judgements(session, collection, choice, counting), two, counting, _values(scale))
    if labels.judges != (one, other):  # one of them has graded nothing in these topics: no documents in common
        labels = replace(labels, judges=(one, other))
    [figures] = agreement_of_pairs(labels, _first_relevant(scale, collection), choice.weighting)
    return PairReport(
        grades=scale,
        relevant_from=collection.relevant_from,
        choice=choice,
        pair=PairAgreement(figures),
        over_time=running_kappa(labels, one, other, choice.weighting, POINTS_OVER_TIME),
    )


def _scale(session: Session, collection: Collection) -> tuple[ScaleGrade, ...]:
    return tuple(ScaleGrade(grade.value, grade.name) for grade in scale_of(session, collection.id))


def _first_relevant(scale: Sequence[ScaleGrade], collection: Collection) -> int:
    """The index in the scale of the lowest grade that counts as relevant."""
    return sum(grade.value < collection.relevant_from for grade in scale)


def _topics(session: Session, collection: Collection, chosen: Sequence[str]) -> dict[int, str]:
    """Topic id → number, of the topics that count, or of the chosen ones among them."""
    counting = topic_ids(session, collection.id, ACCEPTED)
    for number in chosen:
        if number not in counting:
            raise NotFoundError("There is no accepted topic “%(number)s” in this collection.", number=number)
    return {id_: number for number, id_ in counting.items() if not chosen or number in chosen}


def _lenience(labels: Labels, first_relevant: int) -> tuple[JudgeLenience, ...]:
    found = lenience_of_judges(labels.judge, labels.topic, labels.grade >= first_relevant, len(labels.judges))
    named = (JudgeLenience(name, one) for name, one in zip(labels.judges, found, strict=True) if one is not None)
    return tuple(sorted(named, key=lambda one: (-one.value, one.judge)))


def _judgements(
    session: Session, collection: Collection, choice: Choice, topics: Mapping[int, str]
) -> JudgementColumns:
    return read_judgements(session, collection.id, topics if choice.topics else None, docnos=False, seconds=False)


def _people(session: Session) -> dict[int, str]:
    """Account id → name, without machines."""
    return {id_: judge.name for id_, judge in judges_by_id(session).items() if not judge.is_machine}


def _values(scale: Sequence[ScaleGrade]) -> tuple[int, ...]:
    return tuple(grade.value for grade in scale)


ONE, OTHER = aliased(Judgement), aliased(Judgement)


@dataclass(frozen=True)
class GradedTwice:
    """A document and the grades by the first and the second judge."""

    topic: str
    topic_title: str
    docno: str
    title: str
    first: int
    second: int


@dataclass(frozen=True)
class DocumentsOfTwo:
    """One page of documents that both judges graded, `count` in all; `names` maps grades to their names."""

    count: int
    documents: tuple[GradedTwice, ...]
    names: dict[int, str]


def documents_of_two(
    session: Session,
    slug: str,
    judges: tuple[str, str],
    grades: tuple[int | None, int | None] = (None, None),
    *,
    topics: Sequence[str] = (),
    skip: int = 0,
    most: int | None,
) -> DocumentsOfTwo:
    """Documents both judges graded, in accepted topics or `topics`, optionally only with these two grades.

    At most `most` of them, None for all.
    Counts the same judgements as the agreement report. Raises `NotFoundError` for an unknown topic and unless the names
    are those of two people.
    """
    collection = find_collection(session, slug)
    first, second = _ids_of_two(session, judges)
    counting = topic_ids(session, collection.id, ACCEPTED)
    for number in topics:
        if number not in counting:
            raise NotFoundError("There is no accepted topic “%(number)s” in this collection.", number=number)
    chosen = [id_ for number, id_ in counting.items() if not topics or number in topics]
    statement = _both(first, second, grades).where(PoolItem.topic_id.in_(chosen))
    count = session.scalar(select(func.count()).select_from(statement.subquery())) or 0
    rows = session.execute(statement.order_by(Topic.id, Document.docno).offset(skip).limit(most)).all()
    return DocumentsOfTwo(
        count,
        tuple(
            GradedTwice(number, topic_title, docno, title, first_grade, second_grade)
            for number, topic_title, docno, title, first_grade, second_grade in rows
            if first_grade is not None and second_grade is not None
        ),
        {grade.value: grade.name for grade in scale_of(session, collection.id)},
    )


def _ids_of_two(session: Session, judges: tuple[str, str]) -> list[int]:
    people = select(User.name, User.id).where(User.name.in_(judges), User.kind == UserKind.PERSON)
    ids = {name: id_ for name, id_ in session.execute(people)}
    if len(ids) != 2:  # noqa: PLR2004 - two judges
        raise NotFoundError("There are no two judges “%(first)s” and “%(second)s”.", first=judges[0], second=judges[1])
    return [ids[name] for name in judges]


def _both(
    first: int, second: int, grades: tuple[int | None, int | None]
) -> Select[str, str, str, str, int | None, int | None]:
    statement = (
        select(Topic.number, Topic.title, Document.docno, Document.title, ONE.grade, OTHER.grade)
        .select_from(ONE)
        .join(OTHER, OTHER.pool_item_id == ONE.pool_item_id)
        .join(PoolItem, PoolItem.id == ONE.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(ONE.judge_id == first, OTHER.judge_id == second)
    )
    for judgement, grade in zip((ONE, OTHER), grades, strict=True):
        own = judgement.carried_from_id.is_(None) & judgement.assignment_id.not_in(DECIDING)
        statement = statement.where(judgement.current, own)
        statement = statement.where(judgement.grade.is_not(None) if grade is None else judgement.grade == grade)
    return statement
