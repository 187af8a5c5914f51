"""Drafts, accepted and dropped topics: who sees them, what is judged of them, and where they count."""

import json
from datetime import timedelta
from threading import Thread

import pytest
from beginning import beginning
from build import LIMIT, NOW, SLUG, document_file, labels, member, news, pool, pooled_news, run, topic_file
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, InvalidValueError, NotFoundError
from annotator.evaluation.qrels.topic_flags import Fault
from annotator.files import InputFile
from annotator.storage import Assignment, AssignmentState, Database, Run, TopicState
from annotator.storage.judging.leases import Decision
from annotator.workflows.agreement import agreement
from annotator.workflows.collections import collection as collections
from annotator.workflows.documents import documents
from annotator.workflows.judging import judgement_export, judgement_import, judging, recording
from annotator.workflows.judging.judging import TopicWork
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.qrels import qrels
from annotator.workflows.qrels.flagged_topics import SettledMemory, flagged_topics
from annotator.workflows.qrels.judges_to_choose import judges_to_choose
from annotator.workflows.topics import topic_editing, topics
from annotator.workflows.topics.topic_editing import TopicWords
from annotator.workflows.topics.topics import TopicImport

REASON = "Hardly anything is relevant."


def states(session: Session) -> dict[str, str]:
    return {row.number: row.state.value for row in topics.list_topics(session, SLUG)}


def import_lines(session: Session, text: str, state: TopicState = TopicState.ACCEPTED) -> TopicImport:
    read = topics.read_topics([InputFile("t.tsv", text.encode())], unpacked_limit=LIMIT)
    return topics.import_topics(session, SLUG, read, state=state)


@beginning
def judged_news(session: Session) -> None:
    """Topic 1: a 2, b 0, c 1, d 0; topic 2: a 0, e 1."""
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 0\n2 0 a 0\n2 0 e 1\n")


# Drafting and deciding


def test_a_file_comes_in_as_drafts_and_known_topics_stay_what_they_are(session: Session) -> None:
    news(session)
    topic_file(session, "1\tcats\n")
    assert import_lines(session, "1\tcats and kittens\n2\tdogs\n", TopicState.DRAFT) == TopicImport(1, 1, 0)
    assert states(session) == {"1": "accepted", "2": "draft"}


def test_a_draft_is_added_accepted_dropped_and_taken_up_again(session: Session) -> None:
    news(session)
    topic_editing.add_draft(session, SLUG, "7", TopicWords(" big \n cats ", "Any cat.\n", "", "en"))
    assert topic_editing.show_topic(session, SLUG, "7").words == TopicWords("big cats", "Any cat.", "", "en")
    assert topic_editing.accept_topics(session, SLUG, ["7"]) == ["7"]
    assert topic_editing.accept_topics(session, SLUG, ["7"]) == []
    assert topic_editing.drop_topics(session, SLUG, ["7"], reason="Too\n broad.") == ["7"]
    dropped = topic_editing.show_topic(session, SLUG, "7")
    assert (dropped.state, dropped.reason) == (TopicState.DROPPED, "Too broad.")
    with pytest.raises(ConflictError, match="restore it instead"):
        topic_editing.accept_topics(session, SLUG, ["7"])
    assert topic_editing.drop_topics(session, SLUG, ["7"], reason="Another reason.") == []
    assert topic_editing.show_topic(session, SLUG, "7").reason == "Another reason."
    assert topic_editing.restore_topics(session, SLUG, ["7"]) == ["7"]
    again = topic_editing.show_topic(session, SLUG, "7")
    assert (again.state, again.reason) == (TopicState.ACCEPTED, "")


@pytest.mark.parametrize(
    ("number", "title", "sentence"),
    [
        ("", "cats", "The topic has no number"),
        ("a b", "cats", "must be one word"),
        ("#7", "cats", "would be comments"),
        ("8", " ", "needs a title"),
        ("8", "x" * 1001, "is too long"),
        ("8", "nul \x00", "cannot be stored"),
    ],
)
def test_a_draft_that_cannot_be_is_refused(session: Session, number: str, title: str, sentence: str) -> None:
    news(session)
    with pytest.raises(InvalidValueError, match=sentence):
        topic_editing.add_draft(session, SLUG, number, TopicWords(title))
    assert states(session) == {}


def test_a_number_that_is_taken_is_refused(session: Session) -> None:
    news(session)
    topic_file(session)
    with pytest.raises(ConflictError, match="There is a topic “1” already"):
        topic_editing.add_draft(session, SLUG, "1", TopicWords("cats"))


