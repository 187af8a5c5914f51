"""The tasks of a collection: what organisers say of them, and runs that are checked, stored and changed by task."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
import tasks as task_rows
from build import NOW, SLUG, member, news, run, run_text, topic_file
from sqlalchemy import event, select, update
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, ConflictError, FileRefusedError, InvalidValueError, NotFoundError
from annotator.evaluation.runs.checking_rules import read_rules
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import Collection, CollectionState, Database, Role, Round, TaskTopic, Topic
from annotator.storage.collections.audit import Actor
from annotator.storage.runs.runs import RunDetails
from annotator.storage.tables.collections import Door
from annotator.workflows.collections import rounds
from annotator.workflows.runs import run_rules, run_upload, runs, tasks, upload_review
from annotator.workflows.runs.file_checks import check_by_rules
from annotator.workflows.runs.run_upload import Submission
from annotator.workflows.runs.tasks import TaskFields

LIMIT = 1 << 20
RED = Sender("red", organises=False)
REPLACES = Sender("red", organises=False, replaces=True)
OLA = Sender(None, organises=True)
THREE = "1\tcats\n2\tdogs\n3\tbirds\n"


@pytest.fixture
def pat(database: Database) -> int:
    """A participant of the team red, where one task has topics 1 and 2, and another every topic."""
    with database.transaction() as session:
        news(session)
        topic_file(session, THREE)
        run(session, "before", {"1": ["a"], "2": ["b"]}, team="red")
        given = TaskFields("Documents", topics=("1", "2"), formats=("trec",), most_documents=2, most_runs=1)
        tasks.add_task(session, SLUG, "documents", given, at=NOW)
        tasks.add_task(session, SLUG, "all", TaskFields("All"), at=NOW)
        return member(session, "pat", Role.PARTICIPANT, team="red")


def ranked(tag: str, lists: Mapping[str, Sequence[str]] | None = None) -> InputFile:
    return InputFile(f"{tag}.txt", run_text(tag, lists or {"1": ["a"], "2": ["b"]}))


def send(
    database: Database, user: int, *given: InputFile, task: str | None = None, sender: Sender = RED
) -> dict[str, str | None]:
    """Send runs, and return the task of each."""
    done = run_upload.upload(
        database,
        SLUG,
        given,
        Submission(sender, RunDetails("red", task=task)),
        actor=Actor(Door.PAGE, "pat", user),
        at=NOW,
        noted_at=NOW,
        unpacked_limit=LIMIT,
    )
    return {one.tag: one.task for one in done.receipts}


def sentences(
    database: Database, user: int, *given: InputFile, task: str | None = None, sender: Sender = RED
) -> list[str]:
    """Why an upload is refused, as the review of its files says, too."""
    with database.reading() as session:
        submission = Submission(sender, RunDetails("red", task=task))
        review = upload_review.review_upload(session, SLUG, given, submission, unpacked_limit=LIMIT)
    with pytest.raises(FileRefusedError) as refused:
        send(database, user, *given, task=task, sender=sender)
    found = [str(problem) for problem in refused.value.problems]
    assert [str(problem) for problem in review.problems.by_file()] == found
    return found


def test_a_new_run_names_one_of_the_tasks(database: Database, pat: int) -> None:
    assert sentences(database, pat, ranked("r")) == ["r.txt: Name the task of this run. There are: documents, all."]
    [unknown] = sentences(database, pat, ranked("r"), task="dox")
    assert unknown == "r.txt: There is no task “dox”. There are: documents, all."
    assert send(database, pat, ranked("r"), task="all") == {"r": "all"}


def test_a_run_has_topics_of_its_task_alone_and_leaves_out_those_of_others_without_a_warning(
    database: Database, pat: int
) -> None:
    [wrong] = sentences(database, pat, ranked("r", {"1": ["a"], "3": ["b"]}), task="documents")
    assert wrong == "r.txt:2: The task documents has no topic 3."
    send(database, pat, ranked("r", {"1": ["a", "b", "c"]}), task="documents")
    with database.reading() as session:
        warnings = [str(one) for one in runs.show_run(session, SLUG, "r").warnings]
    assert warnings[0] == "Topics that the run leaves out: 1 of 2 (2)."
    assert "2" in warnings[1]  # the task takes 2 documents, and the list has 3
    assert len(warnings) == 2


def test_formats_are_those_of_the_task(database: Database, pat: int) -> None:
    table = InputFile("t.csv", b"qid,docno,score\n1,a,3\n2,b,2\n")
    [wrong] = sentences(database, pat, table, task="documents")
    assert wrong == "t.csv: The task documents takes runs in these formats: trec. This file was read as csv."
    assert send(database, pat, table, task="all") == {"t": "all"}


def test_a_team_has_a_number_of_runs_for_each_task(database: Database, pat: int) -> None:
    both = (ranked("r1"), ranked("r2"))
    [wrong] = sentences(database, pat, *both, task="documents")
    assert wrong == (
        "r2.txt: This would be active run 2 of your team for the task documents, and it may have 1. Withdraw runs of "
        "this task (1), replace runs with the same tags, or leave this one out."
    )
    # Neither the run from before the tasks nor those of another task count.
    assert len(send(database, pat, *both, task="all")) == 2
    send(database, pat, ranked("r3"), task="documents")
    assert len(sentences(database, pat, ranked("r4"), task="documents")) == 1
    organiser = Sender("red", organises=True)
    assert send(database, pat, ranked("r4"), task="documents", sender=organiser) == {"r4": "documents"}


def test_the_runs_of_a_closed_round_do_not_count(database: Database, pat: int) -> None:
    send(database, pat, ranked("r1"), task="documents")
    with database.transaction() as session:
        rounds.open_round(session, SLUG, at=NOW)
        session.execute(update(Round).values(closed_at=NOW))
        rounds.open_round(session, SLUG, at=NOW)
    assert send(database, pat, ranked("r2"), task="documents") == {"r2": "documents"}
    [wrong] = sentences(database, pat, ranked("r3"), task="documents")
    assert "for the task documents in this round, and it may have 1" in wrong


def test_a_withdrawn_run_comes_back_while_its_task_has_room(database: Database, pat: int) -> None:
    send(database, pat, ranked("r1"), task="documents")
    send(database, pat, ranked("other"), task="all")
    with database.transaction() as session:
        runs.withdraw_run(session, SLUG, "r1", at=NOW, by_id=pat, team="red")
    send(database, pat, ranked("r2"), task="documents")
    with (
        pytest.raises(ConflictError, match="has 1 active runs for the task documents"),
        database.transaction() as session,
    ):
        runs.restore_run(session, SLUG, "r1", at=NOW, by_id=pat, team="red")
    with database.transaction() as session:
        runs.withdraw_run(session, SLUG, "r2", at=NOW, by_id=pat, team="red")
        runs.restore_run(session, SLUG, "r1", at=NOW, by_id=pat, team="red")


def test_a_file_that_replaces_a_run_is_of_its_task(database: Database, pat: int) -> None:
    send(database, pat, ranked("r"), task="documents")
    newer = ranked("r", {"1": ["c"], "2": ["b"]})
    [wrong] = sentences(database, pat, newer, task="all", sender=REPLACES)
    assert wrong == (
        "r.txt: The run r is of the task documents, and so is a file that replaces it. Do not send it to the task all."
    )
    assert send(database, pat, newer, sender=REPLACES) == {"r": "documents"}
    assert len(sentences(database, pat, ranked("r", {"3": ["c"]}), sender=REPLACES)) == 1


def test_a_run_from_before_the_tasks_is_replaced_without_one_or_gets_one(database: Database, pat: int) -> None:
    assert send(database, pat, ranked("before", {"3": ["c"]}), sender=REPLACES) == {"before": None}
    assert send(database, pat, ranked("before", {"1": ["c"]}), task="documents", sender=REPLACES) == {
        "before": "documents"
    }


def test_after_the_release_of_scores_no_file_gives_a_run_its_task(database: Database, pat: int) -> None:
    with database.transaction() as session:
        session.execute(update(Collection).values(scores_released_at=NOW))
    newer = ranked("before", {"1": ["c"]})
    for sender in (REPLACES, replace(OLA, replaces=True)):
        [wrong] = sentences(database, pat, newer, task="documents", sender=sender)
        assert "Scores are released, and would change if this file gave the run before the task documents" in wrong
        instead = "give the run before the task documents on its page first." if sender.organises else "Send it without"
        assert instead in wrong
        [unknown] = sentences(database, pat, newer, task="none", sender=sender)
        assert "There is no task “none”." in unknown
        with database.reading() as session:
            rules = read_rules(json.dumps(run_rules.rules_document(session, SLUG, sender)))
        checked = check_by_rules([newer], rules, task="documents", replaces=True, unpacked_limit=LIMIT)
        assert [str(problem) for problem in checked.problems.by_file()] == [wrong]
    assert send(database, pat, newer, sender=REPLACES) == {"before": None}
    with database.transaction() as session:
        runs.change_run(session, SLUG, "before", details=RunDetails(task="documents"), at=NOW)
    another = ranked("before", {"1": ["d"]})
    assert send(database, pat, another, task="documents", sender=REPLACES) == {"before": "documents"}


def test_a_run_from_before_the_tasks_counts_for_the_task_that_a_newer_file_gives_it(
    database: Database, pat: int
) -> None:
    send(database, pat, ranked("r"), task="documents")
    newer = ranked("before", {"1": ["c"]})
    [wrong] = sentences(database, pat, newer, task="documents", sender=REPLACES)
    assert "active run 2 of your team for the task documents, and it may have 1" in wrong
    assert send(database, pat, newer, task="all", sender=REPLACES) == {"before": "all"}
    # A file that replaces a run of the task is no further one.
    assert send(database, pat, ranked("r", {"1": ["c"]}), task="documents", sender=REPLACES) == {"r": "documents"}


def test_two_files_give_runs_from_before_no_more_room_than_the_task_has(database: Database, pat: int) -> None:
    with database.transaction() as session:
        task_rows.run(session, "earlier", {"1": ["a"]}, team="red")
    both = ranked("before", {"1": ["c"]}), ranked("earlier", {"1": ["d"]})
    [wrong] = sentences(database, pat, *both, task="documents", sender=REPLACES)
    assert wrong.startswith("earlier.txt: This would be active run 2")


def test_a_run_from_before_the_tasks_comes_back_whatever_runs_of_tasks_there_are(database: Database, pat: int) -> None:
    send(database, pat, ranked("r1"), ranked("r2"), task="all")
    with database.transaction() as session:
        session.execute(update(Collection).values(most_runs=1))
        runs.withdraw_run(session, SLUG, "before", at=NOW, by_id=pat, team="red")
        runs.restore_run(session, SLUG, "before", at=NOW, by_id=pat, team="red")
        runs.withdraw_run(session, SLUG, "before", at=NOW, by_id=pat, team="red")
        task_rows.run(session, "earlier", {"1": ["a"]}, team="red")
        with pytest.raises(ConflictError, match="has an active run and may have no other"):
            runs.restore_run(session, SLUG, "before", at=NOW, by_id=pat, team="red")


def test_an_organiser_gives_a_run_from_before_the_task_that_has_all_its_topics(database: Database, pat: int) -> None:
    send(database, pat, ranked("r", {"3": ["c"]}), task="all")
    with database.transaction() as session:
        runs.change_run(session, SLUG, "before", details=RunDetails(task="documents"), at=NOW)
        assert runs.show_run(session, SLUG, "before").row.task == "documents"
        with pytest.raises(ConflictError, match="“r” has lists for topics that the task “documents” does not have: 3"):
            runs.change_run(session, SLUG, "r", details=RunDetails(task="documents"), at=NOW)
        with pytest.raises(NotFoundError, match="There are: documents, all"):
            runs.change_run(session, SLUG, "r", details=RunDetails(task="dox"), at=NOW)
        # A participant changes other details.
        runs.change_run(session, SLUG, "before", details=RunDetails(task="all"), at=NOW, by_id=pat, team="red")
        assert runs.show_run(session, SLUG, "before").row.task == "documents"


def test_a_run_that_gets_a_task_is_warned_of_topics_of_the_task_that_it_leaves_out(session: Session) -> None:
    news(session)
    topic_file(session, THREE)
    run(session, "a-tag-of-more-than-20-characters", {"1": ["a"]})
    for key, topics in (("one", ("1",)), ("two", ("1", "2"))):
        tasks.add_task(session, SLUG, key, TaskFields(key, topics=topics), at=NOW)

    def warnings_in(task: str) -> list[str]:
        tag = "a-tag-of-more-than-20-characters"
        runs.change_run(session, SLUG, tag, details=RunDetails(task=task), at=NOW)
        return [str(one) for one in runs.show_run(session, SLUG, tag).warnings]

    [of_tag] = warnings_in("one")
    assert of_tag.startswith("The tag a-tag-of-more-than-20-characters is 32 characters long")
    left_out = "Topics that the run leaves out: 1 of 2 (2)."
    assert sorted(warnings_in("two")) == sorted([of_tag, left_out])
    assert sorted(warnings_in("two")) == sorted([of_tag, left_out])


def test_a_warning_on_topics_stays_in_its_place(session: Session) -> None:
    news(session)
    topic_file(session, THREE)
    run(session, "a-tag-of-more-than-20-characters", {"1": ["a"]})
    tasks.add_task(session, SLUG, "two", TaskFields("two", topics=("1", "2")), at=NOW)
    before = [one.template for one in runs.show_run(session, SLUG, "a-tag-of-more-than-20-characters").warnings]
    runs.change_run(session, SLUG, "a-tag-of-more-than-20-characters", details=RunDetails(task="two"), at=NOW)
    after = runs.show_run(session, SLUG, "a-tag-of-more-than-20-characters").warnings
    assert [one.template for one in after] == before
    assert (after[1].values["count"], after[1].values["total"]) == (1, 2)


def test_tasks_are_listed_by_as_many_queries_whatever_their_number(session: Session) -> None:
    news(session)
    topic_file(session, THREE)

    def queries() -> int:
        done: list[object] = []

        def note(*given: object) -> None:
            done.append(given)

        session.flush()
        engine = session.get_bind()
        event.listen(engine, "before_cursor_execute", note)
        tasks.list_tasks(session, SLUG)
        event.remove(engine, "before_cursor_execute", note)
        return len(done)

    tasks.add_task(session, SLUG, "one", TaskFields("One", topics=("1",)), at=NOW)
    few = queries()
    for key in ("two", "three"):
        tasks.add_task(session, SLUG, key, TaskFields(key, topics=("1", "2")), at=NOW)
    assert queries() == few


def test_metadata_names_the_task_of_each_run(database: Database, pat: int) -> None:
    table = InputFile("m.csv", b"tag,task\nr1,documents\nr2,all\n")
    given = (ranked("r1"), ranked("r2", {"3": ["c"]}), table)
    assert send(database, pat, *given) == {"r1": "documents", "r2": "all"}


def test_numbers_of_topics_are_separated_by_blanks_and_line_ends_alone() -> None:
    assert tasks.read_topic_numbers("4,5 7\r\n8\n\n4,5\t9") == ("4,5", "7", "8", "9")


CHANGES: Mapping[str, Callable[[Session], object]] = {
    "removed": lambda session: tasks.remove_task(session, SLUG, "documents"),
    "smaller": lambda session: tasks.change_task(session, SLUG, "documents", {"topics": ("1",)}),
    "format": lambda session: tasks.change_task(session, SLUG, "documents", {"formats": ("csv",)}),
    "full": lambda session: run_upload.store_runs(
        session,
        SLUG,
        run_upload.check_each_run(
            session,
            SLUG,
            [ranked("first")],
            sender=RED,
            unpacked_limit=LIMIT,
            shared=RunDetails("red", task="documents"),
        ).runs,
        details=RunDetails("red"),
        uploaded_by_id=None,
        uploaded_at=NOW,
    ),
}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ("removed", "There is no task “documents”"),
        ("smaller", "The task documents does not have the topic 2 any more"),
        ("format", "The task documents takes runs in these formats: csv"),
        ("full", "for the task documents, and it may have 1"),
    ],
)
def test_what_changes_between_the_check_and_the_storing_is_found(
    database: Database, pat: int, change: str, wrong: str
) -> None:
    del pat
    with database.transaction() as session:
        checked = run_upload.check_each_run(
            session,
            SLUG,
            [ranked("r")],
            sender=RED,
            unpacked_limit=LIMIT,
            shared=RunDetails("red", task="documents"),
        )
        CHANGES[change](session)
        with pytest.raises(FileRefusedError) as refused:
            run_upload.store_runs(
                session, SLUG, checked.runs, details=RunDetails("red"), uploaded_by_id=None, uploaded_at=NOW
            )
    assert wrong in str(refused.value.problems[0])


def test_a_run_from_before_the_tasks_that_is_replaced_finds_under_the_lock_that_the_task_is_full(
    database: Database, pat: int
) -> None:
    del pat
    with database.transaction() as session:
        checked = run_upload.check_each_run(
            session,
            SLUG,
            [ranked("before", {"1": ["c"]})],
            sender=REPLACES,
            unpacked_limit=LIMIT,
            shared=RunDetails("red", task="documents"),
        )
        CHANGES["full"](session)
        with pytest.raises(FileRefusedError) as refused:
            run_upload.store_runs(
                session, SLUG, checked.runs, details=RunDetails("red"), uploaded_by_id=None, uploaded_at=NOW
            )
    assert "for the task documents, and it may have 1" in str(refused.value.problems[0])


def test_runs_that_were_checked_before_the_first_task_need_one(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        checked = run_upload.check_runs(session, SLUG, [ranked("r")], sender=OLA, unpacked_limit=LIMIT)
        tasks.add_task(session, SLUG, "all", TaskFields("All"), at=NOW)
        with pytest.raises(FileRefusedError) as refused:
            run_upload.store_runs(session, SLUG, checked, details=RunDetails(), uploaded_by_id=None, uploaded_at=NOW)
    assert "Name the task of this run. There are: all." in str(refused.value.problems[0])


def test_a_collection_without_tasks_refuses_one(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        checked = run_upload.check_each_run(
            session, SLUG, [ranked("r")], sender=OLA, unpacked_limit=LIMIT, shared=RunDetails(task="all")
        )
    assert [str(one.sentence) for one in checked.problems.by_file()] == [
        "There is no task “all”: this collection has no tasks."
    ]


def test_a_task_is_listed_with_its_topics_limits_and_runs(database: Database, pat: int) -> None:
    send(database, pat, ranked("r"), task="documents")
    send(database, pat, ranked("r", {"1": ["c"]}), sender=REPLACES)
    first, second = database.read(tasks.list_tasks, SLUG)
    assert (first.key, first.fields.topics, first.accepted) == ("documents", ("1", "2"), 2)
    assert (first.most_documents, first.most_runs, first.runs, first.files) == (2, 1, 1, 2)
    assert (second.fields.topics, second.accepted, second.most_documents, second.most_runs) == (None, 3, 1000, 0)
    assert database.read(tasks.topics_in_task, SLUG, "documents") == ["1", "2"]


def test_a_task_with_every_topic_has_those_that_come_later(database: Database, pat: int) -> None:
    del pat
    with database.transaction() as session:
        topic_file(session, "4\tfish\n")
    counts = {task.key: task.accepted for task in database.read(tasks.list_tasks, SLUG)}
    assert counts == {"documents": 2, "all": 4}


def test_a_topic_with_lists_of_runs_stays_in_its_task(database: Database, pat: int) -> None:
    send(database, pat, ranked("r"), task="documents")
    with database.transaction() as session:
        runs.withdraw_run(session, SLUG, "r", at=NOW, by_id=pat, team="red")
        with pytest.raises(ConflictError, match=r"included: 2 \(1\)\.$"):
            tasks.change_task(session, SLUG, "documents", {"topics": ("1", "3")})
        tasks.change_task(session, SLUG, "documents", {"topics": ("1", "2", "3")})
        tasks.change_task(session, SLUG, "documents", {"topics": None})
        tasks.change_task(session, SLUG, "documents", {"topics": ("2", "1"), "title": "Two"})
        view = tasks.show_task(session, SLUG, "documents")
    assert (view.fields.topics, view.title, view.most_documents) == (("1", "2"), "Two", 2)


def test_a_task_with_runs_is_not_removed(database: Database, pat: int) -> None:
    send(database, pat, ranked("r"), task="documents")
    with database.transaction() as session:
        runs.withdraw_run(session, SLUG, "r", at=NOW, by_id=pat, team="red")
        with pytest.raises(ConflictError, match="withdrawn and replaced ones included: 1"):
            tasks.remove_task(session, SLUG, "documents")
        tasks.remove_task(session, SLUG, "all")
        assert list(tasks.task_titles(session, SLUG)) == ["documents"]


def test_removing_a_task_removes_its_topics_from_it_alone(database: Database, pat: int) -> None:
    del pat
    with database.transaction() as session:
        tasks.remove_task(session, SLUG, "documents")
        assert session.scalars(select(TaskTopic.topic_id)).all() == []
        assert len(session.scalars(select(Topic.id)).all()) == 3


@pytest.mark.parametrize(
    ("key", "given", "error", "wrong"),
    [
        ("No", TaskFields("T"), InvalidValueError, "is no key of a task"),
        ("a" * 41, TaskFields("T"), InvalidValueError, "is no key of a task"),
        ("all", TaskFields("T"), ConflictError, "There is a task “all” already"),
        ("new", TaskFields(" "), InvalidValueError, "The title of a task has 1 to 200"),
        ("new", TaskFields("T" * 201), InvalidValueError, "The title of a task has 1 to 200"),
        ("new", TaskFields("T", "x" * 10_001), InvalidValueError, "is too long"),
        ("new", TaskFields("T", topics=()), InvalidValueError, "at least one topic"),
        ("new", TaskFields("T", topics=("1", "9", "8")), InvalidValueError, "no such topics: 9, 8"),
        ("new", TaskFields("T", formats=("pdf",)), InvalidValueError, "There is no format pdf of runs"),
        ("new", TaskFields("T", most_documents=0), InvalidValueError, "a number from 1 to"),
        ("new", TaskFields("T", most_runs=-1), InvalidValueError, "0 for no limit, not -1"),
    ],
)
def test_what_a_task_cannot_have_is_refused(
    database: Database, pat: int, key: str, given: TaskFields, error: type[AnnotatorError], wrong: str
) -> None:
    del pat
    with pytest.raises(error, match=wrong), database.transaction() as session:
        tasks.add_task(session, SLUG, key, given, at=NOW)
    assert len(database.read(tasks.list_tasks, SLUG)) == 2


def test_a_closed_collection_keeps_its_tasks(session: Session) -> None:
    news(session)
    topic_file(session)
    tasks.add_task(session, SLUG, "all", TaskFields("All"), at=NOW)
    session.scalars(select(Collection)).one().state = CollectionState.CLOSED
    changes: tuple[Callable[[], object], ...] = (
        lambda: tasks.add_task(session, SLUG, "new", TaskFields("New"), at=NOW),
        lambda: tasks.change_task(session, SLUG, "all", {"title": "New"}),
        lambda: tasks.remove_task(session, SLUG, "all"),
    )
    for change in changes:
        with pytest.raises(ConflictError, match="closed"):
            change()
