"""The leaderboard: every run scored against the settled grades of this moment, or against a qrels file."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError, Problems
from annotator.evaluation.consensus import ONE_JUDGE, judge_of
from annotator.evaluation.metrics.measures import Better, Measure
from annotator.evaluation.metrics.names import DEFAULT_MEASURES as DEFAULT_MEASURES
from annotator.evaluation.metrics.names import parse_measures
from annotator.evaluation.metrics.names import split_names as split_names
from annotator.evaluation.metrics.scoring import Number, score_runs
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.qrels_format import format_qrels, parse_qrels
from annotator.evaluation.rankings import decode_documents
from annotator.evaluation.settling import Rules, settle_voices
from annotator.evaluation.topic_dropping import DroppingEffect as DroppingEffect
from annotator.evaluation.topic_dropping import effect_of_dropping
from annotator.evaluation.unpacking import unpack_into
from annotator.files import InputFile
from annotator.spreadsheets import csv_text
from annotator.storage import ACCEPTED, DROPPED, IN_FORCE, Collection, Document, RankedList, Run, Team
from annotator.storage.accounts import find_user
from annotator.storage.collection import find_collection, scale_of, topic_ids
from annotator.storage.documents import docnos_of, document_ids
from annotator.storage.opinions import opinions

FINGERPRINT_DIGITS = 12

# Topic id → {document id: grade}.
Qrels = Mapping[int, Mapping[int, int]]
# Topic number, docno, grade.
QrelsLine = tuple[str, str, int]


@dataclass(frozen=True)
class LeaderboardRow:
    """One run: its values in the order of the measures, over all topics and for each topic."""

    tag: str
    team: str | None
    values: tuple[Number, ...]
    by_topic: Mapping[str, tuple[Number, ...]]


@dataclass(frozen=True)
class Leaderboard:
    """Every run scored, best first by the first measure or else by name, and what it was scored against."""

    measures: tuple[str, ...]
    better: Better  # which values of the first measure are; with `NEITHER` the runs stand by name
    rows: tuple[LeaderboardRow, ...]
    topics: tuple[str, ...]  # scored: those with a grade
    topics_left_out: int  # no grade yet
    topics_dropped: tuple[str, ...]
    grades: int
    source: str  # “live”, a judge's name or a file's
    policy: str | None
    relevant_from: int
    fingerprint: str  # the first digits of the SHA-256 of these grades as a qrels file, as its manifest has it
    disputed_left_out: int = 0  # documents whose judges differ, where the collection leaves them out


def build_leaderboard(
    session: Session,
    slug: str,
    measures: Sequence[str] = DEFAULT_MEASURES,
    *,
    policy: str | None = None,
    judge: str | None = None,
    qrels_file: InputFile | None = None,
    unpacked_limit: int = 0,
) -> Leaderboard:
    """Score every run in force over the accepted topics that have a grade; without a list a run has an empty one.

    The grades are the settled ones of this moment, one judge's, or those of a TREC qrels file. Raises
    `InvalidValueError` for an unknown measure, `ConflictError` while there is no grade or no run, `FileRefusedError`
    for a bad file.
    """
    collection = find_collection(session, slug)
    parsed = parse_measures(measures)
    policy = policy or collection.consensus_policy if judge is None else ONE_JUDGE + judge
    if qrels_file is not None:
        qrels, lines = _grades_of_file(session, collection.id, qrels_file, unpacked_limit)
        left_out = 0
    else:
        qrels, lines, left_out = _settled_grades(session, collection, policy)
    grades = sum(grade >= 0 for _, _, grade in lines)
    if not grades:
        raise ConflictError("Nothing is judged yet, so there is nothing to score against.")
    topics = topic_ids(session, collection.id, ACCEPTED)
    rows = _score(session, collection, parsed, qrels, topics)
    return Leaderboard(
        measures=tuple(map(str, parsed)),
        better=parsed[0].definition.better,
        rows=_in_order(rows, parsed[0].definition.better),
        topics=tuple(sorted((number for number in topics if topics[number] in qrels), key=natural_order)),
        topics_left_out=len(topics) - len(qrels),
        topics_dropped=tuple(sorted(topic_ids(session, collection.id, DROPPED), key=natural_order)),
        grades=grades,
        source=qrels_file.name if qrels_file else judge or "live",
        policy=None if qrels_file or judge else policy,
        relevant_from=collection.relevant_from,
        fingerprint=hashlib.sha256(format_qrels(lines)).hexdigest()[:FINGERPRINT_DIGITS],
        disputed_left_out=left_out,
    )


def _in_order(rows: Sequence[LeaderboardRow], better: Better) -> tuple[LeaderboardRow, ...]:
    """Best first by the first value, runs of equal value by name; all by name when no value is better."""
    sign = {Better.MORE: -1, Better.LESS: 1, Better.NEITHER: 0}[better]
    return tuple(sorted(rows, key=lambda row: (sign * row.values[0], natural_order(row.tag))))


def effect_on_leaderboard(board: Leaderboard, topics: Sequence[str]) -> DroppingEffect:
    """Say what its first measure would come to without these topics, run by run in the order of the leaderboard.

    Raises `NotFoundError` for a topic that is not on it, and `ConflictError` when none would be left.
    """
    for number in topics:
        if number not in board.topics:
            raise NotFoundError(
                "Topic “%(number)s” is not on the leaderboard: nothing of it is judged, or it does not count.",
                number=number,
            )
    values = {row.tag: {topic: of_topic[0] for topic, of_topic in row.by_topic.items()} for row in board.rows}
    return effect_of_dropping(parse_measures(board.measures)[0], values, topics)


def measure_help(names: Sequence[str] = DEFAULT_MEASURES) -> dict[str, str]:
    """What each measure says of itself, by its canonical name."""
    return {str(measure): measure.help for measure in parse_measures(names)}


def leaderboard_csv(board: Leaderboard) -> str:
    """Comma-separated, a line a run in full precision; every line names the grades it was scored against."""
    headings = ["run", "team", *board.measures, "qrels", "policy", "grades", "topics", "fingerprint"]
    against = (board.source, board.policy, board.grades, len(board.topics), board.fingerprint)
    return csv_text([headings, *([row.tag, row.team, *row.values, *against] for row in board.rows)])


def _settled_grades(session: Session, collection: Collection, policy: str) -> tuple[Qrels, list[QrelsLine], int]:
    """The grades, the same by name, and how many documents in dispute are left out."""
    judge = judge_of(policy)
    if judge is not None:
        find_user(session, judge)
    said = opinions(session, collection.id, machines=collection.counts_machines or judge is not None)
    rules = Rules(policy, collection.relevant_from, collection.leaves_out_disputed and judge is None)
    settled = settle_voices(said, rules)
    pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in said}
    numbers = {id_: number for number, id_ in topic_ids(session, collection.id).items()}
    docnos = docnos_of(session, {document_id for _, document_id in pairs.values()})
    qrels: dict[int, dict[int, int]] = {}
    lines = []
    for item, grade in settled.grades.items():
        topic_id, document_id = pairs[item]
        qrels.setdefault(topic_id, {})[document_id] = grade
        lines.append((numbers[topic_id], docnos[document_id], grade))
    return qrels, lines, len(settled.left_out)


def _grades_of_file(
    session: Session, collection_id: int, file: InputFile, unpacked_limit: int
) -> tuple[Qrels, list[QrelsLine]]:
    """Read a qrels file; a document that the collection does not know still counts, under a number no document has.

    Lines of topics that are drafts or were dropped since it was written are left out.
    """
    topics = topic_ids(session, collection_id)
    problems = Problems()
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    parsed = parse_qrels(file.name, text, problems, topics=topics) if text is not None else None
    problems.refuse_if_any()
    accepted = topic_ids(session, collection_id, ACCEPTED)
    rows = [row for row in (parsed.rows if parsed is not None else ()) if row.topic in accepted]
    documents = document_ids(session, collection_id, {row.docno for row in rows})
    unknown = (session.scalar(select(func.max(Document.id))) or 0) + 1
    qrels: dict[int, dict[int, int]] = {}
    for offset, row in enumerate(rows):
        qrels.setdefault(topics[row.topic], {})[documents.get(row.docno, unknown + offset)] = row.grade
    return qrels, [(row.topic, row.docno, row.grade) for row in rows]


def _score(
    session: Session,
    collection: Collection,
    measures: Sequence[Measure],
    qrels: Qrels,
    topics: Mapping[str, int],
) -> list[LeaderboardRow]:
    runs = session.execute(
        select(Run.id, Run.tag, Team.name)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection.id, IN_FORCE)
        .order_by(Run.id)
    ).all()
    if not runs:
        raise ConflictError("There is no run to score yet.")
    lists = session.execute(
        select(RankedList.run_id, RankedList.topic_id, RankedList.documents)
        .where(RankedList.run_id.in_([run.id for run in runs]), RankedList.topic_id.in_(qrels))
        .order_by(RankedList.run_id)
    )
    rankings = {
        run_id: {topic_id: decode_documents(packed) for _, topic_id, packed in group}
        for run_id, group in groupby(lists, key=itemgetter(0))
    }
    numbers = {id_: number for number, id_ in topics.items() if id_ in qrels}
    best_grade = scale_of(session, collection.id)[-1].value
    in_order = [rankings.get(run.id, {}) for run in runs]
    scores = score_runs(in_order, qrels, numbers, measures, collection.relevant_from, best_grade)
    return [
        LeaderboardRow(run.tag, run.name, scores.over_topics(index), scores.by_topic(index))
        for index, run in enumerate(runs)
    ]