def test_dropping_needs_a_reason_and_a_draft_is_accepted_and_not_restored(session: Session) -> None:
    news(session)
    topic_file(session)
    topic_editing.add_draft(session, SLUG, "7", TopicWords("cats"))
    with pytest.raises(InvalidValueError, match="Give a reason"):
        topic_editing.drop_topics(session, SLUG, ["1"], reason=" \n")
    with pytest.raises(ConflictError, match="accept it instead"):
        topic_editing.restore_topics(session, SLUG, ["1", "7"])
    with pytest.raises(InvalidValueError, match="Choose a topic"):
        topic_editing.accept_topics(session, SLUG, [])
    with pytest.raises(NotFoundError, match="no topic “99”"):
        topic_editing.accept_topics(session, SLUG, ["7", "99"])
    assert states(session) == {"1": "accepted", "2": "accepted", "7": "draft"}


def test_a_closed_collection_decides_nothing(session: Session) -> None:
    news(session)
    topic_file(session)
    collections.close_collection(session, SLUG)
    for change in (
        lambda: topic_editing.add_draft(session, SLUG, "7", TopicWords("cats")),
        lambda: topic_editing.change_words(session, SLUG, "1", TopicWords("cats")),
        lambda: topic_editing.accept_topics(session, SLUG, ["1"]),
        lambda: topic_editing.drop_topics(session, SLUG, ["1"], reason=REASON),
        lambda: topic_editing.restore_topics(session, SLUG, ["1"]),
    ):
        with pytest.raises(ConflictError, match="is closed"):
            change()


def test_words_change_until_something_was_judged_by_them(session: Session) -> None:
    pooled_news(session)
    assert topic_editing.change_words(session, SLUG, "1", TopicWords("cats", "Any."))
    assert not topic_editing.change_words(session, SLUG, "1", TopicWords(" cats", "Any.\n"))
    labels(session, "jo", "1 0 a 0\n")
    with pytest.raises(ConflictError, match="judged by the present text"):
        topic_editing.change_words(session, SLUG, "1", TopicWords("dogs"))
    assert not topic_editing.change_words(session, SLUG, "1", TopicWords("cats", "Any."))
    shown = topic_editing.show_topic(session, SLUG, "1")
    assert (shown.words.title, shown.is_judged) == ("cats", True)
    assert topic_editing.change_words(session, SLUG, "2", TopicWords("birds"))


