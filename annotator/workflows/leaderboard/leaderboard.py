"""The leaderboard: every run scored against the settled grades of this moment, a kept version of them, or a file."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError, Problems
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.leaderboard.graded_runs import graded_topics, notices_of_file
from annotator.evaluation.leaderboard.leaderboard import BoardRun, Leaderboard, LeaderboardRow, View
from annotator.evaluation.leaderboard.leaderboard_making import (
    Asked,
    DroppingEffect,
    Source,
    effect_of_dropping,
    of_every_round,
    recalled,
    said_of_version,
    within,
)
from annotator.evaluation.leaderboard.leaderboard_notices import released_by_version
from annotator.evaluation.leaderboard.leaderboard_table import Cell, exact_rows, shown_beside
from annotator.evaluation.leaderboard.leaderboard_table import latex as latex
from annotator.evaluation.leaderboard.leaderboard_table import markdown as markdown
from annotator.evaluation.leaderboard.leaderboard_table import readable_rows as readable_rows
from annotator.evaluation.leaderboard.leaderboard_table import scored_against as scored_against
from annotator.evaluation.leaderboard.live_scores import Grading, LiveScores
from annotator.evaluation.leaderboard.round_scope import RoundScope
from annotator.evaluation.leaderboard.sample_notices import sample_notices
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import DEFAULT_MEASURES, measures_on_scale, parse_measures
from annotator.evaluation.metrics.names import split_names as split_names
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.qrels.consensus import ONE_JUDGE, judge_of
from annotator.evaluation.qrels.graded_topic import GradedTopic
from annotator.evaluation.qrels.qrels_format import parse_sampled_qrels
from annotator.evaluation.qrels.samples import samples_of
from annotator.evaluation.qrels.settling import rules_of, settled_topics, with_new_grades
from annotator.evaluation.runs.rankings import RankedDocuments, tied_documents, unpack_lists
from annotator.files import InputFile
from annotator.garbage_collection import garbage_collection_off
from annotator.spreadsheets import csv_text
from annotator.storage import DROPPED, Document
from annotator.storage import Collection as CollectionRow
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.collections.rounds import rounds_of
from annotator.storage.documents.documents import docnos_of, document_ids
from annotator.storage.leaderboard.scored_state import (
    ScoredState,
    docnos_in_topics,
    items_judged_since,
    lists_with_scores,
    scored_state,
)
from annotator.storage.people.accounts import find_user
from annotator.storage.pools.pools import DrawnSample, drawn_sample, strata_of
from annotator.storage.qrels.current_grades import opinions
from annotator.storage.qrels.qrels_versions import facts_of_round, grades_of_version, kept_version, released_otherwise


@dataclass(frozen=True)
class GradesFrom:
    """What to score against: grades settled by a policy (None: the collection's own), one judge's, a version, a file.

    `compat` says which trec_eval to equal, `9` or `10`. With a `round` only its runs are scored; `residual` takes what
    was judged before that round out of runs and grades, as TREC-COVID did. With `as_kept` a version is scored by the
    scale, and without the documents, of the time when it was kept.
    """

    policy: str | None = None
    judge: str | None = None
    version: int | None = None
    qrels_file: InputFile | None = None
    unpacked_limit: int = 0
    compat: str = Compat.TREC_EVAL_10.value
    round: int | None = None
    residual: bool = False
    as_kept: bool = False


LIVE = GradesFrom()


USUAL_VIEW = View()
TOPICS_AT_ONCE = 16  # what judges say of so many is in memory together, and then only what came of it
# What was kept of topics, with their marks.
Earlier = Mapping[int, tuple[Hashable, GradedTopic]]
MOST_MEASURES = 24  # asked for at once; with what stands beside them, fewer than are remembered


def build_leaderboard(
    session: Session,
    slug: str,
    measures: Sequence[str] = DEFAULT_MEASURES,
    *,
    grades: GradesFrom = LIVE,
    view: View = USUAL_VIEW,
    memory: LiveScores | None = None,
    before: datetime | None = None,
) -> Leaderboard:
    """Score every run in force over the accepted topics that have a grade; without a list a run has an empty one.

    `before` leaves out the runs that were uploaded from that moment on, as if they were not there.

    The memory of this process, if given, keeps what stays the same until the next time. Raises `InvalidValueError`
    for an unknown measure and for too many, `NotFoundError` for an unknown judge, version or baseline, `ConflictError`
    while there is no grade or no run, `FileRefusedError` for a bad file.
    """
    collection = find_collection(session, slug)
    as_kept = grades.version if grades.as_kept else None
    state = scored_state(session, collection, as_kept=as_kept).in_time(before)
    parsed, view = _parse(measures, state.best_grade), view.on_scale(state.best_grade)
    facts = facts_of_round(session, collection.id, grades.round, residual=grades.residual, as_kept=as_kept)
    scope = RoundScope.of(facts)
    state = state if scope is None else replace(state, runs=tuple(run for run in state.runs if run.id in scope.runs))
    grading = Grading(state.relevant_from, state.best_grade, Compat(grades.compat))
    source = within(scope, _source(session, collection, state, grades, parsed))
    dropped = tuple(sorted(topic_ids(session, collection.id, DROPPED), key=natural_order))
    asked = Asked(
        tuple(BoardRun(run.tag, run.team, run.uploaded_at, run.fed_pool) for run in state.runs),
        {id_: topic.number for id_, topic in state.topics.items()},
        *(dropped, parsed, grading, view, source.name, source.policy, source.fingerprint),
    )
    load = partial(_load_lists, session, compat=grading.compat, scope=scope)
    run_ids = [run.id for run in state.runs]
    kept = (memory or LiveScores()).of(collection.id, (grading.compat, scope and scope.key), state.runs, run_ids)
    with garbage_collection_off():
        board = recalled(kept, asked, source, scope, load)
    of_sample = sample_notices(source.sample, parsed)
    if source.said or of_sample:
        board = replace(board, notices=(*source.said, *of_sample, *board.notices), of_sample=of_sample)
    if replace(grades, compat=LIVE.compat, round=None, residual=False) == LIVE:
        board = _beside_release(session, collection, board)
    return of_every_round(board) if scope is None and rounds_of(session, collection.id) else board


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


def _beside_release(session: Session, collection: CollectionRow, board: Leaderboard) -> Leaderboard:
    """The same, saying so where released scores are computed from other grades."""
    released = released_otherwise(session, collection, board.fingerprint, board.relevant_from)
    return board if released is None else replace(board, notices=(released_by_version(*released), *board.notices))


def _parse(names: Sequence[str], best_grade: int) -> tuple[Measure, ...]:
    """The measures asked for; more than so many would take memory and time from everybody else."""
    parsed = measures_on_scale(names, best_grade)
    if len(parsed) > MOST_MEASURES:
        raise InvalidValueError(
            "At most %(most)d measures are shown at once, not %(given)d: ask for the others apart.",
            most=MOST_MEASURES,
            given=len(parsed),
        )
    return parsed


def _load_lists(
    session: Session, runs: Collection[int], topics: Collection[int], *, compat: Compat, scope: RoundScope | None
) -> dict[int, list[RankedDocuments]]:
    """The lists of these runs for these topics, by topic, as that trec_eval orders them."""
    rows = lists_with_scores(session, runs, topics, with_scores=compat is Compat.TREC_EVAL_9)
    lists = unpack_lists(list(runs), topics, rows, docnos_of(session, tied_documents(rows)))
    return lists if scope is None else scope.lists_left(lists)


def _source(
    session: Session,
    collection: CollectionRow,
    state: ScoredState,
    grades: GradesFrom,
    measures: Collection[Measure],
) -> Source:
    """What these grades are; a file goes before a version, a version before a judge or a policy.

    Raises `NotFoundError` for an unknown judge or version, `InvalidValueError` for an unknown policy, and
    `FileRefusedError` for a bad file.
    """
    if grades.qrels_file is not None:
        return _of_file(session, state, grades.qrels_file, grades.unpacked_limit, measures)
    if grades.version is not None:
        return _of_version(session, collection.id, state, grades)
    return _of_judges(session, collection, state, grades)


def _of_judges(session: Session, collection: CollectionRow, state: ScoredState, grades: GradesFrom) -> Source:
    """The settled grades of this moment, under everything but the judgements that they depend on.

    Of topics whose new judgements are all that changed only the documents that these are of are settled again.
    """
    policy = grades.policy or collection.consensus_policy if grades.judge is None else ONE_JUDGE + grades.judge
    judge = judge_of(policy)
    if judge is not None:
        find_user(session, judge)
    rules = rules_of(collection, policy)
    asked_of = partial(opinions, session, collection.id, machines=rules.hears_machines)

    def settle(stale: Collection[int], earlier: Earlier) -> dict[int, GradedTopic]:
        said_of = items_judged_since(session, state.continued({topic: mark for topic, (mark, _) in earlier.items()}))
        of_items = {item: document for items in said_of.values() for item, document in items.items()}
        docnos = docnos_of(session, set(of_items.values()))
        changed = settled_topics(asked_of(items=of_items) if of_items else [], rules, said_of)
        made = {
            topic: with_new_grades(
                earlier[topic][1], state.topics[topic].number, changed[topic], items.values(), docnos
            )
            for topic, items in said_of.items()
        }
        others = iter([topic for topic in stale if topic not in made])
        while some := list(islice(others, TOPICS_AT_ONCE)):
            whole = settled_topics(asked_of(topics=some), rules, some)
            named = _by_name(session, {id_: one.grades for id_, one in whole.items()}, state, state.sample, earlier)
            for id_, one in named.items():
                made[id_] = replace(one, judges=whole[id_].judges, disputed=whole[id_].disputed)
        return made

    name = grades.judge or "live"
    key, policy_shown = (rules, state.machines, state.sample), policy if grades.judge is None else None
    return Source(name, policy_shown, key, state.topics, settle, sample=state.sample)


def _of_version(session: Session, collection_id: int, state: ScoredState, asked: GradesFrom) -> Source:
    """A version that is kept, which never changes; without the topics that do not count any more."""
    version = kept_version(session, collection_id, str(asked.version))
    sample = drawn_sample(session, collection_id, up_to=version.pool_version)

    def make(stale: Collection[int], earlier: Earlier) -> dict[int, GradedTopic]:
        of_topics: dict[int, dict[int, int]] = {topic: {} for topic in stale}
        for (topic, document), grade in grades_of_version(session, version.id).items():
            if topic in of_topics:
                of_topics[topic][document] = grade
        return _by_name(session, of_topics, state, sample, earlier)

    marks = {id_: topic.number for id_, topic in state.topics.items()}
    said = said_of_version(version.number, version.policy, asked_policy=asked.policy, asked_judge=asked.judge)
    key = ("version", version.id, sample)
    return Source(str(version.number), version.policy, key, marks, make, version.fingerprint, said, sample)


def _of_file(
    session: Session, state: ScoredState, file: InputFile, unpacked_limit: int, measures: Collection[Measure]
) -> Source:
    """Read a qrels file, with strata or without; lines of topics that are drafts or were dropped since are left out."""
    problems = Problems()
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    known = topic_ids(session, state.collection_id)
    parsed = parse_sampled_qrels(file.name, text, problems, topics=known) if text is not None else None
    problems.report_if_any()
    accepted = {topic.number: id_ for id_, topic in state.topics.items()}
    rows = [row for row in (parsed.rows if parsed is not None else ()) if row.topic in accepted]
    documents = document_ids(session, state.collection_id, {row.docno for row in rows})
    unknown = (session.scalar(select(func.max(Document.id))) or 0) + 1
    made = graded_topics(rows, accepted, documents, unknown)
    said = notices_of_file(rows, measures, is_sampled=state.sample is not None)
    # Whoever keeps a memory has no files; one file is never taken for another.
    key = ("file", file.name, hash(file.content))
    marks = dict.fromkeys(made, 0)
    return Source(
        file.name, None, key, marks, lambda stale, _: {topic: made[topic] for topic in stale}, said=tuple(said)
    )


def _by_name(
    session: Session,
    grades: Mapping[int, Mapping[int, int]],
    state: ScoredState,
    sample: DrawnSample | None,
    earlier: Earlier,
) -> dict[int, GradedTopic]:
    """These grades with their lines of a qrels file, and with their strata if they are of a sample."""
    samples = samples_of(strata_of(session, sample, grades))
    docnos: dict[int, bytes] = {}
    for topic in grades.keys() & earlier.keys():
        docnos.update(earlier[topic][1].docnos())
    wanted = set[int]().union(*grades.values())
    docnos.update(docnos_in_topics(session, grades, wanted.difference(docnos)))
    return {
        id_: replace(GradedTopic.named(state.topics[id_].number, of_topic, docnos), sample=samples.get(id_))
        for id_, of_topic in grades.items()
    }


ALL_TOPICS = "all"  # trec_eval's word for the mean


def leaderboard_csv(board: Leaderboard) -> str:
    """Comma-separated, a line a run; every line names the grades, so that it can be cut out and still says them."""
    return csv_text(exact_rows(board))


def topics_csv(board: Leaderboard) -> str:
    """The same with a line a run and topic, and the values over all topics under them."""
    named = ["qrels", "policy", "grades", "topics", "fingerprint", "trec_eval"]
    against = [board.source, board.policy, board.grades, len(board.topics), board.fingerprint, board.compat]
    headings = ["run", "topic", *board.measures, *named]
    return csv_text([headings, *([*row, *against] for row in topic_rows(board))])


def topic_rows(board: Leaderboard) -> Sequence[Sequence[Cell]]:
    """A row a run and topic, and its mean under them, as trec_eval does."""
    return [
        [row.tag, topic, *values]
        for row in board.rows
        for topic, values in (*((number, row.by_topic[number]) for number in board.topics), (ALL_TOPICS, row.values))
    ]


def as_json(board: Leaderboard, *, per_topic: bool) -> dict[str, object]:
    """Everything of it, as JSON has it."""
    plain = ("measures", "topics", "topics_left_out", "topics_dropped", "grades", "source", "policy", "relevant_from")
    return {
        **{name: getattr(board, name) for name in plain},
        "fingerprint": board.fingerprint,
        "disputed_left_out": board.disputed_left_out,
        "sorted_by": board.sorted_by,
        "better": board.better,
        "trec_eval": board.compat,
        "interval": board.view.interval,
        "baseline": board.view.baseline,
        "notices": list(map(str, board.notices)),
        "rows": [_row_as_json(board, row, per_topic=per_topic) for row in board.rows],
    }


def _row_as_json(board: Leaderboard, row: LeaderboardRow, *, per_topic: bool) -> dict[str, object]:
    def by_measure(values: Sequence[object]) -> dict[str, object]:
        return dict(zip(board.measures, values, strict=True))

    beside = [(place, shown_beside(board, place)) for place in range(len(board.measures))]
    how_far = {name: row.judged[place] for place, name in beside if name is not None}
    said: dict[str, object] = {
        "tag": row.tag,
        "place": row.place,
        "team": row.team,
        "values": by_measure(row.values) | how_far,
        "intervals": by_measure([one.bounds if one is not None else None for one in row.intervals]),
        "judged": by_measure(row.judged),
        "fed_pool": row.run.fed_pool,
        "best_of_team": row.best_of_team,
    }
    if board.view.baseline is not None:
        said["p"] = by_measure([figure.value if figure is not None else None for figure in row.p])
        said["stars"] = by_measure(row.stars)
    if board.view.letters:
        said["letters"] = row.letters
    if per_topic:
        said["by_topic"] = {topic: by_measure(row.by_topic[topic]) for topic in board.topics}
    return said
