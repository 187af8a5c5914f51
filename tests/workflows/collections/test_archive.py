"""The archive of a collection: what is imported is what was exported, whole or not at all; and next year's."""

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from copy import copy
from datetime import timedelta
from pathlib import Path

import pytest
from build import NOW, SLUG, build, labels, member, pooled_news, run
from clicking import log_text, stored_log
from kept import Kept
from sqlalchemy import func, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from annotator.errors import AnnotatorError, FileRefusedError
from annotator.evaluation.qrels.machine_labels import pack_labels
from annotator.evaluation.runs.questionnaires import AnswerKind, RunQuestion
from annotator.files import InputFile
from annotator.settings import sqlite_url
from annotator.storage import (
    Assignment,
    Base,
    Collection,
    Database,
    Document,
    Evidence,
    FactColumn,
    Judgement,
    MachineLabels,
    Membership,
    Pool,
    PoolItem,
    QualifyingAnswer,
    QualifyingItem,
    Question,
    QuestionnaireVersion,
    QuickLook,
    Role,
    Run,
    RunFact,
    SelectionEvent,
    Task,
    TaskTopic,
    Topic,
    TopicMark,
    TopicNote,
    User,
)
from annotator.storage.collections.bundles import LEFT_OUT, TABLES, part_of
from annotator.storage.collections.checking import examine
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.run_tops import check_tops
from annotator.storage.tables.collections import CollectionKind
from annotator.workflows.agreement import agreement
from annotator.workflows.collections import announcements, collection, rounds
from annotator.workflows.collections.announcements import NewAnnouncement
from annotator.workflows.collections.archive_export import QRELS, Archiving, write_archive
from annotator.workflows.collections.archive_import import ImportedCollection, import_archive, open_archive
from annotator.workflows.collections.collection import CollectionChange, change_collection, show_collection
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.documents import docno_lists, search
from annotator.workflows.judging import questions
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.qrels.stopping_decisions import decide_topic
from annotator.workflows.runs import questionnaires, submissions, team_questions
from annotator.workflows.runs.submissions import SubmissionChange, change_submissions

ARCHIVING = Archiving(NOW, "0.1.0")
LIMIT = 1 << 24


@pytest.fixture
def filled(database: Database, kept: Kept) -> Database:
    """A collection with something in every table."""
    kept.fill(database, fill_database)
    return database


def fill_database(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session, judgements_wanted=2)
        fill(session)


