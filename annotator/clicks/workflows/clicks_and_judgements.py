"""Comparison of clicks with judgements by variant, pair and query, and pooling of clicked documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from annotator.clicks.evaluation.judgements.log_evidence import AskedQuery, LogEvidence, VariantEffect, by_topic
from annotator.clicks.evaluation.judgements.together import QueryBeside, judged_difference, most_apart, verdict
from annotator.clicks.evaluation.judgements.together_report import (
    HEADINGS,
    ClicksOfPair,
    PairBeside,
    QueryApart,
    SeenDocument,
    Standing,
    VariantBeside,
)
from annotator.clicks.evaluation.judgements.together_report import TogetherReport as TogetherReport
from annotator.clicks.evaluation.judgements.together_report import TogetherTable as TogetherTable
from annotator.clicks.evaluation.logs.log_findings import findings_from_json
from annotator.clicks.storage.click_logs import click_logs_of, find_click_log, runs_of_variants, titles_of_topics
from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.graded_runs import Cell, GradedRuns, Pair, QrelsState, state_of
from annotator.evaluation.leaderboard.leaderboard_notices import sample_notices
from annotator.evaluation.leaderboard.rescoring import Scoring
from annotator.evaluation.metrics.measures import Better, Measure
from annotator.evaluation.metrics.names import USUAL_MEASURE, parse_measure
from annotator.evaluation.pooling.ordering import judging_order
from annotator.evaluation.qrels.samples import samples_of
from annotator.evaluation.qrels.settling import rules_of
from annotator.evaluation.runs.rankings import decode_documents
from annotator.storage import ACCEPTED, Collection, Contribution
from annotator.storage.collections.collection import (
    accepted_topics,
    find_collection,
    lock_open_collection,
    scale_of,
    topic_ids,
)
from annotator.storage.documents.documents import docnos_of, document_ids
from annotator.storage.pools.pool_items import add_pool_items
from annotator.storage.pools.pools import drawn_sample, latest_pool, next_pool, next_seed, pool_item_ids, strata_of
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.storage.runs.runs import lists_of_runs
from annotator.storage.tables.pools import Besides
from annotator.workflows.judging.topic_judgements import settled_grades

# A report as returned by `as_json`.
Report = Mapping[str, Any]

TOP = 10  # documents of each run listed for a query


@dataclass(frozen=True)
class TogetherRequest:
    """The request: the measure, and the log of the queries; None is the newest log with queries."""

    measure: str = USUAL_MEASURE
    log: str | None = None


USUAL_REQUEST = TogetherRequest()


@dataclass(frozen=True, eq=False)
class _Judged:
    """The active runs, scored by the live judgements; empty while nothing is judged."""

    measure: str
    state: QrelsState
    grades: Mapping[Pair, int]
    topics: tuple[str, ...]  # numbers of the topics with a grade
    lists: Mapping[str, Mapping[int, bytes]]  # by tag and topic id, packed
    values: Mapping[str, Sequence[float]]  # by tag, one value a topic
    means: Mapping[str, float]

    def of(self, tag: str, topic: str) -> float:
        """Return a run's value for a topic."""
        return self.values[tag][self.topics.index(topic)]


@dataclass(frozen=True)
class _Log:
    """A log with the active runs that its variants are linked to."""

    name: str
    tags: Mapping[str, str]  # by variant
    evidence: LogEvidence

    def runs_of(self, told: VariantEffect) -> tuple[str, str] | None:
        """Return the runs of two variants, None unless both are linked."""
        first, second = (self.tags.get(variant) for variant in told.variants)
        return None if first is None or second is None or first == second else (first, second)

    @property
    def runs_of_queries(self) -> tuple[str, str] | None:
        """Return the runs whose queries the log has; None without any."""
        told = self.evidence.effects
        return self.runs_of(told[0]) if told and self.evidence.queries else None


def together_report(session: Session, slug: str, request: TogetherRequest = USUAL_REQUEST) -> TogetherReport:
    """Compare clicks with the live judgements, for all runs that are linked to variants of logs.

    Raises `InvalidValueError` for an unknown measure or one where higher is not better, `NotFoundError` for an
    unknown log, and `ConflictError` while there is no log.
    """
    collection = find_collection(session, slug)
    measure = _measure(request.measure)
    measure = measure.on_scale(scale_of(session, collection.id)[-1].value)
    judged = _judged(session, collection, measure)
    logs = _logs(session, collection.id, judged)
    if request.log is not None and request.log not in {log.name for log in logs}:
        raise NotFoundError("There is no click log “%(name)s” in this collection.", name=request.log)
    telling = [log for log in logs if log.runs_of_queries is not None]
    asked = next((log for log in telling if request.log in {None, log.name}), None)
    return TogetherReport(
        measure=judged.measure,
        state=judged.state,
        notices=sample_notices(drawn_sample(session, collection.id), [measure]),
        variants=tuple(chain.from_iterable(_variants(log, judged) for log in logs)),
        pairs=tuple(_pairs(logs, judged)),
        logs=tuple(log.name for log in telling),
        asked=asked.name if asked else None,
        what=asked.evidence.effects[0].what if asked else None,
        runs=asked.runs_of_queries if asked else None,
        queries=_queries(session, collection, asked, judged) if asked else (),
    )


