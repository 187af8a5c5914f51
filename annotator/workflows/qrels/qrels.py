"""Export of qrels: settled grades and manifest, verified against the database before delivery."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from io import BytesIO
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import select, true
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, Problems, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.qrels.consensus import (
    ADJUDICATED_ELSE,
    ONE_JUDGE,
    asks_for_owner,
    decided_items,
    disputed_items,
    judge_of,
    parse_policy,
)
from annotator.evaluation.qrels.qrels_format import UNJUDGED, format_qrels, parse_qrels
from annotator.evaluation.qrels.settled_topics import (
    CurrentOpinions,
    columns_of_grades,
    current_opinions,
    differing_lines,
    line_columns,
    settled_qrels,
)
from annotator.evaluation.qrels.settled_topics import refused_items as refused_among
from annotator.evaluation.qrels.settling import Rules, SettledItems, rules_of, settle_by_name
from annotator.evaluation.qrels.topic_judgements import Ids, JudgementColumns
from annotator.installed import installed_version
from annotator.storage import ACCEPTED, Collection, Topic, User
from annotator.storage.collections.collection import find_collection, scale_of, topic_ids
from annotator.storage.documents.documents import docnos_of
from annotator.storage.judging.topic_counts import topic_counts
from annotator.storage.judging.topic_judgements import Judge, judges_by_id
from annotator.storage.people.accounts import find_user
from annotator.storage.qrels.current_grades import opinions, pooled_items, refused_items
from annotator.storage.qrels.manifest_facts import (
    dropped_facts,
    judging_facts,
    machine_facts,
    note_facts,
    pool_facts,
)
from annotator.storage.qrels.qrels_versions import named_opinions, named_unjudged
from annotator.workflows.judging.topic_judgements import read_judgements

# A part of the file that is compared with the judgements: a million of them by name would take a gigabyte.
LINES_AT_ONCE = 10_000
TOPICS_AT_ONCE = 500

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
    """TREC qrels, their JSON manifest, and warnings."""

    qrels: bytes
    manifest: str
    warnings: tuple[Sentence, ...]
    # Topic ids, document ids and grades of the lines, unordered.
    columns: tuple[Ids, ...] = field(repr=False, compare=False)
    # The version that has its grades already, and that nobody finds yet.
    unfinished_id: int | None = field(default=None, compare=False)

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self.columns[0])

    @property
    def grades(self) -> tuple[tuple[int, int, int], ...]:
        """The lines as topic id, document id and grade."""
        topics, documents, grades = (column.tolist() for column in self.columns)
        return tuple(zip(topics, documents, grades, strict=True))


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
    to_keep: bool = False,
    made_at: datetime,
) -> QrelsExport:
    """Export settled TREC qrels by the collection's consensus policy, another policy, or one judge's grades.

    `at` settles the judgements made by then, by the current settings; judgements invalidated since without a
    replacement are missing. `with_unjudged` writes -1 for pooled documents without a judgement (or without that
    judge's). Only accepted topics are included; the manifest names the dropped ones. Documents that could not be judged
    have no line, nor have disputed ones where the collection leaves them out.

    The bytes depend on the judgements only. They are read back and compared with the settled grades by topic number and
    docno; and with `at`, `with_unjudged` or `to_keep` with the judgements themselves, read by name. A difference raises
    `ExportMismatchError`. Raises `NotFoundError` for an unknown judge and `InvalidValueError` for an unknown policy.
    """
    state = _state(session, slug, policy, judge, at)
    if with_unjudged:
        qrels = format_qrels(_named(state, _columns(state, with_unjudged=True)))
    else:
        qrels = settled_qrels(state.current, state.settled, state.numbers)
        _refuse_difference(differing_lines(qrels, state.current, state.settled, state.numbers))
    if to_keep or with_unjudged or at is not None:
        _compare_with_judgements(state, qrels, with_unjudged=with_unjudged)
    manifest = {
        **_about(state, made_at, with_unjudged=with_unjudged),
        "sha256": hashlib.sha256(qrels).hexdigest(),
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    columns = _columns(state, with_unjudged=with_unjudged)
    return QrelsExport(qrels, text, tuple(_warnings(state)), columns)


def outline_qrels(
    session: Session, slug: str, *, policy: str | None = None, judge: str | None = None, made_at: datetime
) -> QrelsOutline:
    """The manifest and warnings of an export, without creating it; raises as `export_qrels`."""
    state = _state(session, slug, policy, judge, None)
    return QrelsOutline(_about(state, made_at, with_unjudged=False), tuple(_warnings(state)))


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
    def judges(self) -> dict[int, Judge]:
        return judges_by_id(self.session)

    @cached_property
    def numbers(self) -> dict[int, str]:
        """Accepted topic id → number, by id."""
        numbers = topic_ids(self.session, self.collection.id, ACCEPTED)
        return {id_: number for number, id_ in sorted(numbers.items(), key=itemgetter(1))}

    @cached_property
    def judgements(self) -> JudgementColumns:
        """All that count, of the one judge if there is one; at an earlier time those with a grade."""
        if self.at is None:
            judgements = read_judgements(self.session, self.collection.id, seconds=False)
        else:
            rows = opinions(self.session, self.collection.id, machines=self.machines, at=self.at)
            judgements = columns_of_grades(rows, docnos_of(self.session, {one.document_id for one in rows}))
        if self.judge is None:
            return judgements
        return judgements.where(judgements.by([id_ for id_, one in self.judges.items() if one.name == self.judge]))

    @cached_property
    def current(self) -> CurrentOpinions:
        rows = self.session.execute(select(Topic.id, Topic.owner_id).where(Topic.collection_id == self.collection.id))
        owners = {id_: owner for id_, owner in rows}
        return current_opinions(self.judgements, self.judges, owners, machines=self.machines)

    @cached_property
    def judge_ids(self) -> list[int]:
        """The ids of the judges with grades."""
        return self.current.judgements.judges()

    @cached_property
    def settled(self) -> SettledItems:
        return self.current.settle(self.rules)

    @cached_property
    def pool(self) -> dict[int, tuple[int, int]]:
        """Pool item → topic id and document id."""
        return pooled_items(self.session, self.collection.id, self.at)

    @cached_property
    def pool_size(self) -> int:
        if self.at is not None:
            return len(self.pool)
        return sum(one.items for one in topic_counts(self.session, self.collection.id).values())

    @cached_property
    def refused(self) -> frozenset[int]:
        """Items that somebody could not judge and nobody has graded."""
        if self.at is None:
            return refused_among(self.judgements, self.judges, machines=self.machines)
        id_ = self.collection.id
        refused = refused_items(self.session, id_, machines=self.machines, judge=self.judge, at=self.at)
        return frozenset(refused.difference(self.settled.item.tolist()))

    @property
    def unjudged(self) -> int:
        return self.pool_size - self.settled.item.size - len(self.refused)


def _state(session: Session, slug: str, policy: str | None, judge: str | None, at: datetime | None) -> _State:
    collection = find_collection(session, slug)
    own = collection.consensus_policy if policy is None else policy
    state = _State(session, collection, own if judge is None else ONE_JUDGE + judge, at)
    if state.judge is not None:
        find_user(session, state.judge)
    return state


def _columns(state: _State, *, with_unjudged: bool) -> tuple[Ids, Ids, Ids]:
    """Topic ids, document ids and settled grades of the judged items, and -1 for unjudged ones if requested."""
    unjudged: list[tuple[int, int]] = []
    if with_unjudged:
        judged = {*state.settled.item.tolist(), *state.refused}
        unjudged = [pair for item, pair in state.pool.items() if item not in judged]
    return line_columns(state.current, state.settled, unjudged)


def _named(state: _State, columns: tuple[Ids, ...]) -> Iterator[tuple[str, str, int]]:
    """The lines by topic number and docno."""
    topics, documents, grades = (column.tolist() for column in columns)
    docnos = docnos_of(state.session, set(documents))
    named = zip(topics, documents, grades, strict=True)
    return ((state.numbers[topic], docnos[document], grade) for topic, document, grade in named)


def _refuse_difference(lines: int) -> None:
    if lines:
        raise ExportMismatchError(
            "The qrels as written differ from the database in %(count)d pairs; the export is refused.", count=lines
        )


def _compare_with_judgements(state: _State, qrels: bytes, *, with_unjudged: bool) -> None:
    """Read the file back and compare it with grades settled by name, from separate queries, some topics at a time."""
    parts = _parts_to_compare(qrels, list(state.numbers.values()))
    _refuse_difference(
        sum(_differing_pairs(state, lines, numbers, with_unjudged=with_unjudged) for numbers, lines in parts)
    )


def _parts_to_compare(qrels: bytes, numbers: Sequence[str]) -> Iterator[tuple[list[str], bytes]]:
    """Lines of the file with the topics that are in them and in no earlier part; then the topics without lines."""
    left = dict.fromkeys(numbers)
    some: list[str] = []
    lines: list[bytes] = []
    for number, of_topic in groupby(BytesIO(qrels), key=lambda line: line.partition(b" ")[0].decode()):
        if len(lines) >= LINES_AT_ONCE or len(some) >= TOPICS_AT_ONCE:
            yield some, b"".join(lines)
            some, lines = [], []
        if number in left:
            del left[number]
            some.append(number)
        lines += of_topic
    if lines:
        yield some, b"".join(lines)
    others = list(left)
    for start in range(0, len(others), TOPICS_AT_ONCE):
        yield others[start : start + TOPICS_AT_ONCE], b""


def _differing_pairs(state: _State, lines: bytes, numbers: Sequence[str], *, with_unjudged: bool) -> int:
    """Compare lines with the grades of these topics; the number of pairs of topic and document that differ."""
    problems = Problems()
    parsed = parse_qrels("qrels", lines, problems) if lines else None
    written = {(row.topic, row.docno): row.grade for row in (parsed.rows if parsed else ())}
    session, id_, judge = state.session, state.collection.id, state.judge
    said = named_opinions(session, id_, numbers, machines=state.machines, at=state.at)
    expected = settle_by_name([one for one in said if judge is None or one.judge == judge], state.rules)
    if with_unjudged:
        unjudged = named_unjudged(session, id_, numbers, machines=state.machines, judge=judge, at=state.at)
        expected |= dict.fromkeys(unjudged, UNJUDGED)
    return problems.total + (len(dict(written.items() ^ expected.items())) if written != expected else 0)


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
        "machines": machine_facts(session, {state.judges[one].name for one in state.judge_ids}),
        "dropped_topics": sorted(dropped, key=lambda topic: natural_order(topic["number"])),
        "topic_notes": sorted(notes, key=lambda note: (natural_order(note["topic"]), note["judge"])),
        "judging": judging_facts(session, collection),
        "unjudged": str(UNJUDGED) if with_unjudged else "omit",
        "counts": _counts(state, with_unjudged=with_unjudged),
    }


def _counts(state: _State, *, with_unjudged: bool) -> dict[str, object]:
    """The manifest's counts of the pool and the judgements of accepted topics."""
    settled, judgements = state.settled, state.current.judgements
    by_grade = settled.counts()
    lines = sum(by_grade.values())
    return {
        "pool_items": state.pool_size,
        "qrels_lines": lines + (state.unjudged if with_unjudged else 0),
        "lines_by_grade": {str(grade): count for grade, count in by_grade.items()},
        "topics": len(state.current.graded_in(settled)),
        "judges": len(state.judge_ids),
        "judgements": len(judgements.id),
        "unjudged": state.unjudged,
        "could_not_be_judged": len(state.refused),
        "in_dispute": settled.count(disputed_items(settled.opinions)),
        "disputed_left_out": settled.count(settled.is_left_out),
        "decided_by_adjudicators": settled.count(decided_items(settled.opinions)),
        "not_heard": settled.count(~settled.is_counted),
    }


def _warnings(state: _State) -> Iterator[Sentence]:
    decided = state.settled.count(decided_items(state.settled.opinions))
    uncounted = state.settled.count(~state.settled.is_counted)
    if state.judge is None and decided and not state.policy.startswith(ADJUDICATED_ELSE):
        yield Sentence(
            "An adjudicator has judged %(count)d documents, but by this policy their grades count like those of other "
            "judges: choose a policy “adjudicated, else …” so that they decide.",
            {"count": decided},
        )
    if uncounted:
        yield Sentence(
            "Documents judged only by judges whom the policy does not count: %(count)d. They have no line.",
            {"count": uncounted},
        )
        if asks_for_owner(state.policy):
            yield Sentence("A policy “owner, else majority” gives them the grade that most judges gave.")