def test_an_import_leaves_the_words_of_judged_topics_too(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 0\n")
    with pytest.raises(ConflictError, match=r"judged by the present text.*: 1\.$"):
        import_lines(session, "1\tcats\n2\tdogs\n3\tnew\n")
    assert [row.title for row in topics.list_topics(session, SLUG)] == ["first topic", "second topic"]
    assert import_lines(session, "1\tfirst topic\n2\tdogs\n") == TopicImport(0, 1, 1)


# Who sees what


def test_participants_see_accepted_topics_and_pooled_ones_that_were_dropped(session: Session) -> None:
    pooled_news(session)
    topic_editing.add_draft(session, SLUG, "7", TopicWords("a draft"))
    topic_editing.add_draft(session, SLUG, "8", TopicWords("a draft that was dropped"))
    topic_editing.drop_topics(session, SLUG, ["2", "8"], reason=REASON)
    published = topics.published_topics(session, SLUG)
    assert [(row.number, row.state.value, row.reason) for row in published] == [
        ("1", "accepted", ""),
        ("2", "dropped", ""),
    ]
    records = [json.loads(line) for line in topics.topics_jsonl(published).splitlines()]
    assert [(record["number"], record["title"]) for record in records] == [("1", "first topic")]


def test_what_is_given_out_comes_in_again(session: Session) -> None:
    news(session)
    topic_editing.add_draft(session, SLUG, "7", TopicWords("검색", "첫 줄\n둘째 줄", "서술", "ko"))
    topic_editing.accept_topics(session, SLUG, ["7"])
    given = topics.topics_jsonl(topics.list_topics(session, SLUG))
    read = topics.read_topics([InputFile("t.jsonl", given.encode())], unpacked_limit=LIMIT)
    assert topics.import_topics(session, SLUG, read) == TopicImport(added=0, changed=0, unchanged=1)


def test_a_run_may_answer_drafts(session: Session) -> None:
    news(session)
    topic_editing.add_draft(session, SLUG, "7", TopicWords("a draft"))
    run(session, "alpha", {"7": ["a", "b"]})
    assert session.scalars(select(Run.tag)).all() == ["alpha"]


def test_a_judge_knows_nothing_of_a_draft(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    topic_editing.add_draft(session, SLUG, "7", TopicWords("a draft"))
    assert [work.number for work in judging.topics_to_judge(session, SLUG, jo, now=NOW)] == ["1", "2"]
    with pytest.raises(NotFoundError, match="no topic “7”"):
        judging.next_task(session, SLUG, "7", jo, now=NOW)


def test_labels_of_a_draft_are_refused_with_their_lines(session: Session) -> None:
    pooled_news(session)
    topic_editing.add_draft(session, SLUG, "7", TopicWords("a draft"))
    for add_to_pool in (True, False):
        with pytest.raises(FileRefusedError) as refusal:
            labels(session, "nist", "1 0 a 1\n7 0 a 1\n", add_to_pool=add_to_pool)
        assert [str(problem) for problem in refusal.value.problems] == [
            "qrels.txt:2: Topic 7 is a draft: accept it before its labels come in."
        ]


def test_labels_of_a_dropped_topic_are_kept_and_count_when_it_is_taken_up_again(session: Session) -> None:
    pooled_news(session)
    topic_editing.drop_topics(session, SLUG, ["2"], reason=REASON)
    labels(session, "nist", "2 0 e 1\n")
    assert qrels.export_qrels(session, SLUG, made_at=NOW).qrels == b""
    topic_editing.restore_topics(session, SLUG, ["2"])
    assert qrels.export_qrels(session, SLUG, made_at=NOW).qrels == b"2 0 e 1\n"


def test_a_dropped_topic_is_drawn_no_more_and_what_was_judged_stays(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", jo, now=NOW)
    assert task is not None
    recording.record_judgement(session, SLUG, task.assignment_id, jo, Decision(1), client_id="first", judged_at=NOW)
    held = judging.next_task(session, SLUG, "1", jo, now=NOW)
    assert held is not None
    topic_editing.drop_topics(session, SLUG, ["1"], reason=REASON)
    assert judging.next_task(session, SLUG, "1", jo, now=NOW) is None
    assert judging.topics_to_judge(session, SLUG, jo, now=NOW) == [
        TopicWork("1", "first topic", 1, 0, dropped=True),
        TopicWork("2", "second topic", 0, 2),
    ]
    assert session.scalars(select(Assignment.id).where(Assignment.state == AssignmentState.LIVE)).all() == []
    shown = judging.open_task(session, SLUG, task.assignment_id, jo, now=NOW)
    assert (shown.judged, shown.waiting, shown.decision) == (1, 0, Decision(1))
    # What was on the judge's screen may still come, and is kept.
    recording.record_judgement(
        session, SLUG, held.assignment_id, jo, Decision(2), client_id="second", judged_at=NOW + timedelta(minutes=1)
    )
    topic_editing.restore_topics(session, SLUG, ["1"])
    [first, _] = judging.topics_to_judge(session, SLUG, jo, now=NOW)
    assert (first.judged, first.waiting, first.dropped) == (2, 2, False)


def test_who_drops_a_topic_waits_for_a_draw_that_is_under_way(postgres_database: Database) -> None:
    database = postgres_database
    with database.transaction() as session:
        pooled_news(session)
        jo = member(session, "jo")

    def drop() -> None:
        with database.transaction() as session:
            topic_editing.drop_topics(session, SLUG, ["1"], reason=REASON)

    with database.transaction() as session:
        assert judging.next_task(session, SLUG, "1", jo, now=NOW) is not None
        dropping = Thread(target=drop)
        dropping.start()
        dropping.join(0.3)
        assert dropping.is_alive()
    dropping.join(10)
    assert not dropping.is_alive()
    with database.reading() as session:
        assert session.scalars(select(Assignment.id).where(Assignment.state == AssignmentState.LIVE)).all() == []


# Where they count


def test_a_dropped_topic_is_in_no_new_qrels_and_the_manifest_names_it(session: Session) -> None:
    judged_news(session)
    topic_editing.drop_topics(session, SLUG, ["2"], reason=REASON)
    export = qrels.export_qrels(session, SLUG, made_at=NOW)
    assert export.qrels == b"1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 0\n"
    manifest = json.loads(export.manifest)
    assert manifest["dropped_topics"] == [{"number": "2", "reason": REASON}]
    counts = manifest["counts"]
    assert (counts["pool_items"], counts["qrels_lines"], counts["unjudged"], counts["topics"]) == (4, 4, 0, 1)
    assert {row.topic for row in judgement_export.export_judgements(session, SLUG)} == {"1", "2"}
    topic_editing.restore_topics(session, SLUG, ["2"])
    assert json.loads(qrels.export_qrels(session, SLUG, made_at=NOW).manifest)["counts"]["qrels_lines"] == 6


def test_a_judge_of_dropped_topics_alone_is_not_among_those_whose_qrels_are_offered(session: Session) -> None:
    judged_news(session)
    labels(session, "kim", "2 0 e 1\n")
    assert judges_to_choose(session, SLUG) == ["jo", "kim"]
    topic_editing.drop_topics(session, SLUG, ["2"], reason=REASON)
    assert judges_to_choose(session, SLUG) == ["jo"]


def test_means_are_over_accepted_topics_also_by_a_file_from_before(session: Session) -> None:
    judged_news(session)
    before = InputFile("out.qrels", qrels.export_qrels(session, SLUG, made_at=NOW).qrels)
    topic_editing.drop_topics(session, SLUG, ["2"], reason=REASON)
    board = leaderboard.build_leaderboard(session, SLUG, ["AP"])
    assert (board.topics, board.topics_dropped, board.topics_left_out, board.grades) == (("1",), ("2",), 0, 4)
    # Topic 1, alpha: a2 b0 c1 → (1/1 + 2/3)/2 = 5/6.
    assert {row.tag: row.values[0] for row in board.rows}["alpha"] == pytest.approx(5 / 6)
    by_file = leaderboard.build_leaderboard(
        session, SLUG, ["AP"], grades=GradesFrom(qrels_file=before, unpacked_limit=LIMIT)
    )
    assert (by_file.rows, by_file.fingerprint) == (board.rows, board.fingerprint)
    manifest = json.loads(qrels.export_qrels(session, SLUG, made_at=NOW).manifest)
    assert manifest["sha256"].startswith(board.fingerprint)


def test_runs_that_were_withdrawn_or_replaced_are_not_scored(session: Session) -> None:
    judged_news(session)
    session.scalars(select(Run).where(Run.tag == "beta")).one().withdrawn_at = NOW
    assert [row.tag for row in leaderboard.build_leaderboard(session, SLUG).rows] == ["alpha"]
    session.scalars(select(Run).where(Run.tag == "alpha")).one().replaced_at = NOW
    with pytest.raises(ConflictError, match="no run to score"):
        leaderboard.build_leaderboard(session, SLUG)


def test_agreement_is_about_the_grades_behind_the_qrels(session: Session) -> None:
    judged_news(session)
    labels(session, "kim", "1 0 a 2\n1 0 b 1\n2 0 a 0\n2 0 e 1\n")
    [pair] = agreement.agreement_report(session, SLUG).pairs
    assert pair.kappa.n == 4
    topic_editing.drop_topics(session, SLUG, ["2"], reason=REASON)
    report = agreement.agreement_report(session, SLUG)
    assert ([pair.kappa.n for pair in report.pairs], report.topics_dropped) == ([2], ("2",))


def test_labels_add_nothing_to_the_pool_of_a_dropped_topic(session: Session) -> None:
    pooled_news(session)
    file = InputFile("q", b"1 0 e 1\n2 0 b 1\n2 0 a 1\n2 0 new -1\n")
    checked = judgement_import.check_judgements(session, SLUG, file, add_to_pool=True, unpacked_limit=LIMIT)
    topic_editing.drop_topics(session, SLUG, ["2"], reason=REASON)
    said = [
        "q:2: Topic 2 was dropped and document b is not in its pool: leave it out.",
        "q:4: Topic 2 was dropped and document new is not in its pool: leave it out.",
    ]
    with pytest.raises(FileRefusedError) as refusal:
        judgement_import.check_judgements(session, SLUG, file, add_to_pool=True, unpacked_limit=LIMIT)
    assert list(map(str, refusal.value.problems)) == said
    # It may be dropped between check and storing, too.
    with pytest.raises(FileRefusedError) as refusal:
        judgement_import.store_judgements(session, SLUG, checked, judge="jo", added_at=NOW)
    assert list(map(str, refusal.value.problems)) == said
    assert labels(session, "jo", "2 0 a 1\n").added == 1


def test_no_text_is_asked_for_that_only_a_dropped_topic_wants(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a"], "2": ["a", "b"]})
    pool(session)
    missing = {row.docno: row.topics for row in documents.missing_documents(session, SLUG)}
    assert missing == {"a": ("1", "2"), "b": ("2",)}
    topic_editing.drop_topics(session, SLUG, ["2"], reason=REASON)
    assert {row.docno: row.topics for row in documents.missing_documents(session, SLUG)} == {"a": ("1",)}


# After judging


def flagged_news(session: Session) -> None:
    """Ten documents a topic: 1 has 3 relevant of 10, 2 has 2, 3 has 8, 4 has 1 and one that waits."""
    news(session)
    topic_file(session, "".join(f"{number}\ttopic {number}\n" for number in range(1, 6)))
    docnos = [f"d{index}" for index in range(10)]
    run(session, "alpha", {str(number): docnos for number in range(1, 6)})
    run(session, "beta", {str(number): docnos[::-1] for number in range(1, 6)})
    pool(session)
    relevant = {"1": range(0, 10, 4), "2": range(8, 10), "3": range(8), "4": range(1)}
    judged = {"1": 10, "2": 10, "3": 10, "4": 9}
    lines = [
        f"{number} 0 d{index} {int(index in relevant[number])}\n"
        for number, count in judged.items()
        for index in range(count)
    ]
    labels(session, "jo", "".join(lines))


def test_topics_with_few_or_many_relevant_are_flagged(session: Session) -> None:
    flagged_news(session)
    flags = flagged_topics(session, SLUG)
    assert [(flag.topic.number, flag.fault, flag.is_final) for flag in flags] == [
        ("2", Fault.FEW, True),
        ("3", Fault.MANY, True),
        ("4", Fault.FEW, False),
    ]
    assert [(flag.topic.relevant, flag.topic.judged, flag.topic.pooled, flag.topic.waiting) for flag in flags] == [
        (2, 10, 10, 0),
        (8, 10, 10, 0),
        (1, 9, 10, 1),
    ]
    topic_editing.drop_topics(session, SLUG, ["2"], reason=REASON)
    assert [flag.topic.number for flag in flagged_topics(session, SLUG)] == ["3", "4"]


def test_a_topic_is_not_flagged_for_few_while_documents_will_still_be_chosen(session: Session) -> None:
    flagged_news(session)
    flags = flagged_topics(session, SLUG, to_come={"2": 1, "4": 40})
    assert [(flag.topic.number, flag.topic.waiting) for flag in flags] == [("3", 0)]
    flags = flagged_topics(session, SLUG, to_come={"3": 5})
    assert [(flag.topic.number, flag.is_final) for flag in flags] == [("2", True), ("3", False), ("4", False)]


def test_flags_go_by_relevant_from_and_by_the_settled_grade(session: Session) -> None:
    flagged_news(session)
    collections.change_collection(session, SLUG, collections.CollectionChange(relevant_from=2))
    memory = SettledMemory()
    assert {flag.fault for flag in flagged_topics(session, SLUG, memory=memory)} == {Fault.FEW}
    collections.change_collection(session, SLUG, collections.CollectionChange(relevant_from=1))
    assert "3" in [flag.topic.number for flag in flagged_topics(session, SLUG, memory=memory)]
    # A tie is settled as the lower grade, so that two judges leave topic 3 three of the eight that one found.
    labels(session, "kim", "".join(f"3 0 d{index} 0\n" for index in range(5)))
    assert "3" not in [flag.topic.number for flag in flagged_topics(session, SLUG, memory=memory)]


def test_the_effect_of_dropping_is_the_leaderboard_without_them(session: Session) -> None:
    flagged_news(session)
    board = leaderboard.build_leaderboard(session, SLUG, ["P@2"])
    # P@2 of alpha (d0 d1): 1/2, 0, 1, 1/2; of beta (d9 d8): 1/2, 1, 0, 0.
    effect = leaderboard.effect_on_leaderboard(board, ["3", "4"])
    changes = {run.run: (run.with_them, run.without_them, run.place_with, run.place_without) for run in effect.runs}
    assert changes == {"alpha": (0.5, 0.25, 1, 2), "beta": (0.375, 0.75, 2, 1)}
    assert (effect.measure, effect.dropped, effect.topics_left, effect.tau) == ("P@2", ("3", "4"), 2, -1)
    topic_editing.drop_topics(session, SLUG, ["3", "4"], reason=REASON)
    after = leaderboard.build_leaderboard(session, SLUG, ["P@2"])
    assert {row.tag: row.values[0] for row in after.rows} == {"alpha": 0.25, "beta": 0.75}
    with pytest.raises(NotFoundError, match="not on the leaderboard"):
        leaderboard.effect_on_leaderboard(after, ["3"])
    with pytest.raises(ConflictError, match="none left"):
        leaderboard.effect_on_leaderboard(after, ["1", "2"])


def test_there_are_no_flags_before_judging(session: Session) -> None:
    news(session)
    assert flagged_topics(session, SLUG) == []
    topic_file(session)
    document_file(session, ["a"])
    run(session, "alpha", {"1": ["a"]})
    pool(session)
    assert flagged_topics(session, SLUG) == []