def _measure(name: str) -> Measure:
    measure = parse_measure(name)
    if measure.definition.better is not Better.MORE:
        raise InvalidValueError("A higher %(measure)s is not better, so clicks are not compared with it.", measure=name)
    return measure


def _judged(session: Session, collection: Collection, measure: Measure) -> _Judged:
    rules = rules_of(collection)
    grades = settled_grades(session, collection)
    state = state_of(LIVE, rules.policy, grades)
    of_runs = lists_of_runs(session, collection.id, {topic for topic, _ in grades})
    lists = {run.tag: run.lists for run in of_runs}
    if not grades:
        return _Judged(str(measure), state, grades, (), lists, dict.fromkeys(lists, ()), {})
    numbers = accepted_topics(session, collection.id)
    sample = drawn_sample(session, collection.id) if measure.definition.estimates else None
    samples = [samples_of(strata_of(session, sample, numbers))]
    graded = GradedRuns.join([run.lists for run in of_runs], [grades], numbers, samples)
    best_grade = scale_of(session, collection.id)[-1].value
    scored = graded.runs.score(graded.grades[0], Scoring(measure, collection.relevant_from, best_grade))
    topics = tuple(graded.runs.topics[place] for place in scored.topics.tolist())
    means = measure.over_topics(scored.values).tolist() if lists else []
    values = dict(zip(lists, scored.values.tolist(), strict=True))
    return _Judged(str(measure), state, grades, topics, lists, values, dict(zip(lists, means, strict=True)))


def _logs(session: Session, collection_id: int, judged: _Judged) -> list[_Log]:
    """Return the logs, newest first; a variant of a withdrawn run is unlinked."""
    found = click_logs_of(session, collection_id)
    if not found:
        raise ConflictError("There is no click log in this collection yet.")
    linked = runs_of_variants(session, [log.id for log in found])
    return [
        _Log(
            log.name,
            {variant: tag for variant, tag in linked[log.id].items() if tag in judged.values},
            findings_from_json(log.findings).evidence,
        )
        for log in found
    ]


def _variants(log: _Log, judged: _Judged) -> Iterator[VariantBeside]:
    for variant, views in log.evidence.views.items():
        clicked_first, delta = log.evidence.of_variant(variant)
        tag = log.tags.get(variant)
        yield VariantBeside(log.name, variant, tag, judged.means.get(tag or ""), views, clicked_first, delta)


def _pairs(logs: Sequence[_Log], judged: _Judged) -> Iterator[PairBeside]:
    """Yield every two runs with a difference in some log, ordered by name."""
    clicks: dict[tuple[str, str], list[ClicksOfPair]] = {}
    for log in logs:
        for told in log.evidence.effects:
            runs = log.runs_of(told)
            if runs is not None:
                first, second = sorted(runs, key=natural_order)
                difference = told.difference if runs == (first, second) else told.difference.turned
                clicks.setdefault((first, second), []).append(ClicksOfPair(log.name, told.what, difference))
    for first, second in sorted(clicks, key=lambda pair: [natural_order(tag) for tag in pair]):
        offline = judged_difference(judged.values[first], judged.values[second])
        of_pair = tuple(clicks[first, second])
        yield PairBeside(first, second, offline, of_pair, verdict(offline, (one.difference for one in of_pair)))


def _queries(session: Session, collection: Collection, log: _Log, judged: _Judged) -> tuple[QueryApart, ...]:
    """Return the judged topics that users searched for on which clicks and judgements differ most."""
    titles = titles_of_topics(session, collection.id)
    asked = {number: one for number, one in by_topic(log.evidence.queries, titles).items() if number in judged.topics}
    first, second = log.runs_of_queries or ("", "")
    beside = [
        QueryBeside(number, one.views, one.shares, (judged.of(first, number), judged.of(second, number)))
        for number, one in asked.items()
    ]
    chosen = most_apart(beside)
    documents = _Documents(session, collection.id, judged, (first, second))
    return tuple(QueryApart(one, titles[one.topic], documents.of(asked[one.topic])) for one in chosen)


