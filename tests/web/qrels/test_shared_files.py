"""The page of files for participants: what each of them finds there, and nothing that is not theirs yet."""

import hashlib
import json
from datetime import UTC, datetime, timedelta

import pytest
from build import LIMIT, NOW, SLUG, labels
from sqlalchemy import select, update
from visiting import Visit, words

from annotator.files import InputFile
from annotator.storage import AuditEvent, Database, DocnoListPart, DocumentSource, Role, Topic, TopicState
from annotator.storage.collections.collection import find_collection
from annotator.storage.tables.collections import CollectionKind
from annotator.workflows.collections.collection import CollectionChange, change_collection, close_collection
from annotator.workflows.documents import docno_lists
from annotator.workflows.people.members import remove_member
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import submissions
from annotator.workflows.runs.submissions import Deadline, SubmissionChange, change_submissions

CORPUS = "<b>News</b> of 2025:\nhttps://data.example.org/news?year=2025&part=1 or javascript:alert(1)"


@pytest.fixture
def shared(news: str, database: Database) -> str:
    """A collection that shares everything, with a version of the qrels that is not released."""
    with database.transaction() as session:
        read = docno_lists.read_docnos([InputFile("ids.txt", b"a\nb\n")], unpacked_limit=LIMIT)
        docno_lists.import_docnos(session, SLUG, read, files=["ids.txt"], at=NOW)
        shared = SubmissionChange(Deadline(NOW), corpus=CORPUS, shares_docnos=True, shares_qrels=True)
        change_submissions(session, SLUG, shared)
        labels(session, "jo", "1 0 a 2\n")
        made = qrels.export_qrels(session, SLUG, made_at=NOW)
        qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
    return f"{news}/files"


def release(database: Database) -> None:
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=NOW, moment=NOW - timedelta(days=1), qrels="1", early=True)


def test_a_participant_loads_what_the_page_lists_and_nothing_before_the_release(
    visit: Visit, shared: str, database: Database
) -> None:
    pat = visit("pat")
    page = pat.get(shared)
    for name, content in {"docnos.txt": b"a\nb\n", "topics.jsonl": None}.items():
        sent = pat.get(f"{shared}/{name}")
        assert sent.headers["Content-Disposition"] == f"attachment; filename={name}"
        assert content in {None, sent.data}
        assert hashlib.sha256(sent.data).hexdigest() in page.text
    assert "qrels-1.txt" not in page.text
    assert pat.get(f"{shared}/qrels-1.txt").status_code == 404
    release(database)
    assert "Qrels, version 1: those of the released scores" in words(pat.get(shared))
    sent = pat.get(f"{shared}/qrels-1.txt")
    assert (sent.status_code, sent.data) == (200, b"1 0 a 2\n")
    assert f"{hashlib.sha256(sent.data).hexdigest()}  qrels-1.txt\n" in pat.get(f"{shared}/SHA256SUMS").text
    with database.reading() as session:
        noted = session.execute(
            select(AuditEvent.action, AuditEvent.subject).where(AuditEvent.action.endswith(".export"))
        ).all()
    assert [tuple(row) for row in noted] == [("docnos.export", ""), ("qrels.export", "1")]
    with database.transaction() as session:
        submissions.take_scores_back(session, SLUG)
    assert pat.get(f"{shared}/qrels-1.txt").status_code == 404


def test_the_page_says_until_when_the_qrels_of_an_early_release_are_withheld(
    visit: Visit, shared: str, database: Database
) -> None:
    release(database)
    with database.transaction() as session:
        change_submissions(session, SLUG, SubmissionChange(Deadline(datetime.now(UTC) + timedelta(days=1))))
    for name in ("pat", "ola"):
        page = visit(name).get(shared)
        assert "Participants can download version 1 of the qrels when no more runs are accepted" in words(page)
        assert f'href="{shared}/qrels-1.txt"' not in page.text
        refused = visit(name).get(f"{shared}/qrels-1.txt")
        assert refused.status_code == 409
        assert "after the submission deadline" in words(refused)
        assert "qrels" not in visit(name).get(f"{shared}/SHA256SUMS").text
    assert "Participants can download version 1 of the qrels when no more runs are accepted" in words(
        visit("ola").get(shared.replace("/files", "/release"))
    )
    with database.transaction() as session:
        close_collection(session, SLUG)
    assert visit("pat").get(f"{shared}/qrels-1.txt").status_code == 200


def test_topics_of_the_qrels_that_are_not_scored_are_named_beside_them(
    visit: Visit, shared: str, database: Database
) -> None:
    release(database)
    sentence = "Topics that were dropped after this version was kept are not scored: 1."
    assert sentence not in words(visit("pat").get(shared))
    with database.transaction() as session:
        session.execute(update(Topic).where(Topic.number == "1").values(state=TopicState.DROPPED, reason="Dull."))
    assert sentence in words(visit("pat").get(shared))


def test_the_page_is_there_with_the_other_files_when_the_list_of_docnos_is_damaged(
    visit: Visit, shared: str, database: Database
) -> None:
    with database.transaction() as session:
        session.execute(update(DocnoListPart).values(lines=b"no zip"))
    page = visit("pat").get(shared)
    assert page.status_code == 200
    assert "A part of the list of docnos is damaged." in words(page)
    assert visit("pat").get(f"{shared}/topics.jsonl").status_code == 200


