"""Sources of runs: a real local server is asked again, at an hour too, and what goes wrong is kept with the source."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unicodedata import normalize

import pytest
from build import NOW, SLUG, news, pool, run, topic_file, user
from kept import Kept
from local_server import HOST
from search_engines import MATCH, EngineServer, sending
from sqlalchemy import func, select, update
from tasks import move_runs

from annotator.errors import AnnotatorError, ConflictError, FileRefusedError, InvalidValueError, NotAllowedError
from annotator.errors import NotFoundError as Missing
from annotator.evaluation.runs.questionnaires import RunQuestion
from annotator.evaluation.runs.search_engines import Dialect, HitPaths, SearchEngine
from annotator.storage import (
    AuditEvent,
    Collection,
    Database,
    DeletedKind,
    FetchedRun,
    Job,
    JobState,
    Role,
    Run,
    RunSource,
    RunType,
    Topic,
)
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.bundles import LEFT_OUT
from annotator.storage.runs.run_sources import due_sources as due
from annotator.storage.runs.run_sources import has_due_source, note_problem
from annotator.storage.runs.runs import RunDetails
from annotator.storage.tables.collections import Door, Round
from annotator.workflows.collections import restoring
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.collections.deletions import delete_it
from annotator.workflows.collections.rounds import open_round
from annotator.workflows.people.erasure import forget_user
from annotator.workflows.people.members import add_member
from annotator.workflows.runs import (
    due_sources,
    engine_requests,
    questionnaires,
    run_fetching,
    run_sources,
    runs,
    tasks,
)
from annotator.workflows.runs.due_sources import next_at, queue_due
from annotator.workflows.runs.engine_requests import EngineAccess
from annotator.workflows.runs.run_fetching import FetchedRun as Fetched
from annotator.workflows.runs.run_sources import SourceSettings, SourceView, tag_of
from annotator.workflows.runs.submissions import Deadline, SubmissionChange, change_submissions
from annotator.workflows.runs.tasks import TaskFields

ACCESS = EngineAccess((HOST,))
BY_WORKER = Actor(Door.WORKER, "")
NAME = "bm25"
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_requests, "PAUSES", (0.0,))


@pytest.fixture
def started(database: Database, kept: Kept) -> Database:
    """A collection with two topics."""
    kept.fill(database, fill)
    return database


def fill(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session, "1\tfirst topic\n2\tsecond dogs\n")


def settings(server: EngineServer, tag: str = "bm25-{date}", **changes: object) -> SourceSettings:
    engine = SearchEngine(f"{server.site}/news/_search", MATCH, depth=3)
    return replace(SourceSettings(engine, tag), **changes)  # type: ignore[arg-type]


def save(database: Database, chosen: SourceSettings, *, name: str = NAME, is_new: bool = False) -> None:
    with database.transaction() as session:
        run_sources.set_source(session, SLUG, name, chosen, ACCESS, by_id=None, at=NOW, is_new=is_new)


def fetch(database: Database, *, at: datetime = NOW, by_itself: bool = False, access: EngineAccess = ACCESS) -> Fetched:
    return run_sources.fetch_from_source(
        database,
        SLUG,
        NAME,
        access,
        actor=BY_WORKER,
        at=at,
        noted_at=at,
        unpacked_limit=1 << 20,
        by_itself=by_itself,
    )


def source_of(database: Database) -> SourceView:
    return database.read(run_sources.show_source, SLUG, NAME)


def tags(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(Run.tag).where(Run.replaced_at.is_(None)).order_by(Run.id)))


def jobs(database: Database) -> list[JobState]:
    with database.reading() as session:
        return [JobState(state) for state in session.scalars(select(Job.state).order_by(Job.id))]


def test_a_source_is_shown_as_it_was_saved(started: Database, engine_server: EngineServer) -> None:
    details = RunDetails("blue", "BM25", RunType.AUTOMATIC, priority=2)
    engine = SearchEngine(
        f"{engine_server.site}/solr/news/select", "q={query}", Dialect.SOLR, HitPaths(docno="id"), 7, with_texts=True
    )
    saved = SourceSettings(engine, "b-{number}", details, hour=3)
    with started.transaction() as session:
        by_id = user(session, "ola")
        run_sources.set_source(session, SLUG, NAME, saved, ACCESS, by_id=by_id, at=NOW)
    shown = source_of(started)
    assert shown == SourceView(NAME, saved, 0, None, None, datetime(2026, 3, 2, 3, tzinfo=UTC), "ola", NOW)
    assert saved.noted == {"host": HOST, "dialect": "solr", "nightly": True}
    save(started, settings(engine_server))
    assert source_of(started).settings == settings(engine_server, details=RunDetails(None, None, None, priority=1))
    assert [one.name for one in started.read(run_sources.list_sources, SLUG)] == [NAME]


@pytest.mark.parametrize(
    ("template", "tag"),
    [("a", "a"), ("a-{date}", "a-2026-03-01"), ("{number}/{date}", "12/2026-03-01"), ("a{number}", "a12")],
)
def test_a_tag_has_the_day_in_utc_and_the_number(template: str, tag: str) -> None:
    assert tag_of(template, NOW, 12) == tag


def test_runs_of_a_source_have_their_own_tags(started: Database, engine_server: EngineServer) -> None:
    save(started, settings(engine_server, "bm25-{date}-{number}"))
    assert fetch(started).receipt.tag == "bm25-2026-03-01-1"
    assert fetch(started, at=NOW + DAY).receipt.tag == "bm25-2026-03-02-2"
    shown = source_of(started)
    assert (shown.fetched, shown.tried_at, shown.problem) == (2, NOW + DAY, None)
    with started.reading() as session:
        assert session.scalars(select(func.count()).select_from(FetchedRun)).one() == 2
        entries = session.scalars(select(AuditEvent).where(AuditEvent.action == "runs.import")).all()
        assert [(one.door, one.name, one.details["host"]) for one in entries] == [("worker", "", HOST)] * 2


def test_a_run_with_the_same_tag_is_a_new_version_of_it(started: Database, engine_server: EngineServer) -> None:
    save(started, settings(engine_server, "bm25"))
    assert fetch(started).receipt.version == 1
    # The same answers are no new version.
    with pytest.raises(FileRefusedError):
        fetch(started)
    assert str(source_of(started).problem) == "This file is stored already, as the run bm25."
    engine_server.documents["d5"] = "first first first dogs"
    assert fetch(started, at=NOW + HOUR).receipt.version == 2
    assert tags(started) == ["bm25"]
    assert (source_of(started).fetched, source_of(started).problem) == (2, None)


def test_a_run_of_the_source_is_recognised_in_the_other_form_of_its_letters(
    started: Database, engine_server: EngineServer
) -> None:
    decomposed = normalize("NFD", "뉴스-é")
    save(started, settings(engine_server, decomposed))
    assert fetch(started).receipt.tag == decomposed
    save(started, settings(engine_server, normalize("NFC", decomposed)))
    engine_server.documents["d5"] = "first first first dogs"
    assert fetch(started, at=NOW + HOUR).receipt.version == 2
    assert tags(started) == [decomposed]


def test_a_run_from_elsewhere_is_never_replaced(started: Database, engine_server: EngineServer) -> None:
    with started.transaction() as session:
        run(session, "bm25", {"1": ["a"]})
    save(started, settings(engine_server, "bm25"))
    with pytest.raises(ConflictError, match="The tag bm25 is taken by another run"):
        fetch(started)
    assert str(source_of(started).problem) == "The tag bm25 is taken by another run."
    assert engine_server.asked == []


def test_a_withdrawn_run_does_not_come_back_by_itself(started: Database, engine_server: EngineServer) -> None:
    save(started, settings(engine_server, "bm25"))
    fetch(started)
    with started.transaction() as session:
        runs.withdraw_run(session, SLUG, "bm25", by_id=None, at=NOW)
    with pytest.raises(ConflictError, match=r"The run bm25 of this source was withdrawn. Restore it, or change"):
        fetch(started)
    with started.transaction() as session:
        runs.restore_run(session, SLUG, "bm25", at=NOW)
    engine_server.documents["d5"] = "first first first dogs"
    assert fetch(started).receipt.version == 2


def test_a_run_of_a_closed_round_is_not_replaced(started: Database, engine_server: EngineServer) -> None:
    with started.transaction() as session:
        open_round(session, SLUG, name="first", at=NOW)
    save(started, settings(engine_server, "bm25"))
    fetch(started)
    with started.transaction() as session:
        session.execute(update(Round).values(closed_at=NOW))
    with pytest.raises(ConflictError, match=r"of a round that is closed. Change the tag"):
        fetch(started)
    save(started, settings(engine_server, "bm25-{number}"))
    with pytest.raises(ConflictError, match="Round 1 is closed and the next one is not open"):
        fetch(started)
    assert "Round 1 is closed" in str(source_of(started).problem)


def test_a_late_run_and_required_answers_are_no_hindrance(started: Database, engine_server: EngineServer) -> None:
    with started.transaction() as session:
        run(session, "alpha", {"1": ["d1"], "2": ["d2"]})
        pool(session)
        asked = [RunQuestion("model", "Which model?", required=True)]
        questionnaires.set_questionnaire(session, SLUG, asked, made_by_id=None, at=NOW)
    save(started, settings(engine_server))
    # As an organiser's upload: nothing must be answered, and its documents may be pooled later.
    assert not fetch(started).receipt.pooled
    assert source_of(started).problem is None


def test_a_failure_is_kept_with_its_sentence_until_a_run_comes(started: Database, engine_server: EngineServer) -> None:
    save(started, settings(engine_server))
    engine_server.always = sending(b"<html>")
    with pytest.raises(ConflictError):
        fetch(started)
    shown = source_of(started)
    assert (shown.fetched, shown.tried_at) == (0, NOW)
    assert str(shown.problem).endswith("nothing was stored: The engine answered HTML or XML, not JSON.")
    engine_server.always = None
    fetch(started, at=NOW + HOUR)
    assert source_of(started).problem is None


def test_of_a_refused_run_the_first_problem_is_shown(
    started: Database, engine_server: EngineServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(started, settings(engine_server))
    hits = engine_requests.ask_engine

    def drop_the_topic(*args: object, **options: object) -> object:
        found = hits(*args, **options)  # type: ignore[arg-type]
        with started.transaction() as session:
            session.execute(update(Topic).where(Topic.number == "2").values(number="9"))
        return found

    monkeypatch.setattr("annotator.workflows.runs.run_fetching.ask_engine", drop_the_topic)
    with pytest.raises(FileRefusedError):
        fetch(started)
    assert "2" in str(source_of(started).problem)
    assert "Problems found" not in str(source_of(started).problem)


def test_a_host_that_is_no_longer_allowed_is_refused_when_the_source_runs(
    started: Database, engine_server: EngineServer
) -> None:
    save(started, settings(engine_server))
    with pytest.raises(NotAllowedError):
        fetch(started, access=EngineAccess(()))
    assert "This server may not send to" in str(source_of(started).problem)
    assert engine_server.asked == []


def test_after_the_deadline_a_source_brings_nothing_by_itself(started: Database, engine_server: EngineServer) -> None:
    save(started, settings(engine_server))
    with started.transaction() as session:
        change_submissions(session, SLUG, SubmissionChange(Deadline(NOW)))
    with pytest.raises(ConflictError, match="The submission deadline has passed"):
        fetch(started, by_itself=True)
    assert "deadline" in str(source_of(started).problem)
    # As an upload of an organiser.
    assert fetch(started).receipt.tag == "bm25-2026-03-01"


def test_a_closed_collection_says_so(started: Database, engine_server: EngineServer) -> None:
    save(started, settings(engine_server))
    with started.transaction() as session:
        close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="is closed"):
        fetch(started)
    assert "is closed" in str(source_of(started).problem)
    with pytest.raises(ConflictError, match="is closed"):
        save(started, settings(engine_server))
    with pytest.raises(ConflictError, match="is closed"), started.transaction() as session:
        run_sources.remove_source(session, SLUG, NAME)


def test_a_source_that_is_removed_meanwhile_stores_nothing(
    started: Database, engine_server: EngineServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(started, settings(engine_server))
    hits = engine_requests.ask_engine

    def remove(*args: object, **options: object) -> object:
        found = hits(*args, **options)  # type: ignore[arg-type]
        with started.transaction() as session:
            run_sources.remove_source(session, SLUG, NAME)
        return found

    monkeypatch.setattr("annotator.workflows.runs.run_fetching.ask_engine", remove)
    with pytest.raises(Missing, match="The source was removed while its run was fetched"):
        fetch(started)
    assert tags(started) == []
    with started.transaction() as session:
        note_problem(session, 1, AnnotatorError("Too late.").sentence, at=NOW)


def test_a_removed_source_leaves_its_runs(started: Database, engine_server: EngineServer) -> None:
    save(started, settings(engine_server))
    fetch(started)
    with started.transaction() as session:
        run_sources.remove_source(session, SLUG, NAME)
    assert tags(started) == ["bm25-2026-03-01"]
    with pytest.raises(Missing, match="There is no source of runs “bm25”"):
        source_of(started)
    # The same name later is another source, to which the run does not belong.
    save(started, settings(engine_server))
    with pytest.raises(ConflictError, match="is taken by another run"):
        fetch(started)


@pytest.mark.parametrize(
    ("name", "changes", "sentence"),
    [
        ("", {}, "“” is no name of a source"),
        ("B M", {}, "is no name of a source"),
        ("a" * 65, {}, "is no name of a source"),
        (NAME, {"tag": ""}, "A source needs the tag of its runs."),
        (NAME, {"tag": "a-{day}"}, "no other braces than {date} and {number}"),
        (NAME, {"tag": "a b"}, "A tag has at most 128 printable characters"),
        (NAME, {"tag": "x" * 120 + "{date}"}, "A tag has at most 128 printable characters"),
        (NAME, {"hour": 24}, "An hour is a whole number from 0 to 23, not 24."),
        (NAME, {"engine": SearchEngine("http://127.0.0.1/_search", "none")}, "The template needs {query}"),
        (NAME, {"details": RunDetails(priority=1_000)}, "A priority is a number from 1"),
        (NAME, {"details": RunDetails(" blue")}, "A team's name has 1 to"),
    ],
)
def test_what_cannot_run_is_not_saved(
    started: Database, engine_server: EngineServer, name: str, changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InvalidValueError) as refused:
        save(started, replace(settings(engine_server), **changes), name=name)  # type: ignore[arg-type]
    assert sentence in str(refused.value)
    assert started.read(run_sources.list_sources, SLUG) == []


def test_a_host_that_is_not_allowed_is_not_saved(started: Database, engine_server: EngineServer) -> None:
    engine = SearchEngine("https://other.org/_search", MATCH)
    with pytest.raises(NotAllowedError, match=r"may not send to “other.org”"):
        save(started, settings(engine_server, engine=engine))


def test_a_new_source_has_a_new_name_and_there_are_not_too_many(
    started: Database, engine_server: EngineServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(started, settings(engine_server), is_new=True)
    with pytest.raises(ConflictError, match="There is a source “bm25” already"):
        save(started, settings(engine_server), is_new=True)
    monkeypatch.setattr(run_sources, "MOST_SOURCES", 1)
    with pytest.raises(ConflictError, match="at most 1 sources of runs"):
        save(started, settings(engine_server), name="other")


def test_the_next_night_is_the_next_time_of_the_hour() -> None:
    assert next_at(9, NOW) == NOW + DAY  # it is nine
    assert next_at(10, NOW) == NOW + HOUR
    assert next_at(8, NOW) == NOW + DAY - HOUR


def test_each_night_there_is_one_job_and_missed_nights_are_one(started: Database, engine_server: EngineServer) -> None:
    save(started, settings(engine_server, hour=10))
    queue_due(started, now=NOW)
    assert jobs(started) == []
    late = NOW + 5 * DAY + HOUR
    queue_due(started, now=late)
    queue_due(started, now=late)
    assert jobs(started) == [JobState.WAITING]
    assert source_of(started).next_at == NOW + 6 * DAY + HOUR
    # While it has not finished there is no further one, and after a failure the next night comes.
    queue_due(started, now=late + DAY)
    assert jobs(started) == [JobState.WAITING]
    with started.transaction() as session:
        job = session.scalars(select(Job)).one()
        assert (job.asked_by_id, job.kind, job.parameters["source"]) == (None, due_sources.KIND, NAME)
        job.state = JobState.FAILED
    queue_due(started, now=late + 2 * DAY)
    assert jobs(started) == [JobState.FAILED, JobState.WAITING]


def test_two_workers_queue_a_night_once(started: Database, engine_server: EngineServer) -> None:
    save(started, settings(engine_server, hour=10))
    late = NOW + 2 * HOUR
    with started.reading() as session:
        assert has_due_source(session, late)
    queue_due(started, now=late)
    # The second one has looked before the first one stored, too.
    with started.transaction() as session:
        assert due(session, late) == []


def test_a_source_without_an_hour_and_one_of_a_deleted_collection_are_never_due(
    started: Database, engine_server: EngineServer
) -> None:
    save(started, settings(engine_server, hour=10))
    with started.transaction() as session:
        delete_it(session, SLUG, DeletedKind.COLLECTION, [], typed=SLUG, actor=BY_WORKER, at=NOW)
    queue_due(started, now=NOW + DAY)
    assert jobs(started) == []
    with started.transaction() as session:
        restoring.begin_removal(session, before=NOW + DAY, at=NOW + DAY)
    restoring.finish_removals(started)
    with started.reading() as session:
        assert session.scalars(select(func.count()).select_from(RunSource)).one() == 0


def test_the_account_that_saved_a_source_may_be_erased(started: Database, engine_server: EngineServer) -> None:
    with started.transaction() as session:
        by_id = user(session, "ola")
        for name in ("ola", "kim"):
            if name == "kim":
                user(session, name)
            add_member(session, SLUG, name, Role.ORGANISER, added_at=NOW)
        run_sources.set_source(session, SLUG, NAME, settings(engine_server, hour=10), ACCESS, by_id=by_id, at=NOW)
        forget_user(session, "ola")
    assert source_of(started).set_by != "ola"
    queue_due(started, now=NOW + DAY)
    assert jobs(started) == [JobState.WAITING]
    assert fetch(started, by_itself=True).receipt.uploaded_by is None


def test_an_archive_has_the_runs_and_not_their_source() -> None:
    assert {"run_source", "fetched_run"} <= LEFT_OUT.keys()


def add_task(database: Database, key: str, given: TaskFields) -> None:
    with database.transaction() as session:
        tasks.add_task(session, SLUG, key, given, at=NOW)


def of_task(key: str) -> RunDetails:
    return RunDetails(task=key)


def test_a_source_stops_at_the_first_task_until_it_has_one(started: Database, engine_server: EngineServer) -> None:
    save(started, settings(engine_server, hour=3))
    add_task(started, "all", TaskFields("All"))
    sentence = "This collection has tasks, and this source has none: it brings no run until you choose its task."
    with pytest.raises(ConflictError, match=sentence):
        fetch(started, by_itself=True)
    assert (str(source_of(started).problem), str(source_of(started).refusal)) == (sentence, sentence)
    for name in (NAME, "new"):
        with pytest.raises(InvalidValueError, match=r"Name the task of this source\. There are: all"):
            save(started, settings(engine_server), name=name)
    with pytest.raises(Missing, match=r"There is no task “other”\. There are: all"):
        save(started, settings(engine_server, details=of_task("other")))
    save(started, settings(engine_server, hour=3, details=of_task("all")))
    assert (source_of(started).refusal, source_of(started).settings.details.task) == (None, "all")
    assert fetch(started, by_itself=True).receipt.task == "all"


def test_after_the_release_the_run_of_a_source_gets_its_task_on_its_page_first(
    started: Database, engine_server: EngineServer
) -> None:
    save(started, settings(engine_server, "bm25"))
    fetch(started)
    add_task(started, "all", TaskFields("All"))
    save(started, settings(engine_server, "bm25", details=of_task("all")))
    with started.transaction() as session:
        session.execute(update(Collection).values(scores_released_at=NOW))
    engine_server.documents["d5"] = "first first first dogs"
    with pytest.raises(InvalidValueError, match="give the run bm25 the task all on its page first"):
        fetch(started)
    with started.transaction() as session:
        move_runs(session, "all", ["bm25"])
    assert fetch(started).receipt.task == "all"


def test_a_source_asks_for_the_topics_of_its_task_and_obeys_its_rules(
    started: Database, engine_server: EngineServer
) -> None:
    add_task(started, "one", TaskFields("One", topics=("2",)))
    save(started, settings(engine_server, "bm25-{number}", details=of_task("one")))
    done = fetch(started)
    assert (done.topics, done.receipt.task) == (1, "one")
    assert len(engine_server.asked) == 1
    with started.transaction() as session:
        tasks.change_task(session, SLUG, "one", {"most_documents": 1})
    assert "more than 1 document" in " ".join(map(str, fetch(started).run.warnings))
    with started.transaction() as session:
        tasks.change_task(session, SLUG, "one", {"most_documents": None, "formats": ("csv",)})
    with pytest.raises(FileRefusedError):
        fetch(started)
    assert "The task one takes runs in these formats: csv" in str(source_of(started).problem)
    assert tags(started) == ["bm25-1", "bm25-2"]


def test_a_source_whose_task_was_removed_brings_nothing_until_it_is_saved_again(
    started: Database, engine_server: EngineServer
) -> None:
    add_task(started, "one", TaskFields("One", topics=("2",)))
    add_task(started, "all", TaskFields("All"))
    save(started, settings(engine_server, details=of_task("one")))
    assert started.read(run_sources.sources_of_task, SLUG, "one") == [NAME]
    with started.transaction() as session:
        tasks.remove_task(session, SLUG, "one")
    with pytest.raises(ConflictError, match=r"The task “one” of this source was removed: .* choose another task\."):
        fetch(started)
    with started.transaction() as session:
        tasks.remove_task(session, SLUG, "all")
    with pytest.raises(ConflictError, match="as were all others: it brings no run until you save it again, without a"):
        fetch(started)
    assert engine_server.asked == []
    save(started, settings(engine_server))
    assert (fetch(started).topics, source_of(started).refusal) == (2, None)


def test_a_task_that_is_removed_while_its_run_is_fetched_gets_none(
    started: Database, engine_server: EngineServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_task(started, "one", TaskFields("One", topics=("2",)))
    add_task(started, "all", TaskFields("All"))
    save(started, settings(engine_server, details=of_task("one")))

    hits = engine_requests.ask_engine

    def remove(*args: object, **options: object) -> object:
        with started.transaction() as session:
            tasks.remove_task(session, SLUG, "one")
        return hits(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(run_fetching, "ask_engine", remove)
    with pytest.raises(FileRefusedError):
        fetch(started)
    assert "There is no task “one”" in str(source_of(started).problem)
    assert tags(started) == []
