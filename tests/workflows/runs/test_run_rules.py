"""The rules of a collection as a document: a program that applies it finds what the collection finds itself."""

import io
import json
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime

import pytest
from build import NOW, SLUG, document_file, member, news, pooled_news, run, run_text, topic_file
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import Problems
from annotator.evaluation.runs.checking_rules import ComparedWith, read_rules
from annotator.evaluation.runs.docno_lists import ReadDocnos
from annotator.evaluation.runs.questionnaires import RunQuestion
from annotator.evaluation.runs.run_intake import ReadRun
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import Collection, Database, DocumentSource, Role, Topic, TopicState
from annotator.workflows.documents import docno_lists
from annotator.workflows.runs import questionnaires, run_upload, runs
from annotator.workflows.runs.file_checks import check_by_rules
from annotator.workflows.runs.run_rules import rules_document
from annotator.workflows.runs.submissions import Deadline, SubmissionChange, change_submissions

LIMIT = 1 << 20
DOCNOS = b"a\nb\nc\n"
ALPHA = {"1": ["a"], "2": ["b"]}


def zipped(**files: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


FILES = {
    "more runs than a team may have": zipped(
        **{f"{tag}.run": run_text(tag, ALPHA) for tag in ("gone", "gtwo", "gthree")}
    ),
    "a tag that does not begin as it must": run_text("delta", ALPHA),
    "valid": run_text("gamma", {"1": ["a", "b"], "2": ["c"]}),
    "documents that the corpus lacks": run_text("gamma", {"1": ["a", "zz"], "2": ["yy"]}),
    "a topic left out": run_text("gamma", {"1": ["a"]}),
    "a draft": run_text("gamma", {"1": ["a"], "draft": ["b"]}),
    "an unknown topic": run_text("gamma", {"1": ["a"], "9": ["b"]}),
    "a topic by its title": run_text("gamma", {"1": ["a"]}).replace(b"1 Q0", b"first Q0"),
    "too many documents": run_text("gamma", {"1": ["a", "b", "c", "d"], "2": ["b"]}),
    "ties and ranks": b"1 Q0 a 1 2 gamma\n1 Q0 b 2 2 gamma\n1 Q0 c 3 9 gamma\n2 Q0 a 1 1 gamma\n",
    "wrong lines": b"1 Q0 a 1 x gamma\n1 Q0 a\n1 Q0 b 1 1 other\n",
    "a document twice": run_text("gamma", {"1": ["a", "a"], "2": ["b"]}),
    "nothing": b"",
    "no text": b"\x00\x01\x02",
    "a long tag": run_text("t" * 129, ALPHA),
    "a tag with an ending of addresses": run_text("gamma/file", ALPHA),
    "a tag of one's own": run_text("alpha", {"1": ["b"], "2": ["a"]}),
    "one's own file": run_text("alpha", ALPHA),
    "a tag that was withdrawn": run_text("old", ALPHA),
    "JSON of ranx": json.dumps({"1": {"a": 2.5, "b": 1}, "2": {"zz": 1}}).encode(),
    "a zip archive": zipped(
        **{
            "g.run": run_text("gamma", {"1": ["a"]}),
            "h.run": run_text("gamma", {"2": ["zz"]}),
            "m.csv": b"file,team,type\ng.run,red,manual\n",
        }
    ),
    "an archive without a run": zipped(**{"m.csv": b"file,team\ng.run,red\n"}),
}
SENDERS = {
    "team": Sender("red", organises=False),
    "team, corrects": Sender("red", organises=False, replaces=True),
    "organiser": Sender(None, organises=True),
    "organiser, corrects": Sender(None, organises=True, replaces=True),
}


DOCUMENTS = {ComparedWith.NOTHING: None, ComparedWith.TEXTS: DOCNOS, ComparedWith.LIST: DOCNOS}


def filled(session: Session, compared_with: ComparedWith) -> None:
    """Topics, one of them a draft, runs of two teams, at most three documents a topic."""
    news(session)
    topic_file(session, "1\tfirst\n2\tsecond\ndraft\tthird\n")
    member(session, "pat", Role.PARTICIPANT, team="red")
    run(session, "alpha", ALPHA, team="red")
    run(session, "old", ALPHA, team="red")
    runs.withdraw_run(session, SLUG, "old", at=NOW)
    run(session, "secret", ALPHA, team="blue")
    session.execute(update(Topic).where(Topic.number == "draft").values(state=TopicState.DRAFT))
    until = datetime(2027, 3, 1, 9, tzinfo=UTC)
    change_submissions(session, SLUG, SubmissionChange(deadline=Deadline(until), most_documents=3))
    change_submissions(session, SLUG, SubmissionChange(tag_start="g", most_tag_characters=20, most_runs=3))
    if compared_with is ComparedWith.TEXTS:
        document_file(session, ["a", "b", "c"])
    elif compared_with is ComparedWith.LIST:
        docno_lists.import_docnos(session, SLUG, docnos_of(DOCNOS), files=["ids.txt"], at=NOW)


def docnos_of(content: bytes) -> ReadDocnos:
    return docno_lists.read_docnos([InputFile("ids.txt", content)], unpacked_limit=LIMIT)


def findings(runs: Iterable[ReadRun], problems: Problems) -> tuple[list[object], list[object]]:
    read: list[object] = [
        (one.file_name, one.parsed.tag, list(one.parsed.topics), list(map(str, one.warnings))) for one in runs
    ]
    wrong: list[object] = [(one.file, one.line, str(one.sentence), one.count) for one in problems.by_file()]
    return read, wrong


@pytest.mark.parametrize("sender", SENDERS.values(), ids=SENDERS)
@pytest.mark.parametrize("compared_with", DOCUMENTS)
def test_the_document_finds_what_the_collection_finds(
    database: Database, sender: Sender, compared_with: ComparedWith
) -> None:
    with database.transaction() as session:
        filled(session, compared_with)
    rules = read_rules(json.dumps(database.read(rules_document, SLUG, sender)))
    assert rules.compared_with == compared_with
    docnos = None if DOCUMENTS[compared_with] is None else docnos_of(DOCNOS)
    found = 0
    tag_from_file = sender.replaces
    for name, content in FILES.items():
        files = [InputFile(f"{name}.txt", content), InputFile("second.txt", FILES["valid"])]
        with database.reading() as session:
            there = run_upload.check_each_run(
                session, SLUG, files, sender=sender, tag_from_file=tag_from_file, unpacked_limit=LIMIT
            )
        here = check_by_rules(
            files, rules, replaces=sender.replaces, tag_from_file=tag_from_file, unpacked_limit=LIMIT, docnos=docnos
        )
        assert findings(here.runs, here.problems) == findings(there.runs, there.problems), name
        found += here.problems.total + sum(len(one.warnings) for one in here.runs)
    assert found > len(FILES)


def test_a_document_tells_a_team_nothing_of_others(database: Database) -> None:
    with database.transaction() as session:
        filled(session, ComparedWith.TEXTS)
        questionnaires.set_questionnaire(session, SLUG, [RunQuestion("model", "Which?")], made_by_id=None, at=NOW)
    found = database.read(rules_document, SLUG, SENDERS["team"])
    assert [one["tag"] for one in found["runs"]] == ["alpha", "old"]
    assert "secret" not in json.dumps(found)
    assert [one["number"] for one in found["topics"]] == ["1", "2"]
    assert found["deadline"] == "2027-03-01T09:00:00+00:00"
    assert found["tags"]["start"] == "g"
    assert found["most_runs"] == 3
    assert found["documents"] == {"most_per_topic": 3, "compared_with": "texts"}
    assert found["questionnaire"]["questions"][0]["key"] == "model"
    assert "trec" in found["formats"]
    everything = database.read(rules_document, SLUG, SENDERS["organiser"])
    assert (everything["tags"]["start"], everything["most_runs"]) == ("", None)
    assert [one["tag"] for one in everything["runs"]] == ["alpha", "old", "secret"]
    assert [(one["number"], one["wanted"]) for one in everything["topics"]] == [
        ("1", True),
        ("2", True),
        ("draft", False),
    ]


def test_what_comes_from_a_source_without_a_whole_index_is_compared_with_nothing(database: Database) -> None:
    with database.transaction() as session:
        filled(session, ComparedWith.TEXTS)
        collection_id = session.scalars(select(Collection.id)).one()
        source = DocumentSource(collection_id=collection_id, kind="folder", location="/x", options={}, set_at=NOW)
        source.by_command = True
        session.add(source)
    assert database.read(rules_document, SLUG, SENDERS["team"])["documents"]["compared_with"] == "nothing"


def test_participants_learn_nothing_of_topics_that_were_dropped_before_they_were_pooled(session: Session) -> None:
    pooled_news(session)
    topic_file(session, "99\tsecret draft\n")
    for number in ("99", "1"):
        session.scalars(select(Topic).where(Topic.number == number)).one().state = TopicState.DROPPED
    session.flush()
    known = {}
    for organises in (False, True):
        document = rules_document(session, SLUG, Sender("red", organises=organises))
        known[organises] = [one["number"] for one in document["topics"]]
    assert known == {False: ["1", "2"], True: ["1", "2", "99"]}