def test_where_the_documents_are_is_text_with_links(visit: Visit, shared: str) -> None:
    page = visit("pat").get(shared).text
    assert "&lt;b&gt;News&lt;/b&gt; of 2025:\n" in page
    address = "https://data.example.org/news?year=2025&amp;part=1"
    assert f'<a href="{address}" rel="noopener noreferrer">{address}</a> or javascript:alert(1)</p>' in page


def test_a_participant_gets_rules_of_the_team_and_no_hints_for_organisers(visit: Visit, shared: str) -> None:
    pat = visit("pat")
    assert json.loads(pat.get(f"{shared}/run-rules.json").data)["sender"] == {"team": "red", "organises": False}
    assert "What participants may download" not in words(pat.get(shared))


def test_the_rules_have_the_same_bytes_as_those_of_the_page_of_runs(visit: Visit, shared: str) -> None:
    pat = visit("pat")
    of_runs = pat.get(shared.replace("/files", "/runs/rules.json"))
    assert pat.get(f"{shared}/run-rules.json").data == of_runs.data
    assert "leaves out the rules, which differ by team" in words(pat.get(shared))


def test_organisers_see_what_is_shared_and_why_something_is_not(visit: Visit, shared: str, database: Database) -> None:
    ola = visit("ola")
    page = words(ola.get(shared))
    assert "It is stated where the documents are." in page
    assert "The list of valid docnos is shared." in page
    assert "Qrels are shared as soon as scores are released" in page
    assert ola.get(f"{shared}/qrels-1.txt").status_code == 404
    release(database)
    assert "Version 1 of the qrels is shared" in words(ola.get(shared))
    with database.transaction() as session:
        docno_lists.remove_docnos(session, SLUG)
        submissions.release_scores(session, SLUG, at=NOW, qrels="live", early=True)
    page = words(ola.get(shared))
    assert "is shared, but none was imported." in page
    assert "Scores are computed from the live qrels, so there is no version to share." in page
    with database.transaction() as session:
        change_submissions(session, SLUG, SubmissionChange(corpus="", shares_docnos=False, shares_qrels=False))
    page = words(ola.get(shared))
    for sentence in ("It is not stated where", "The list of valid docnos is not shared.", "Qrels are not shared."):
        assert sentence in page


def test_without_a_list_of_docnos_a_source_has_none_to_load_but_says_how_many_there_are(
    visit: Visit, shared: str, database: Database
) -> None:
    with database.transaction() as session:
        docno_lists.remove_docnos(session, SLUG)
        collection_id = find_collection(session, SLUG).id
        source = DocumentSource(collection_id=collection_id, kind="folder", location="/x", options={}, set_at=NOW)
        source.by_command, source.index_documents = True, 138_364_198
        session.add(source)
    pat = visit("pat")
    page = words(pat.get(shared))
    assert (
        "There is no list of valid docnos to download. Documents that the source of the texts has: 138,364,198." in page
    )
    assert pat.get(f"{shared}/docnos.txt").status_code == 404
    with database.transaction() as session:
        change_submissions(session, SLUG, SubmissionChange(shares_docnos=False))
    assert "138,364,198" not in words(pat.get(shared))


def test_files_of_a_closed_collection_and_of_a_team_comparison_are_loaded_as_before(
    visit: Visit, shared: str, database: Database
) -> None:
    release(database)
    with database.transaction() as session:
        change_collection(session, SLUG, CollectionChange(kind=CollectionKind.COMPARISON))
        close_collection(session, SLUG)
    for name in ("pat", "ola"):
        for path in ("", "/topics.jsonl", "/qrels-1.txt", "/SHA256SUMS"):
            assert visit(name).get(f"{shared}{path}").status_code == 200


def test_files_are_downloaded_before_terms_are_accepted_and_the_hint_of_the_terms_says_so(
    visit: Visit, shared: str, database: Database
) -> None:
    with database.transaction() as session:
        change_submissions(session, SLUG, SubmissionChange(terms="Cite us."))
    assert visit("pat").get(f"{shared}/docnos.txt").status_code == 200
    rules = visit("ola").get(shared.replace("/files", "/submissions"))
    assert "they can download files without accepting them" in words(rules)


def test_somebody_who_leaves_the_team_loads_nothing_more(visit: Visit, shared: str, database: Database) -> None:
    pat = visit("pat")
    release(database)
    assert pat.get(f"{shared}/qrels-1.txt").status_code == 200
    with database.transaction() as session:
        remove_member(session, SLUG, "pat", Role.PARTICIPANT, at=NOW)
    assert {pat.get(f"{shared}{path}").status_code for path in ("", "/qrels-1.txt", "/SHA256SUMS")} == {404}


def test_the_page_is_there_in_korean(visit: Visit, shared: str) -> None:
    page = visit("pat").get(shared, headers={"Accept-Language": "ko"})
    assert "내려받을 파일" in words(page)
    assert "유효한 문서 번호(한 줄에 하나)" in words(page)
