"""Export of qrels: settled grades and manifest, verified against the database before delivery."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import true
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, Problems, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.qrels.consensus import (
    ADJUDICATED_ELSE,
    ONE_JUDGE,
    asks_for_owner,
    judge_of,
    parse_policy,
)
from annotator.evaluation.qrels.qrels_format import UNJUDGED, format_qrels, parse_qrels
from annotator.evaluation.qrels.settling import Rules, Settlement, rules_of, settle_by_name, settle_items
from annotator.installed import installed_version
from annotator.storage import Collection, User
from annotator.storage.collections.collection import find_collection, scale_of, topic_ids
from annotator.storage.documents.documents import docnos_of
from annotator.storage.people.accounts import find_user
from annotator.storage.qrels.current_grades import OpinionRow, opinions, pooled_items, refused_items
from annotator.storage.qrels.manifest_facts import (
    dropped_facts,
    judge_names,
    judging_facts,
    machine_facts,
    note_facts,
    pool_facts,
)
from annotator.storage.qrels.qrels_versions import named_opinions, named_unjudged

# Manifest fields that a manifest of an earlier time cannot give.
NOT_AS_OF = {
    "of_now": (
        "title",
        "scale",
        "relevant_from",
        "consensus_policy",
        "leaves_out_disputed",
        "counts_machines",
        "machines",
        "dropped_topics",
        "topic_notes",
        "judging",
    ),
    "note": "Which topics count and who owns them, which documents have the same text, and what this manifest says "
    "under the names in “of_now” is as it is now. Judgements that no other one replaced, but that have ceased to count "
    "since, are missing: a document that could not be judged for want of a text has got one, a document whose grade "
    "was taken over from another with the same text has got another, or a document was put back to be judged anew.",
}


@dataclass(frozen=True)
class QrelsExport:
    """TREC qrels, their JSON manifest, and warnings.

    `grades` are the rows as topic id, document id and grade, unordered.
    """

    qrels: bytes
    manifest: str
    grades: tuple[tuple[int, int, int], ...] = ()
    warnings: tuple[Sentence, ...] = ()


@dataclass(frozen=True)
class QrelsOutline:
    """The manifest of an export without the checksum, and warnings."""

    manifest: Mapping[str, Any]
    warnings: tuple[Sentence, ...]


class ExportMismatchError(AnnotatorError):
    """The exported file differs from the database; it is not delivered."""


def export_qrels(
    session: Session,
    slug: str,
    *,
    policy: str | None = None,
    judge: str | None = None,
    at: datetime | None = None,
    with_unjudged: bool = False,
    made_at: datetime,
) -> QrelsExport:
    """Export settled TREC qrels by the collection's consensus policy, another policy, or one judge's grades.

    `at` settles the judgements made by then, by the current settings; judgements invalidated since without a
    replacement are missing. `with_unjudged` writes -1 for pooled documents without a judgement (or without that
    judge's). Only accepted topics are included; the manifest names the dropped ones. Documents that could not be judged
    have no line, nor have disputed ones where the collection leaves them out.

    The bytes depend on the judgements only. They are read back and compared with the database by topic number and
    docno; a difference raises `ExportMismatchError`. Raises `NotFoundError` for an unknown judge and
    `InvalidValueError` for an unknown policy.
    """
    state = _state(session, slug, policy, judge, at)
    grades = _grades(state, with_unjudged=with_unjudged)
    qrels = format_qrels(_named(state, grades))
    _compare_with_database(state, qrels, with_unjudged=with_unjudged)
    manifest = {
        **_about(state, made_at, with_unjudged=with_unjudged),
        "sha256": hashlib.sha256(qrels).hexdigest(),
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    return QrelsExport(qrels, text, tuple(grades), tuple(_warnings(state)))


def outline_qrels(
    session: Session, slug: str, *, policy: str | None = None, judge: str | None = None, made_at: datetime
) -> QrelsOutline:
    """The manifest and warnings of an export, without creating it; raises as `export_qrels`."""
    state = _state(session, slug, policy, judge, None)
    return QrelsOutline(_about(state, made_at, with_unjudged=False), tuple(_warnings(state)))


def grading_judges(session: Session, slug: str) -> list[str]:
    """The names of those who have graded a document of an accepted topic, sorted."""
    return judge_names(session, find_collection(session, slug).id)


@dataclass(frozen=True)
class _State:
    """The judgements of a collection, now or at a time, and the policy that settles them."""

    session: Session
    collection: Collection
    policy: str
    at: datetime | None

    @property
    def judge(self) -> str | None:
        """The only judge whose grades are exported, if any."""
        return judge_of(self.policy)

    @cached_property
    def rules(self) -> Rules:
        return rules_of(self.collection, self.policy)

    @property
    def machines(self) -> bool:
        """Whether labels of machines count."""
        return self.rules.counts_machines

    @cached_property
    def opinions(self) -> list[OpinionRow]:
        rows = opinions(self.session, self.collection.id, machines=self.machines, at=self.at)
        judge = self.judge
        return rows if judge is None else [one for one in rows if one.judge == judge]

    @cached_property
    def settled(self) -> Settlement:
        return settle_items(self.opinions, self.rules)

    @cached_property
    def pairs(self) -> dict[int, tuple[int, int]]:
        """Graded item → topic id and document id."""
        return {one.pool_item_id: (one.topic_id, one.document_id) for one in self.opinions}

    @cached_property
    def graded(self) -> set[int]:
        return {one.pool_item_id for one in self.opinions}

    @cached_property
    def pool(self) -> dict[int, tuple[int, int]]:
        """Pool item → topic id and document id."""
        return pooled_items(self.session, self.collection.id, self.at)

    @cached_property
    def refused(self) -> set[int]:
        """Items that somebody could not judge and nobody has graded."""
        id_ = self.collection.id
        refused = refused_items(self.session, id_, machines=self.machines, judge=self.judge, at=self.at)
        return refused - self.graded

    @cached_property
    def unjudged(self) -> set[int]:
        return self.pool.keys() - self.graded - self.refused


def _state(session: Session, slug: str, policy: str | None, judge: str | None, at: datetime | None) -> _State:
    collection = find_collection(session, slug)
    own = collection.consensus_policy if policy is None else policy
    state = _State(session, collection, own if judge is None else ONE_JUDGE + judge, at)
    if state.judge is not None:
        find_user(session, state.judge)
    return state


def _grades(state: _State, *, with_unjudged: bool) -> list[tuple[int, int, int]]:
    """Topic id, document id and settled grade of every judged item, and -1 for unjudged ones if requested."""
    grades = [(*state.pairs[item], grade) for item, grade in state.settled.grades.items()]
    if with_unjudged:
        grades += [(*state.pool[item], UNJUDGED) for item in state.unjudged]
    return grades


def _named(state: _State, grades: Sequence[tuple[int, int, int]]) -> Iterator[tuple[str, str, int]]:
    """The grades by topic number and docno."""
    numbers = {id_: number for number, id_ in topic_ids(state.session, state.collection.id).items()}
    docnos = docnos_of(state.session, {document for _, document, _ in grades})
    return ((numbers[topic], docnos[document], grade) for topic, document, grade in grades)


def _compare_with_database(state: _State, qrels: bytes, *, with_unjudged: bool) -> None:
    """Read the file back and compare it with grades settled by name, from separate queries."""
    problems = Problems()
    parsed = parse_qrels("qrels", qrels, problems) if qrels else None
    written = {(row.topic, row.docno): row.grade for row in (parsed.rows if parsed else ())}
    session, id_ = state.session, state.collection.id
    judge = state.judge
    said = named_opinions(session, id_, machines=state.machines, at=state.at)
    expected = settle_by_name([one for one in said if judge is None or one.judge == judge], state.rules)
    if with_unjudged:
        unjudged = named_unjudged(session, id_, machines=state.machines, judge=judge, at=state.at)
        expected |= dict.fromkeys(unjudged, UNJUDGED)
    if problems.total or written != expected:
        differing = len(dict(written.items() ^ expected.items())) + problems.total
        raise ExportMismatchError(
            "The qrels as written differ from the database in %(count)d pairs; the export is refused.", count=differing
        )


def _about(state: _State, made_at: datetime, *, with_unjudged: bool) -> dict[str, object]:
    session, collection = state.session, state.collection
    of_judge = User.name == state.judge if state.judge is not None else true()
    dropped = dropped_facts(session, collection.id)
    notes = note_facts(session, collection.id, of_judge)
    return {
        "collection": collection.slug,
        "title": collection.title,
        "made_at": made_at.isoformat(),
        "as_of": None if state.at is None else state.at.isoformat(),
        **({} if state.at is None else {"not_as_of": NOT_AS_OF}),
        "annotator": installed_version(),
        "pool_versions": pool_facts(session, collection.id, state.at),
        "scale": [
            {"value": grade.value, "name": grade.name, "description": grade.description}
            for grade in scale_of(session, collection.id)
        ],
        "relevant_from": collection.relevant_from,
        "consensus_policy": None if state.judge is not None else state.policy,
        "consensus": str(parse_policy(state.policy).sentence),
        "judge": state.judge,
        "leaves_out_disputed": collection.leaves_out_disputed,
        "counts_machines": collection.counts_machines,
        "machines": machine_facts(session, {one.judge for one in state.opinions if one.is_machine}),
        "dropped_topics": sorted(dropped, key=lambda topic: natural_order(topic["number"])),
        "topic_notes": sorted(notes, key=lambda note: (natural_order(note["topic"]), note["judge"])),
        "judging": judging_facts(session, collection),
        "unjudged": str(UNJUDGED) if with_unjudged else "omit",
        "counts": _counts(state, with_unjudged=with_unjudged),
    }


def _counts(state: _State, *, with_unjudged: bool) -> dict[str, object]:
    """The manifest's counts of the pool and the judgements of accepted topics."""
    settled = state.settled
    by_grade = sorted(Counter(settled.grades.values()).items())
    return {
        "pool_items": len(state.pool),
        "qrels_lines": len(settled.grades) + (len(state.unjudged) if with_unjudged else 0),
        "lines_by_grade": {str(grade): count for grade, count in by_grade},
        "topics": len({state.pairs[item][0] for item in settled.grades}),
        "judges": len({one.judge for one in state.opinions}),
        "judgements": len(state.opinions),
        "unjudged": len(state.unjudged),
        "could_not_be_judged": len(state.refused),
        "in_dispute": len(settled.disputed),
        "disputed_left_out": len(settled.left_out),
        "decided_by_adjudicators": len(settled.decided),
        "not_heard": len(settled.uncounted),
    }


def _warnings(state: _State) -> Iterator[Sentence]:
    if state.judge is None and state.settled.decided and not state.policy.startswith(ADJUDICATED_ELSE):
        yield Sentence(
            "An adjudicator has judged %(count)d documents, but by this policy their grades count like those of other "
            "judges: choose a policy “adjudicated, else …” so that they decide.",
            {"count": len(state.settled.decided)},
        )
    if state.settled.uncounted:
        yield Sentence(
            "Documents judged only by judges whom the policy does not count: %(count)d. They have no line.",
            {"count": len(state.settled.uncounted)},
        )
        if asks_for_owner(state.policy):
            yield Sentence("A policy “owner, else majority” gives them the grade that most judges gave.")
