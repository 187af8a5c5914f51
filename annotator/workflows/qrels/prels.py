"""Qrels of a stratified sample, for xinfAP and infNDCG, and for infAP if the sample is uniform."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError, Sentence
from annotator.evaluation.qrels.consensus import ONE_JUDGE, judge_of, parse_policy
from annotator.evaluation.qrels.qrels_format import UNJUDGED
from annotator.evaluation.qrels.samples import (
    PrelsLine,
    SampledRow,
    SampledStratum,
    format_prels,
    rows_of_other_topics,
    sampled_rows,
)
from annotator.evaluation.qrels.settling import rules_of, settle_items
from annotator.evaluation.runs.rankings import DOCUMENT_BYTES
from annotator.installed import installed_version
from annotator.storage import ACCEPTED, Collection, Pool, QrelsVersion, Stratum, Topic
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.documents.documents import docnos_of
from annotator.storage.people.accounts import find_user
from annotator.storage.pools.pools import sampled_pool
from annotator.storage.qrels.current_grades import opinions
from annotator.storage.qrels.manifest_facts import public_parameters
from annotator.storage.qrels.qrels_versions import grades_of_version

FIVE_COLUMNS = ("topic", "iteration", "docno", "stratum", "grade")
FOUR_COLUMNS = ("topic", "iteration", "docno", "grade")


# Keyed by the manifest count each is about.
WARNINGS = {
    "drawn_without_grade": Sentence(
        "Documents that were drawn and have no grade: %(count)d. They are written as -1, as if they had not been "
        "drawn; estimates are unbiased only if they are missing at random."
    ),
    "graded_without_draw": Sentence(
        "Documents that have a grade and were not drawn: %(count)d. Their grades are left out, because they are not "
        "part of the sample."
    ),
    "topics_without_grade": Sentence("Topics of the sample without a grade, left out: %(count)d."),
    "topics_not_sampled": Sentence(
        "Topics that the sample does not have: %(count)d. All their grades are written, as if every document of their "
        "pools were judged."
    ),
}


@dataclass(frozen=True)
class PrelsExport:
    """Qrels of a sample, their JSON manifest, and warnings."""

    prels: bytes
    manifest: str
    warnings: tuple[Sentence, ...]


@dataclass(frozen=True)
class Sample:
    """The current sample: the version that drew it, and its strata by number and rate, from the top down.

    A stratum has several rates where it was drawn at another rate in another topic.
    """

    version: int
    strata: tuple[tuple[int, float], ...]

    @property
    def is_uniform(self) -> bool:
        """Whether every document had the same inclusion probability: otherwise infAP is biased."""
        return len({rate for _, rate in self.strata}) == 1

    def rate_of(self, number: int) -> float | None:
        """The rate of a stratum, None when topics differ in it."""
        rates = [rate for one, rate in self.strata if one == number]
        return rates[0] if len(rates) == 1 else None


def find_sample(session: Session, slug: str, *, version: int | None = None) -> Sample | None:
    """The sample of a version, or the newest one; None when there is none."""
    pool = sampled_pool(session, find_collection(session, slug).id, version=version)
    return None if pool is None else _sample(session, pool)


def export_prels(
    session: Session,
    slug: str,
    *,
    version: int | None = None,
    policy: str | None = None,
    judge: str | None = None,
    kept: QrelsVersion | None = None,
    made_at: datetime,
) -> PrelsExport:
    """Export the newest sample, or that of a version, in five columns, with -1 for documents not sampled.

    Grades are settled as for qrels, of accepted topics only. Sampled documents without a grade are -1, and so are those
    graded for another reason than the sample; warnings count them. The topics are those a leaderboard scores: topics
    without a grade, whose estimates would be 0, are left out, and unsampled topics have all their grades in one
    stratum. With `kept`, the grades are those of that version of the qrels, and the sample is the newest of that time.
    Raises `NotFoundError` for an unknown sample or judge, `ConflictError` when nothing of it is graded, and
    `InvalidValueError` for an unknown policy.
    """
    return _export(session, slug, version, policy, judge, made_at, with_strata=True, kept=kept)


def export_for_infap(
    session: Session,
    slug: str,
    *,
    version: int | None = None,
    policy: str | None = None,
    judge: str | None = None,
    made_at: datetime,
) -> PrelsExport:
    """Export the sample in the four columns of qrels, from which trec_eval estimates infAP.

    The format has no rates: raises `ConflictError` unless the sample is uniform.
    """
    sample = find_sample(session, slug, version=version)
    if sample is not None and not sample.is_uniform:
        raise ConflictError(
            "The strata of version %(version)d were drawn at different rates, by which infAP is biased: export five "
            "columns and use xinfAP.",
            version=sample.version,
        )
    return _export(session, slug, version, policy, judge, made_at, with_strata=False)


def _export(
    session: Session,
    slug: str,
    version: int | None,
    policy: str | None,
    judge: str | None,
    made_at: datetime,
    *,
    with_strata: bool,
    kept: QrelsVersion | None = None,
) -> PrelsExport:
    collection = find_collection(session, slug)
    pool = sampled_pool(session, collection.id, version=version, up_to=None if kept is None else kept.pool_version)
    if pool is None:
        raise NotFoundError(
            "There is no such sample: only versions that were built by the strategies stratified and sample have one."
        )
    policy = (policy or collection.consensus_policy) if judge is None else ONE_JUDGE + judge
    policy, grades = _grades(session, collection, policy) if kept is None else _kept_grades(session, kept)
    strata = _strata(session, pool)
    sampled = sampled_rows(_graded(strata, grades), grades)
    if all(row.grade == UNJUDGED for row in sampled):
        raise ConflictError("Nothing of the sample has a grade yet, so there is nothing to estimate from.")
    others = rows_of_other_topics({stratum.topic_id for stratum in strata}, grades)
    rows = [*sampled, *others]
    prels = format_prels(_lines(session, collection.id, rows), with_strata=with_strata)
    counts = _counts(sampled, others, strata, grades)
    manifest = {
        **_about(collection, pool, made_at),
        **_about_strata(session, collection.id, strata, _sample(session, pool)),
        "consensus_policy": policy if judge_of(policy) is None else None,
        "consensus": str(parse_policy(policy).sentence),
        "judge": judge_of(policy),
        "leaves_out_disputed": collection.leaves_out_disputed,
        "counts_machines": collection.counts_machines,
        "columns": FIVE_COLUMNS if with_strata else FOUR_COLUMNS,
        "counts": counts,
        "sha256": hashlib.sha256(prels).hexdigest(),
    }
    return PrelsExport(prels, json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", _warnings(counts))


Grades = dict[tuple[int, int], int]  # (topic id, document id) → grade


def _kept_grades(session: Session, kept: QrelsVersion) -> tuple[str, Grades]:
    return kept.policy, grades_of_version(session, kept.id)


def _grades(session: Session, collection: Collection, policy: str) -> tuple[str, Grades]:
    """The policy, and the grades as it settles them."""
    judge = judge_of(policy)
    if judge is not None:
        find_user(session, judge)
    rules = rules_of(collection, policy)
    said = opinions(session, collection.id, machines=rules.counts_machines)
    settled = settle_items(said, rules).grades
    pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in said}
    return policy, {pairs[item]: grade for item, grade in settled.items()}


def _sample(session: Session, pool: Pool) -> Sample:
    rows = session.execute(
        select(Stratum.number, Stratum.rate).where(Stratum.pool_id == pool.id).distinct().order_by(Stratum.number)
    )
    return Sample(pool.version, tuple((number, rate) for number, rate in rows))


def _strata(session: Session, pool: Pool) -> list[SampledStratum]:
    rows = session.scalars(
        select(Stratum)
        .join(Topic, Topic.id == Stratum.topic_id)
        .where(Stratum.pool_id == pool.id, ACCEPTED)
        .order_by(Stratum.topic_id, Stratum.number)
    )
    return [SampledStratum(row.topic_id, row.number, row.drawn, row.documents) for row in rows]


def _graded(strata: list[SampledStratum], grades: Mapping[tuple[int, int], int]) -> list[SampledStratum]:
    """The strata of topics with a grade: estimates of the others would be 0 for want of judgements."""
    topics = {topic for topic, _ in grades}
    return [stratum for stratum in strata if stratum.topic_id in topics]


def _lines(session: Session, collection_id: int, rows: list[SampledRow]) -> list[PrelsLine]:
    numbers = {id_: number for number, id_ in topic_ids(session, collection_id).items()}
    docnos = docnos_of(session, {row.document_id for row in rows})
    return [(numbers[row.topic_id], docnos[row.document_id], row.stratum, row.grade) for row in rows]


def _counts(
    sampled: list[SampledRow],
    others: list[SampledRow],
    strata: list[SampledStratum],
    grades: Mapping[tuple[int, int], int],
) -> dict[str, int]:
    drawn = {(row.topic_id, row.document_id) for row in sampled if row.is_drawn}
    return {
        "lines": len(sampled) + len(others),
        "drawn": len(drawn),
        "drawn_without_grade": len(drawn - grades.keys()),
        "graded_without_draw": len(grades.keys() - drawn) - len(others),
        "topics_without_grade": len({stratum.topic_id for stratum in strata} - {topic for topic, _ in grades}),
        "topics_not_sampled": len({row.topic_id for row in others}),
    }


def _about(collection: Collection, pool: Pool, made_at: datetime) -> dict[str, object]:
    return {
        "collection": collection.slug,
        "title": collection.title,
        "made_at": made_at.isoformat(),
        "annotator": installed_version(),
        "pool_version": pool.version,
        "parameters": public_parameters(pool.parameters),
        "seed": pool.seed,
        "relevant_from": collection.relevant_from,
    }


def _sizes(strata: list[SampledStratum], sample: Sample) -> list[dict[str, object]]:
    """The sizes of the strata and of their samples, over all topics; the rate is theirs where topics differ in it."""
    documents, drawn = Counter[int](), Counter[int]()
    for stratum in strata:
        documents[stratum.number] += len(stratum.documents) // DOCUMENT_BYTES
        drawn[stratum.number] += stratum.drawn
    return [
        {
            "stratum": number,
            "rate": sample.rate_of(number) or drawn[number] / max(documents[number], 1),
            "documents": documents[number],
            "drawn": drawn[number],
        }
        for number in sorted({number for number, _ in sample.strata})
    ]


def _about_strata(
    session: Session, collection_id: int, strata: list[SampledStratum], sample: Sample
) -> dict[str, object]:
    return {
        "strata": _sizes(strata, sample),
        "inclusion_probabilities": _probabilities(session, collection_id, strata),
    }


def _probabilities(session: Session, collection_id: int, strata: list[SampledStratum]) -> dict[str, dict[str, float]]:
    """Topic number → stratum → the probability of each of its documents to be drawn."""
    numbers = {id_: number for number, id_ in topic_ids(session, collection_id).items()}
    found: dict[str, dict[str, float]] = {}
    for stratum in strata:
        documents = len(stratum.documents) // DOCUMENT_BYTES
        if documents:
            found.setdefault(numbers[stratum.topic_id], {})[str(stratum.number)] = stratum.drawn / documents
    return found


def _warnings(counts: Mapping[str, int]) -> tuple[Sentence, ...]:
    return tuple(
        Sentence(warning.template, {"count": counts[name]}) for name, warning in WARNINGS.items() if counts[name]
    )