@pytest.fixture(scope="module")
def whole(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The archive of the same collection."""
    path = tmp_path_factory.mktemp("archive") / "whole.sqlite"
    shutil.copy(sqlite_template, path)
    database = Database(sqlite_url(path))
    with database.transaction() as session:
        pooled_news(session, judgements_wanted=2)
        fill(session)
    content = archive(database)
    database.close()
    return content


@pytest.fixture(scope="module")
def other_site(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """The database object behind `elsewhere`, which compiles each statement once."""
    return Database(sqlite_url(tmp_path_factory.mktemp("elsewhere") / "elsewhere.sqlite"))


@pytest.fixture
def elsewhere(sqlite_template: Path, other_site: Database) -> Iterator[Database]:
    """Another site, with nothing in it."""
    path = Path(str(other_site.engine.url.database))
    for leftover in path.parent.iterdir():
        leftover.unlink()
    shutil.copy(sqlite_template, path)
    database = copy(other_site)
    yield database
    database.close()


def fill(session: Session) -> None:
    ola, jo = member(session, "ola", Role.ORGANISER), member(session, "jo", Role.JUDGE)
    member(session, "pat", Role.PARTICIPANT, team="red")
    run(session, "gamma", {"1": ["e", "b"], "2": ["notext"]}, team="red")
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 c 1\n")
    labels(session, "jo", "1 0 a 1\n2 0 a 1\n", name="again.txt")  # a takes the place of what was said first
    labels(session, "kim", "1 0 a 1\n1 0 b 1\n1 0 d 2\n")
    change_submissions(session, SLUG, SubmissionChange(tag_start="{team}-", plain_tags=True, most_runs=9))
    shared = SubmissionChange(corpus="The news, by FTP.", shares_docnos=True, shares_qrels=True)
    change_submissions(session, SLUG, shared)
    collection.set_guidelines(session, SLUG, "# Rules", made_by_id=ola, made_at=NOW)
    build(session, PoolRequest("stratified", {"strata": "1-2:1,3-9:0.5"}))
    decide_topic(session, SLUG, "2", stops=True, reason="few are left", rule="knee", by_id=ola, at=NOW)
    change_collection(session, SLUG, CollectionChange(consensus_policy="judge:jo"))
    made = qrels.export_qrels(session, SLUG, made_at=NOW)
    version = qrels_versions.keep_qrels(session, SLUG, made, made_by_id=ola, made_at=NOW)
    rounds.close_round(session, SLUG, version=version, at=NOW)
    submissions.release_scores(session, SLUG, at=NOW, qrels=str(version), early=True)
    stored_log(session, log_text(users=4))
    asked = [RunQuestion("contact", "Whom do we ask?", AnswerKind.EMAIL), RunQuestion("manual", "Was it manual?")]
    questionnaires.set_questionnaire(session, SLUG, asked, made_by_id=ola, at=NOW)
    told = {"contact": "pat@example.org", "manual": "no"}
    questionnaires.change_answers(session, SLUG, "alpha", told, at=NOW, by_id=ola)
    docnos = docno_lists.read_docnos([InputFile("ids.txt", b"a\nb\n")], unpacked_limit=LIMIT)
    docno_lists.import_docnos(session, SLUG, docnos, files=["ids.txt"], at=NOW)
    topic, document = one(session, Topic.id), one(session, Document.id)
    item = one(session, PoolItem.id)
    judgement = one(session, Judgement.id)
    qualifying = QualifyingItem(topic_id=topic, document_id=document, position=1, known_grade=1, explanation="so")
    qualifying.collection_id = one(session, Collection.id)
    packed = pack_labels([document], [1], confidences=[0.25], probabilities=[[0.25, 0.75]], outside={document + 1: "?"})
    session.add_all(
        [
            qualifying,
            MachineLabels(topic_id=topic, judge_id=jo, labelled_at=NOW, **packed._asdict()),
            Evidence(judgement_id=judgement, start=0, end=4, text="Text"),
            TopicNote(topic_id=topic, judge_id=jo, text="고양이도", changed_at=NOW),
            TopicMark(topic_id=topic, judge_id=jo, words="cats", position=1),
            FactColumn(
                collection_id=qualifying.collection_id, key="price", name="Price", kind="number", unit="EUR",
                better="less", added_at=NOW,
            ),
            RunFact(run_id=one(session, Run.id), fact="price", detail="", number=12.5, words="", stated_at=NOW),
            RunFact(run_id=one(session, Run.id), fact="hardware", detail="", words="8 cores", stated_at=NOW),
            Task(
                collection_id=qualifying.collection_id, key="passages", title="Passages, asks kim", every_topic=False,
                run_formats=["trec"], most_runs=3, added_at=NOW,
            ),
            QuickLook(topic_id=topic, document_id=document, looks_relevant=True, looked_by_id=ola, looked_at=NOW),
            Question(
                collection_id=qualifying.collection_id, topic_id=topic, asked_by_id=jo, client_id="q1", text="?",
                asked_at=NOW,
            ),
            SelectionEvent(
                pool_id=one(session, Pool.id), topic_id=topic, step=1, pool_item_id=item, seen_judgement_id=judgement,
                reason={"mean": 0.5}, chosen_at=NOW,
            ),
        ]
    )  # fmt: skip
    session.flush()
    session.add(TaskTopic(task_id=one(session, Task.id), topic_id=topic))
    session.execute(update(Run).where(Run.tag == "alpha").values(task_id=one(session, Task.id)))
    session.execute(update(QuestionnaireVersion).values(task_id=one(session, Task.id)))
    questions.answer(session, SLUG, one(session, Question.id), "!", answered_by_id=ola, answered_at=NOW, public=True)
    new = NewAnnouncement("Topics", "They are final, says kim.")
    announcements.announce(session, SLUG, new, published_by_id=ola, published_at=NOW)
    session.add(QualifyingAnswer(qualifying_item_id=qualifying.id, judge_id=jo, attempt=1, grade=1, answered_at=NOW))
    # Of two documents with the same text the first refers to the second, which is stored after it.
    items = session.scalars(select(PoolItem).order_by(PoolItem.id)).all()
    items[0].duplicate_of_id = items[1].id


def one(session: Session, column: InstrumentedAttribute[int]) -> int:
    """The least id there is."""
    return session.scalars(select(func.min(column))).one()


def archive(database: Database, slug: str = SLUG, archiving: Archiving = ARCHIVING) -> bytes:
    with database.reading() as session:
        stream = io.BytesIO()
        made = qrels.export_qrels(session, slug, made_at=NOW).qrels
        write_archive(session, slug, stream, archiving, extras={QRELS: made})
    return stream.getvalue()


def stored(database: Database, content: bytes, slug: str | None = None) -> ImportedCollection:
    with open_archive("news.zip", io.BytesIO(content), limit=LIMIT) as bundle:
        return import_archive(database, bundle, slug=slug, at=NOW)


def parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as bundle:
        return {name: bundle.read(name) for name in bundle.namelist()}


def results(database: Database, slug: str) -> tuple[object, ...]:
    """What somebody reads of a collection: qrels, scores, agreement."""
    with database.reading() as session:
        made = qrels.export_qrels(session, slug, made_at=NOW)
        board = leaderboard.build_leaderboard(session, slug, ["AP", "nDCG@10"])
        agreed = agreement.agreement_report(session, slug)
    scores = [(row.tag, row.values) for row in board.rows]
    return hashlib.sha256(made.qrels).hexdigest(), scores, agreed.all, agreed.interval


def test_every_table_is_in_the_archive_or_named_with_the_reason() -> None:
    assert {table.name for table in TABLES} | {"collection", *LEFT_OUT} == set(Base.metadata.tables)


def test_the_collection_of_these_tests_has_something_in_every_part(filled: Database) -> None:
    content = parts(archive(filled))
    assert [table.name for table in TABLES if part_of(table) in content and not content[part_of(table)]] == []
    assert json.loads(content["manifest.json"])["lines"]["judgements.jsonl"] == 8


def test_what_was_imported_elsewhere_gives_the_same_results_and_the_same_archive(
    filled: Database, elsewhere: Database
) -> None:
    content = archive(filled)
    done = stored(elsewhere, content)
    assert (done.slug, done.known, set(done.made)) == (SLUG, (), {"ola", "jo", "kim", "pat"})
    assert results(elsewhere, SLUG) == results(filled, SLUG)
    assert examine(elsewhere, further=[check_tops]).wrong == []
    again = archive(elsewhere)
    assert {name: part for name, part in parts(again).items() if name != "manifest.json"} == {
        name: part for name, part in parts(content).items() if name != "manifest.json"
    }


def test_a_collection_is_imported_beside_itself_under_another_name(filled: Database) -> None:
    done = stored(filled, archive(filled), "again")
    assert (done.made, set(done.known)) == ((), {"ola", "jo", "kim", "pat"})
    assert results(filled, "again") == results(filled, SLUG)
    assert examine(filled, further=[check_tops]).wrong == []
    with filled.reading() as session:
        assert search.find_documents(session, "again", "text").total == 5
        ids = session.scalars(select(Judgement.client_id)).all()
    assert len(set(ids)) == len(ids) == 16
    with pytest.raises(AnnotatorError, match="There is a collection “news” already"):
        stored(filled, archive(filled))


def test_pseudonyms_tell_nobodys_name_and_give_the_same_results(filled: Database) -> None:
    content = archive(filled, archiving=Archiving(NOW, "0.1.0", "abc123"))
    told = b"\n".join(part for name, part in parts(content).items() if not name.startswith(("runs/", "README")))
    for name in ("ola", "jo", "kim", "pat"):
        assert f'"{name}"'.encode() not in told
        assert f"judge:{name}".encode() not in told
    assert "audit.jsonl" not in parts(content)
    assert b"pat@example.org" in parts(archive(filled))["run_answers.jsonl"]
    answers = [json.loads(line) for line in parts(content)["run_answers.jsonl"].splitlines()]
    assert [one["answer"] for one in answers] == ["no"]
    done = stored(filled, content, "nameless")
    assert done.known == ()
    assert all(name.endswith("-abc123") for name in done.made)
    assert results(filled, "nameless")[:2] == results(filled, SLUG)[:2]
    # They are nobody here, also when the same archive comes again.
    assert len(stored(filled, content, "twice").made) == 4


def test_what_a_team_asked_the_organisers_alone_is_in_no_archive_with_pseudonyms(filled: Database) -> None:
    with filled.transaction() as session:
        pat = session.scalars(select(User.id).where(User.name == "pat")).one()
        for number, text in enumerate(("Our secret trick?", "Do ties count?")):
            team_questions.ask(session, SLUG, pat, text, client_id=f"t{number}", asked_at=NOW)
            session.flush()
            asked = session.scalars(select(func.max(Question.id))).one()
            questions.answer(session, SLUG, asked, "No.", answered_by_id=None, answered_at=NOW, public=number == 1)
    named, nameless = (archive(filled, archiving=Archiving(NOW, "0.1.0", secret)) for secret in (None, "abc123"))
    assert texts_of_questions(named)[-2:] == ["Our secret trick?", "Do ties count?"]
    assert texts_of_questions(nameless) == [*texts_of_questions(named)[:-2], "Do ties count?"]
    assert stored(filled, nameless, "nameless").slug == "nameless"
    assert examine(filled).wrong == []


def texts_of_questions(content: bytes) -> list[str]:
    return [json.loads(line)["text"] for line in parts(content)["questions.jsonl"].splitlines()]


def test_pseudonyms_leave_the_words_of_the_format_of_questions(filled: Database) -> None:
    ready = RunQuestion("judge", "Is it by text or kim?", AnswerKind.CHOICE, choices=("text", "kim", "choice"))
    with filled.transaction() as session:
        for name in ("text", "choice", "judge", "required"):
            member(session, name, Role.JUDGE)
        asked = [*questionnaires.show_questionnaire(session, SLUG, "passages").questions, ready]
        questionnaires.set_questionnaire(session, SLUG, asked, made_by_id=None, at=NOW, task="passages")
        questionnaires.change_answers(session, SLUG, "alpha", {"judge": "kim"}, at=NOW)
    stored(filled, archive(filled, archiving=Archiving(NOW, "0.1.0", "abc123")), "nameless")
    with filled.reading() as session:
        *_, kept = questionnaires.show_questionnaire(session, "nameless", "passages").questions
        answers = questionnaires.show_answers(session, "nameless", "alpha").answers
    assert (kept.key, kept.kind, kept.required) == ("judge", AnswerKind.CHOICE, False)
    assert [name in kept.text for name in ("kim", "text")] == [False, False]
    assert len(set(kept.choices) & {"kim", "text", "choice"}) == 0
    assert answers["judge"] == kept.choices[1]


def test_people_come_without_a_password_and_without_the_whole_site(filled: Database, elsewhere: Database) -> None:
    with filled.transaction() as session:
        session.scalars(select(User).where(User.name == "ola")).one().administrator = True
    assert b"scrypt" not in b"".join(parts(archive(filled)).values())
    stored(elsewhere, archive(filled))
    with elsewhere.reading() as session:
        assert [(one.password_hash, one.administrator) for one in session.scalars(select(User))] == [(None, False)] * 4


def rewritten(content: bytes, change: Callable[[dict[str, bytes]], None], *, manifest: bool = True) -> bytes:
    """The archive with other parts, and with a manifest that fits them if wanted."""
    changed = parts(content)
    change(changed)
    told = json.loads(changed["manifest.json"])
    if manifest:
        told["files"] = {
            name: {"sha256": hashlib.sha256(part).hexdigest(), "bytes": len(part)}
            for name, part in changed.items()
            if name != "manifest.json"
        }
        changed["manifest.json"] = json.dumps(told).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as bundle:
        for name, part in changed.items():
            bundle.writestr(name, part)
    return stream.getvalue()


def test_an_archive_brings_the_hashes_of_the_texts_shown_and_older_ones_have_none(
    filled: Database, elsewhere: Database
) -> None:
    with filled.transaction() as session:
        session.execute(update(Assignment).values(text_hash=f"{0:064}"))
        count = len(session.scalars(select(Assignment.id)).all())
    content = archive(filled)

    def as_written_before(parts: dict[str, bytes]) -> None:
        rows = map(json.loads, parts["assignments.jsonl"].splitlines())
        older = ({name: value for name, value in row.items() if name != "text_hash"} for row in rows)
        parts["assignments.jsonl"] = "".join(json.dumps(row) + "\n" for row in older).encode()

    for slug, sent, text_hash in (("same", content, f"{0:064}"), ("old", rewritten(content, as_written_before), None)):
        stored(elsewhere, sent, slug)
        with elsewhere.transaction() as session:
            assert session.scalars(select(Assignment.text_hash)).all().count(text_hash) == count


def replaced(part: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes]], None]:
    def change(content: dict[str, bytes]) -> None:
        assert old in content[part]
        content[part] = content[part].replace(old, new, 1)

    return change


def in_the_first_line(part: str, **values: object) -> Callable[[dict[str, bytes]], None]:
    def change(content: dict[str, bytes]) -> None:
        first, _, further = content[part].partition(b"\n")
        row = json.loads(first)
        assert values.keys() <= row.keys()
        content[part] = json.dumps(row | values).encode() + b"\n" + further

    return change


def without(part: str) -> Callable[[dict[str, bytes]], None]:
    return lambda content: content.__delitem__(part)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (replaced("judgements.jsonl", b'"grade": 2', b'"grade": "2"'), "“grade” has a value of the wrong type"),
        (replaced("judgements.jsonl", b'"grade": 2', b'"grade": NaN'), "no JSON object"),
        (replaced("judgements.jsonl", b'"grade": 2', b'"mark": 2'), "There is no column “mark”"),
        (replaced("judgements.jsonl", b'"pool_item_id": ', b'"pool_item_id": 99'), "which does not exist"),
        (replaced("judgements.jsonl", b"\n", b"\n[]\n"), "no JSON object"),
        (replaced("judgements.jsonl", b'"judged_at": "2026', b'"judged_at": "soon'), "“judged_at” has a value"),
        (replaced("memberships.jsonl", b'"organiser"', b'"emperor"'), "“role” has a value of the wrong type"),
        (replaced("people.jsonl", b'"jo"', b'"j o"'), "no blanks"),
        (replaced("topics.jsonl", b'"number": "2"', b'"number": "1"'), "do not fit together"),
        (in_the_first_line("judgements.jsonl", grade=10**30), "“grade” has a value of the wrong type"),
        (replaced("judgements.jsonl", b'"grade": 2', b'"grade": 77'), "a grade that is none of the scale: 1."),
        (in_the_first_line("topics.jsonl", title="\ud800"), "“title” has a value of the wrong type"),
        (in_the_first_line("pools.jsonl", parameters={"depth": "\udfff"}), "“parameters” has a value of the wrong"),
        (in_the_first_line("pool_items.jsonl", taken=99), "whose count of judges is wrong: 1."),
        (in_the_first_line("pools.jsonl", strategy="guess"), "“strategy” has a value of the wrong type"),
        (in_the_first_line("fact_columns.jsonl", kind="guess"), "“kind” has a value of the wrong type"),
        (in_the_first_line("fact_columns.jsonl", better="dearer"), "“kind” has a value of the wrong type"),
        (in_the_first_line("questionnaire_versions.jsonl", questions=[{"key": "A"}]), "its key is at most 40"),
        (in_the_first_line("run_answers.jsonl", kind="guess"), "“kind” has a value of the wrong type"),
        (in_the_first_line("click_logs.jsonl", findings={"comparison": 1}), "“findings” has a value of the wrong type"),
        (in_the_first_line("collections.jsonl", consensus_policy="loudest"), "no consensus policy"),
        (in_the_first_line("collections.jsonl", tag_start="a b"), "“a b” cannot be the beginning of tags"),
        (in_the_first_line("collections.jsonl", most_tag_characters=-7), "to 128 characters here, not -7"),
        (in_the_first_line("collections.jsonl", most_runs=-3), "or 0 for no limit, not -3"),
        (in_the_first_line("collections.jsonl", kind="contest"), "“kind” has a value of the wrong type"),
        (in_the_first_line("docno_list_parts.jsonl", count=3), "A part of the list of docnos is damaged"),
        (in_the_first_line("docno_list_parts.jsonl", lines="AAAA"), "A part of the list of docnos is damaged"),
        (in_the_first_line("ranked_lists.jsonl", scores=""), "another number of scores than of documents: 1."),
        (
            in_the_first_line("judgements.jsonl", judged_at="0001-01-01T00:00:00+14:00"),
            "“judged_at” has a value",
        ),
        (
            in_the_first_line("judgements.jsonl", judged_at="9999-12-31T23:59:59-14:00"),
            "“judged_at” has a value",
        ),
        (replaced("manifest.json", b'"lines": {', b'"lines": [1, 2], "told": {'), "other numbers of lines"),
        (replaced("manifest.json", b'"lines": {', b'"lines": null, "told": {'), "other numbers of lines"),
        (replaced("runs/1.run", b"999", b"998"), "is not the file that was sent"),
        (without("runs/1.run"), "has no part “runs/1.run”"),
        (without("judgements.jsonl"), "which does not exist"),
        (without("evidence.jsonl"), "other numbers of lines"),
        (replaced("collections.jsonl", b"\n", b"\n{}\n"), "“id” is missing"),
        (replaced("manifest.json", b'"version": 1', b'"version": 7'), "has the format 7"),
        (replaced("manifest.json", b'"tables": "0', b'"tables": "9'), "newer version"),
        (
            replaced("manifest.json", b'"format": "annotator', b'"format": "another'),
            "manifest of the archive cannot be read",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_and_nothing_is_stored(
    whole: bytes, elsewhere: Database, change: Callable[[dict[str, bytes]], None], sentence: str
) -> None:
    content = rewritten(whole, change)
    with pytest.raises(AnnotatorError) as refused:
        stored(elsewhere, content)
    problems = refused.value.problems if isinstance(refused.value, FileRefusedError) else ()
    assert sentence in " ".join([str(refused.value), *map(str, problems)])
    with elsewhere.reading() as session:
        # A database has its epoch from the beginning.
        for table in (one for one in Base.metadata.sorted_tables if one.name != "database_epoch"):
            assert session.scalars(select(func.count()).select_from(table)).one() == 0


def flipped(content: bytes) -> bytes:
    """The archive with a byte of its first part changed, past the part's name."""
    place = content.index(b"README.txt") + 200
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (lambda _: b"", "no zip file"),
        (lambda _: b"PK\x03\x04 nothing", "no zip file"),
        (lambda content: content[: len(content) // 2], "no zip file"),
        (
            lambda content: rewritten(content, replaced("topics.jsonl", b"first", b"third"), manifest=False),
            "changed or damaged",
        ),
        (
            lambda content: rewritten(content, without("topics.jsonl"), manifest=False),
            "are not those that its manifest names",
        ),
        (
            lambda content: rewritten(content, lambda one: one.update({"../../etc/passwd": b"x"}), manifest=False),
            "are not those",
        ),
        (lambda content: rewritten(content, lambda one: one.update({"bomb": bytes(LIMIT)})), "would be larger than"),
        (flipped, "damaged"),
    ],
)
def test_what_is_no_whole_archive_is_refused(
    whole: bytes, elsewhere: Database, content: Callable[[bytes], bytes], sentence: str
) -> None:
    with pytest.raises(FileRefusedError) as refused:
        stored(elsewhere, content(whole))
    assert sentence in str(refused.value.problems[0])


def test_next_years_collection_is_set_up_as_the_last_one(filled: Database) -> None:
    with filled.transaction() as session:
        count = copy_collection(
            session, SLUG, "next", title="News 2027", with_documents=True, at=NOW + timedelta(days=1)
        )
    assert count == 5
    with filled.reading() as session:
        old, new = show_collection(session, SLUG), show_collection(session, "next")
        assert (new.title, new.scale, new.consensus_policy) == ("News 2027", old.scale, old.consensus_policy)
        assert collection.show_guidelines(session, "next").text == "# Rules"
        assert search.find_documents(session, "next", "text").total == 5
        assert docno_lists.show_docno_list(session, "next") == docno_lists.show_docno_list(session, SLUG)
        assert b"".join(docno_lists.export_docnos(session, "next")) == b"a\nb\n"
        id_ = session.scalars(select(Collection.id).where(Collection.slug == "next")).one()
        for table in (Topic, Membership):
            assert session.scalars(select(func.count()).where(table.collection_id == id_)).one() == 0
    assert examine(filled).wrong == []


def test_the_type_goes_with_a_copy_and_with_an_archive(filled: Database, elsewhere: Database) -> None:
    with filled.transaction() as session:
        collection.change_collection(session, SLUG, CollectionChange(kind=CollectionKind.COMPARISON))
        copy_collection(session, SLUG, "next", title=None, with_documents=False, at=NOW)
        assert show_collection(session, "next").kind is CollectionKind.COMPARISON
    stored(elsewhere, archive(filled))
    with elsewhere.reading() as session:
        assert show_collection(session, SLUG).kind is CollectionKind.COMPARISON


def test_without_documents_next_year_begins_with_none(filled: Database) -> None:
    with filled.transaction() as session:
        assert copy_collection(session, SLUG, "next", title=None, with_documents=False, at=NOW) == 0
        assert docno_lists.docno_list(session, "next") is None
        with pytest.raises(AnnotatorError, match="already"):
            copy_collection(session, SLUG, "next", title=None, with_documents=False, at=NOW)
