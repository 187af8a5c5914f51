"""Which grades go out as qrels, the versions of them that are kept, and what lies between two of these."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from beginning import beginning
from build import NOW, SLUG, document_file, labels, member, news, pool, pooled_news, run, topic_file
from csv_cells import unquoted
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.qrels.topic_flags import TopicFlag
from annotator.storage import (
    Assignment,
    CannotJudge,
    Document,
    Judgement,
    Pool,
    PoolItem,
    Purpose,
    QrelsGrade,
    Topic,
    User,
    UserKind,
)
from annotator.storage.judging.leases import Decision
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.judging import judging, recording
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.qrels import qrels
from annotator.workflows.qrels.flagged_topics import flagged_topics
from annotator.workflows.qrels.qrels_diff import changes_csv, diff_qrels
from annotator.workflows.qrels.qrels_versions import export_version, keep_qrels, list_versions

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def disputed(session: Session) -> Session:
    """A session over judgements, one of them decided by Ada."""
    disputed_news(session)
    return session


@beginning
def disputed_news(session: Session) -> None:
    """Topic 1: jo and kim agree on a (2), differ on b (0, 1) and d (2, 0); only jo graded c (1). Ada decides d: 1."""
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 2\n")
    labels(session, "kim", "1 0 a 2\n1 0 b 1\n1 0 d 0\n")
    labels(session, "ada", "1 0 d 1\n")
    ada = select(User.id).where(User.name == "ada").scalar_subquery()
    session.execute(update(Assignment).where(Assignment.judge_id == ada).values(purpose=Purpose.ADJUDICATION))


def exported(session: Session, **wanted: str | bool) -> tuple[str, dict[str, int]]:
    """The qrels of topic 1 as `a2 b0`, and the counts."""
    export = qrels.export_qrels(session, SLUG, made_at=NOW, **wanted)  # type: ignore[arg-type]  # one of several kinds
    lines = [line.split() for line in export.qrels.decode().splitlines() if line.startswith("1 ")]
    return " ".join(docno + grade for _, _, docno, grade in lines), json.loads(export.manifest)["counts"]


@pytest.mark.parametrize(
    ("policy", "lines"),
    [
        ("majority", "a2 b0 c1 d1"),  # of 2, 0 and 1 on d the third judge's
        ("highest", "a2 b1 c1 d2"),
        ("adjudicated-else-highest", "a2 b1 c1 d1"),
        ("any-relevant", "a2 b1 c1 d1"),
        ("all-relevant", "a2 b0 c1 d0"),
        ("owner", ""),
        ("judge:kim", "a2 b1 d0"),
    ],
)
def test_any_policy_settles_an_export(disputed: Session, policy: str, lines: str) -> None:
    assert exported(disputed, policy=policy)[0] == lines


def test_a_collection_may_go_by_the_owner_of_each_topic_or_by_one_judge(disputed: Session) -> None:
    kim = disputed.scalars(select(User.id).where(User.name == "kim")).one()
    change_collection(disputed, SLUG, CollectionChange(consensus_policy="owner"))
    disputed.execute(update(Topic).values(owner_id=kim))
    lines, counts = exported(disputed)
    assert (lines, counts["not_heard"]) == ("a2 b1 d0", 1)
    change_collection(disputed, SLUG, CollectionChange(consensus_policy="judge:jo"))
    assert exported(disputed)[0] == "a2 b0 c1 d2"
    with pytest.raises(NotFoundError, match="no user “lee”"):
        change_collection(disputed, SLUG, CollectionChange(consensus_policy="judge:lee"))


def test_what_the_owner_did_not_grade_has_the_majoritys_grade_and_kept_versions_stay(disputed: Session) -> None:
    kim = disputed.scalars(select(User.id).where(User.name == "kim")).one()
    disputed.execute(update(Topic).values(owner_id=kim))
    change_collection(disputed, SLUG, CollectionChange(consensus_policy="adjudicated-else-owner"))
    made = qrels.export_qrels(disputed, SLUG, made_at=NOW)
    assert [str(warning) for warning in made.warnings] == [
        "Documents judged only by judges whom the policy does not count: 1. They have no line.",
        "A policy “owner, else majority” gives them the grade that most judges gave.",
    ]
    keep_qrels(disputed, SLUG, made, made_by_id=None, made_at=NOW)
    before = export_version(disputed, SLUG, 1)
    change_collection(disputed, SLUG, CollectionChange(consensus_policy="adjudicated-else-owner-else-majority"))
    lines, counts = exported(disputed)
    assert (lines, counts["not_heard"]) == ("a2 b1 c1 d1", 0)
    assert qrels.export_qrels(disputed, SLUG, made_at=NOW).warnings == ()
    # What was kept says by which policy it was settled, and has the lines it had.
    assert export_version(disputed, SLUG, 1) == before
    kept = json.loads(before.manifest)
    assert kept["consensus"] == "The adjudicators' latest grade; where there is none, that of the topic's owner."
    assert b"1 0 c " not in before.qrels


def test_what_is_in_dispute_is_counted_and_kept_out_as_the_collection_chooses(disputed: Session) -> None:
    lines, counts = exported(disputed)
    assert (lines, counts["in_dispute"], counts["disputed_left_out"]) == ("a2 b0 c1 d1", 1, 0)
    change_collection(disputed, SLUG, CollectionChange(leaves_out_disputed=True))
    lines, counts = exported(disputed)
    assert (lines, counts["in_dispute"], counts["disputed_left_out"]) == ("a2 c1 d1", 1, 1)
    assert counts["decided_by_adjudicators"] == 1
    assert (counts["qrels_lines"], counts["unjudged"]) == (3, 2)
    board = leaderboard.build_leaderboard(disputed, SLUG, ["AP"])
    assert (board.grades, board.disputed_left_out) == (3, 1)
    assert exported(disputed, judge="jo")[0] == "a2 b0 c1 d2"


def test_an_adjudicator_whom_the_policy_does_not_put_first_is_warned_of(disputed: Session) -> None:
    [warning] = qrels.export_qrels(disputed, SLUG, made_at=NOW).warnings
    assert str(warning).startswith("An adjudicator has judged 1 documents")
    assert qrels.export_qrels(disputed, SLUG, policy="adjudicated-else-median", made_at=NOW).warnings == ()


def test_machines_count_only_where_the_collection_says_so(disputed: Session) -> None:
    labels(disputed, "gpt", "1 0 c 2\n2 0 e 1\n")
    disputed.execute(update(User).where(User.name == "gpt").values(kind=UserKind.MACHINE, model="m", prompt="p"))
    lines, counts = exported(disputed, policy="highest")
    assert (lines, counts["judges"], counts["unjudged"]) == ("a2 b1 c1 d2", 3, 2)
    change_collection(disputed, SLUG, CollectionChange(counts_machines=True))
    export = qrels.export_qrels(disputed, SLUG, policy="highest", made_at=NOW)
    assert export.qrels == b"1 0 a 2\n1 0 b 1\n1 0 c 2\n1 0 d 2\n2 0 e 1\n"
    manifest = json.loads(export.manifest)
    assert (manifest["counts_machines"], [one["name"] for one in manifest["machines"]]) == (True, ["gpt"])
    # Machines are no party to a dispute, and whoever asks for one by name gets its grades.
    assert manifest["counts"]["in_dispute"] == 1
    assert exported(disputed, judge="gpt")[0] == "c2"


def test_minus_one_is_what_is_pooled_and_nobody_has_judged(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "kim", "1 0 a 2\n")
    jo = member(session, "jo")
    tasks = [judging.next_task(session, SLUG, "2", jo, now=NOW)]
    assert tasks[0] is not None
    refused = tasks[0].assignment_id
    recording.record_judgement(
        session, SLUG, refused, jo, Decision(None, CannotJudge.BROKEN), client_id="c", judged_at=NOW
    )
    docno = session.scalars(
        select(Document.docno)
        .join(PoolItem, PoolItem.document_id == Document.id)
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .where(Assignment.id == refused)
    ).one()
    export = qrels.export_qrels(session, SLUG, with_unjudged=True, made_at=NOW)
    other = {"a": "e", "e": "a"}[docno]
    assert export.qrels.decode() == f"1 0 a 2\n1 0 b -1\n1 0 c -1\n1 0 d -1\n2 0 {other} -1\n"
    counts = json.loads(export.manifest)["counts"]
    assert (counts["qrels_lines"], counts["unjudged"], counts["could_not_be_judged"]) == (5, 4, 1)
    assert (counts["topics"], counts["lines_by_grade"]) == (1, {"2": 1})


def test_an_earlier_moment_is_exported_from_the_history(disputed: Session) -> None:
    labels(disputed, "jo", "1 0 b 2\n1 0 c 0\n", name="later.txt")
    disputed.execute(update(Judgement).where(Judgement.replaces_id.is_not(None)).values(received_at=LATER))
    now, then = (qrels.export_qrels(disputed, SLUG, at=at, policy="highest", made_at=NOW) for at in (None, NOW))
    assert now.qrels == b"1 0 a 2\n1 0 b 2\n1 0 c 0\n1 0 d 2\n"
    assert then.qrels == b"1 0 a 2\n1 0 b 1\n1 0 c 1\n1 0 d 2\n"
    assert json.loads(then.manifest)["as_of"] == NOW.isoformat()
    before = qrels.export_qrels(disputed, SLUG, at=NOW - timedelta(days=1), with_unjudged=True, made_at=NOW)
    assert before.qrels == b""  # there was no pool either
    assert json.loads(before.manifest)["pool_versions"] == []


def test_the_manifest_of_an_earlier_moment_says_what_is_not_of_it(disputed: Session) -> None:
    labels(disputed, "jo", "1 0 zz 1\n", add_to_pool=True, name="later.txt")
    disputed.execute(update(Pool).where(Pool.version == 2).values(built_at=LATER))
    then, now = (json.loads(qrels.export_qrels(disputed, SLUG, at=at, made_at=LATER).manifest) for at in (NOW, None))
    assert [one["version"] for one in then["pool_versions"]] == [1]
    assert [one["version"] for one in now["pool_versions"]] == [1, 2]
    assert set(then["not_as_of"]["of_now"]) <= then.keys()
    assert "ceased to count" in then["not_as_of"]["note"]
    assert "not_as_of" not in now


@pytest.mark.parametrize("export", [qrels.export_qrels, qrels.outline_qrels])
def test_a_policy_without_a_name_is_refused(disputed: Session, export: Callable[..., object]) -> None:
    with pytest.raises(InvalidValueError, match="no consensus policy “”"):
        export(disputed, SLUG, policy="", made_at=NOW)


@pytest.mark.parametrize("wanted", [{}, {"policy": "highest"}, {"judge": "jo"}])
def test_an_outline_says_what_the_export_says(disputed: Session, wanted: dict[str, str]) -> None:
    change_collection(disputed, SLUG, CollectionChange(leaves_out_disputed=True))
    outline = qrels.outline_qrels(disputed, SLUG, policy=wanted.get("policy"), judge=wanted.get("judge"), made_at=NOW)
    export = qrels.export_qrels(disputed, SLUG, policy=wanted.get("policy"), judge=wanted.get("judge"), made_at=NOW)
    manifest = json.loads(export.manifest)
    assert manifest.pop("sha256")
    assert json.loads(json.dumps(outline.manifest)) == manifest
    assert outline.warnings == export.warnings


def kept(session: Session, **wanted: str | bool) -> int:
    made = qrels.export_qrels(session, SLUG, made_at=NOW, **wanted)  # type: ignore[arg-type]  # one of several kinds
    return keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)


def test_a_kept_version_is_given_again_byte_for_byte_whatever_is_judged_later(disputed: Session) -> None:
    made = qrels.export_qrels(disputed, SLUG, with_unjudged=True, made_at=NOW)
    assert kept(disputed, with_unjudged=True) == 1
    labels(disputed, "jo", "1 0 a 0\n1 0 c 2\n", name="later.txt")
    assert kept(disputed, judge="jo") == 2
    again = export_version(disputed, SLUG, 1)
    assert again.qrels == made.qrels
    assert json.loads(again.manifest) == {**json.loads(made.manifest), "version": 1}
    assert [(one.number, one.policy, one.lines) for one in list_versions(disputed, SLUG)] == [
        (2, "judge:jo", 4),
        (1, "majority", 6),
    ]


def test_nothing_is_not_kept_and_what_is_not_as_it_was_is_not_handed_out(disputed: Session) -> None:
    news(disputed, "empty")
    topic_file(disputed, slug="empty")
    made = qrels.export_qrels(disputed, "empty", made_at=NOW)
    with pytest.raises(ConflictError, match="no line"):
        keep_qrels(disputed, "empty", made, made_by_id=None, made_at=NOW)
    with pytest.raises(NotFoundError, match="no version 1"):
        export_version(disputed, SLUG, 1)
    kept(disputed)
    disputed.execute(update(QrelsGrade).values(grade=0))
    with pytest.raises(ConflictError, match="no longer has the bytes"):
        export_version(disputed, SLUG, 1)


def test_two_versions_differ_by_grades_and_by_what_these_do_to_the_runs(disputed: Session) -> None:
    kept(disputed, policy="adjudicated-else-majority", with_unjudged=True)
    labels(disputed, "jo", "1 0 a 0\n2 0 e 1\n", name="later.txt")
    labels(disputed, "kim", "1 0 a 0\n", name="later.txt")
    change_collection(disputed, SLUG, CollectionChange(leaves_out_disputed=True))
    diff = diff_qrels(disputed, SLUG, "1", "live", "P@1")
    # From a2 b0 c1 d1 to a0 c1 d1, since b is in dispute; and e1 of topic 2, which was -1.
    assert unquoted(changes_csv(diff)).splitlines() == [
        "topic,docno,change,before,after",
        "1,a,changed,2,0",
        "1,b,removed,0,",
        "2,e,added,,1",
    ]
    assert [(one.topic, one.same, one.changed, one.added, one.removed) for one in diff.topics] == [
        ("1", 2, 1, 0, 1),
        ("2", 0, 0, 1, 0),
    ]
    assert (diff.before.grades, diff.before.topics, diff.after.grades, diff.after.topics) == (4, 1, 4, 2)
    # Topic 1: alpha has a first, beta d; topic 2: alpha a, beta e. Before, of topic 1 alone: 1 and 1.
    assert [(run.tag, run.before, run.after, run.rank_before, run.rank_after) for run in diff.runs] == [
        ("beta", 1, 1, 1, 1),
        ("alpha", 1, 0, 1, 2),
    ]
    assert diff.tau is None  # before, both runs were tied
    same = diff_qrels(disputed, SLUG, "1", "1")
    assert (same.changes, same.tau) == ((), 1.0)


@pytest.mark.parametrize(
    ("before", "error", "sentence"),
    [
        ("7", NotFoundError, "no version 7"),
        ("9" * 30, NotFoundError, "no version 9"),
        ("first", InvalidValueError, "“first” is neither"),
    ],
)
def test_what_is_no_version_is_refused(disputed: Session, before: str, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        diff_qrels(disputed, SLUG, before, "live")


def test_there_is_nothing_to_compare_before_a_judgement(session: Session) -> None:
    pooled_news(session)
    with pytest.raises(ConflictError, match="Nothing is judged yet"):
        diff_qrels(session, SLUG, "live", "live")


def test_topics_are_flagged_by_what_the_policy_settles(disputed: Session) -> None:
    labels(disputed, "jo", "2 0 a 0\n2 0 e 0\n", name="rest.txt")
    # Topic 1: a2 b0 c1 d1, three of four relevant. Topic 2: none of two.
    assert [(flag.topic.number, flag.topic.judged, flag.topic.relevant) for flag in _flags(disputed)] == [
        ("1", 4, 3),
        ("2", 2, 0),
    ]
    change_collection(disputed, SLUG, CollectionChange(consensus_policy="all-relevant", leaves_out_disputed=True))
    # Without b, and with d settled as 0: a2 c1 d0.
    assert [(flag.topic.number, flag.topic.judged, flag.topic.relevant) for flag in _flags(disputed)] == [
        ("1", 3, 2),
        ("2", 2, 0),
    ]


def _flags(session: Session) -> list[TopicFlag]:
    return flagged_topics(session, SLUG)


def test_flags_and_differences_go_by_one_judge_whom_nobody_disputes(disputed: Session) -> None:
    labels(disputed, "gpt", "1 0 a 2\n1 0 b 0\n1 0 c 0\n1 0 d 0\n")
    disputed.execute(update(User).where(User.name == "gpt").values(kind=UserKind.MACHINE))
    kept(disputed)
    # One of the four is relevant by the machine; people differ on b and d and on d an adjudicator has decided.
    change_collection(disputed, SLUG, CollectionChange(consensus_policy="judge:gpt", leaves_out_disputed=True))
    assert [(flag.topic.judged, flag.topic.relevant) for flag in _flags(disputed)] == [(4, 1)]
    change_collection(disputed, SLUG, CollectionChange(consensus_policy="judge:jo"))
    assert [(flag.topic.judged, flag.topic.relevant) for flag in _flags(disputed)] == [(4, 3)]
    assert diff_qrels(disputed, SLUG, "1", "live").after.grades == 4
    assert exported(disputed)[0] == "a2 b0 c1 d2"


def test_runs_whose_scores_are_the_same_in_another_order_share_a_rank(session: Session) -> None:
    news(session)
    topic_file(session, "1\tx\n2\ty\n3\tz\n")
    document_file(session, ["a", "b", "c"])
    # P@10 is 0.1, 0.2 and 0.3 of the one and 0.3, 0.2 and 0.1 of the other, and their means differ in the last digit.
    run(session, "up", {"1": ["a"], "2": ["a", "b"], "3": ["a", "b", "c"]})
    run(session, "down", {"1": ["a", "b", "c"], "2": ["a", "b"], "3": ["a"]})
    pool(session)
    labels(session, "jo", "".join(f"{topic} 0 {docno} 1\n" for topic in "123" for docno in "abc"), add_to_pool=True)
    kept(session)
    diff = diff_qrels(session, SLUG, "1", "live", "P@10")
    assert [(one.tag, one.rank_before, one.rank_after) for one in diff.runs] == [("down", 1, 1), ("up", 1, 1)]
    assert diff.tau is None  # both are tied