class _Documents:
    """The documents of queries: the most clicked ones, and the top of both runs."""

    def __init__(self, session: Session, collection_id: int, judged: _Judged, runs: tuple[str, str]) -> None:
        self._session = session
        self._collection_id = collection_id
        self._judged = judged
        self._runs = runs
        self._topics = topic_ids(session, collection_id)
        self._pooled = pool_item_ids(session, collection_id)

    def of(self, query: AskedQuery) -> tuple[SeenDocument, ...]:
        topic = self._topics[query.query]
        tops = [decode_documents(self._judged.lists[tag].get(topic, b""))[:TOP].tolist() for tag in self._runs]
        docnos = docnos_of(self._session, set(chain.from_iterable(tops)))
        clicked = dict(query.most_clicked())
        ids = document_ids(self._session, self._collection_id, {*clicked, *docnos.values()})
        found = [
            self._seen((topic, ids.get(docno)), docno, clicked.get(docno, 0), tops)
            for docno in sorted({*clicked, *ids})
        ]
        return tuple(sorted(found, key=lambda one: (-one.clicks, *(rank or TOP + 1 for rank in one.ranks), one.docno)))

    def _seen(
        self, place: tuple[int, int | None], docno: str, clicks: int, tops: Sequence[Sequence[int]]
    ) -> SeenDocument:
        topic, id_ = place
        if id_ is None:
            return SeenDocument(docno, clicks, (None, None), Standing.UNKNOWN)
        ranks, pair = (_rank(tops[0], id_), _rank(tops[1], id_)), (topic, id_)
        if pair in self._judged.grades:
            return SeenDocument(docno, clicks, ranks, Standing.JUDGED, self._judged.grades[pair])
        return SeenDocument(docno, clicks, ranks, Standing.POOLED if pair in self._pooled else Standing.NOT_POOLED)


def _rank(top: Sequence[int], document: int) -> int | None:
    """Return the rank, from 1, of a document at the top of a run, None if absent."""
    return top.index(document) + 1 if document in top else None


def report_json(report: TogetherReport) -> dict[str, Any]:
    """Serialise the report to a JSON object; each table is a list with an object a row."""
    return {
        "measure": report.measure,
        "qrels": asdict(report.state),
        "notices": list(map(str, report.notices)),
        "log": report.asked,
        **{part.value: _objects(report, part) for part in TogetherTable},
    }


def report_table(report: Report, part: TogetherTable) -> tuple[tuple[str, ...], list[list[Cell]]]:
    """Headings and rows of a part, in full precision."""
    headings = HEADINGS[part]
    return headings, [[row[heading] for heading in headings] for row in report[part.value]]


def report_file(report: Report, part: TogetherTable) -> tuple[list[str], list[list[Cell]]]:
    """Headings and rows of a part with the measure and the state of the qrels in every row."""
    return QrelsState(**report["qrels"]).beside(*report_table(report, part), report["measure"])


def not_pooled(report: Report) -> list[tuple[str, str]]:
    """Return topic and docno of the documents of the report's queries that are not in the pool."""
    rows = report[TogetherTable.DOCUMENTS.value]
    return [(row["topic"], row["docno"]) for row in rows if row["standing"] == Standing.NOT_POOLED]


def _objects(report: TogetherReport, part: TogetherTable) -> list[dict[str, Cell]]:
    headings, rows = report.table(part)
    return [dict(zip(headings, row, strict=True)) for row in rows]


# (topic number, docno)
Clicked = tuple[str, str]


@dataclass(frozen=True)
class ClickedPool:
    """The result of pooling clicked documents; `version` is the current one, new if anything was added.

    `unknown` are documents in no run of the collection and without text.
    """

    version: int
    added: int
    already_pooled: int
    unknown: int


def pool_clicked(
    session: Session, slug: str, *, log: str, clicked: Sequence[Clicked], built_by_id: int | None, built_at: datetime
) -> ClickedPool:
    """Add documents that users clicked to the pool, and record for each new one the log it is from.

    Judges see them among the others in random order, without their origin. Raises `NotFoundError` for
    an unknown log and a topic that is not accepted, `ConflictError` when the collection is closed.
    """
    collection = lock_open_collection(session, slug)
    name = find_click_log(session, collection.id, log).name
    topics = topic_ids(session, collection.id, ACCEPTED)
    documents = document_ids(session, collection.id, {docno for _, docno in clicked})
    for number, _ in clicked:
        if number not in topics:
            raise NotFoundError("There is no topic “%(number)s” in this collection.", number=number)
    known = {(topics[number], documents[docno]) for number, docno in clicked if docno in documents}
    pooled = pool_item_ids(session, collection.id)
    new = sorted(known - pooled.keys())
    if new:
        parameters = {"file": name, "topics": len({topic for topic, _ in new})}
        pool = next_pool(
            session,
            collection.id,
            strategy=Besides.CLICKS,
            parameters=parameters,
            seed=next_seed(session, collection.id),
            built_by_id=built_by_id,
            built_at=built_at,
        )
        wanted = collection.judgements_wanted
        items = add_pool_items(session, pool, new, judgements_wanted=wanted, order=judging_order)
        rows = [{"pool_item_id": items[pair], "pool_id": pool.id, "imported_from": name} for pair in new]
        session.execute(insert(Contribution), rows)
    latest = latest_pool(session, collection.id)
    unknown = len(set(clicked)) - len(known)
    return ClickedPool(latest.version if latest else 0, len(new), len(known) - len(new), unknown)
