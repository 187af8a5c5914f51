"""The files of a collection for participants: which there are, and when; their checksums are those of the bytes."""

import hashlib
import json
from datetime import datetime, timedelta

import pytest
from build import LIMIT, NOW, SLUG, labels, member, news, pooled_news, run, topic_file
from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import Collection, DocnoListPart, Document, Role, ScoresShown, Topic, TopicState
from annotator.workflows.collections import collection
from annotator.workflows.documents import docno_lists
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.qrels.qrels_sharing import shared_by_release
from annotator.workflows.qrels.shared_files import (
    CHECKSUMS,
    FigureMemory,
    SharedFiles,
    figures_of,
    list_shared_files,
    shared_file,
)
from annotator.workflows.runs import submissions
from annotator.workflows.runs.submissions import Deadline, SubmissionChange, change_submissions, read_deadline
from annotator.workflows.runs.tasks import TaskFields, add_task

RED = Sender("red", organises=False)
LATER = NOW + timedelta(days=1)
SHARED = SubmissionChange(corpus="Ask the archive.", shares_docnos=True, shares_qrels=True)


def listed(
    session: Session, *, memory: FigureMemory | None = None, sender: Sender = RED, at: datetime = LATER
) -> SharedFiles:
    return list_shared_files(session, SLUG, sender, at=at, memory=memory)


def names(session: Session, *, sender: Sender = RED) -> list[str]:
    return [one.name for one in listed(session, sender=sender).files if one.problem is None]


def problems(session: Session) -> dict[str, str]:
    """Why each file that is listed cannot be downloaded."""
    return {one.name: str(one.problem) for one in listed(session).files if one.problem is not None}


def content(session: Session, name: str, *, sender: Sender = RED) -> bytes:
    return b"".join(shared_file(session, SLUG, name, sender, at=LATER).pieces)


def import_docnos(session: Session, text: str) -> None:
    read = docno_lists.read_docnos([InputFile("ids.txt", text.encode())], unpacked_limit=LIMIT)
    docno_lists.import_docnos(session, SLUG, read, files=["ids.txt"], at=NOW)


def keep(session: Session, grade: int) -> int:
    """A kept version in which a document of topic 1 has this grade."""
    labels(session, "jo", f"1 0 a {grade}\n", name=f"{grade}.txt")
    made = qrels.export_qrels(session, SLUG, made_at=NOW)
    return qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)


def release(session: Session, version: int | str, **given: object) -> None:
    submissions.release_scores(session, SLUG, at=NOW, qrels=str(version), early=True, **given)  # type: ignore[arg-type]


@pytest.fixture
def shared(session: Session) -> Session:
    """A pooled collection with everything shared, a list of docnos, guidelines, and two versions of the qrels."""
    pooled_news(session)
    member(session, "pat", Role.PARTICIPANT, team="red")
    import_docnos(session, "a\nb\n문서-3\n<d>&\n")
    collection.set_guidelines(session, SLUG, "# Read to the end", made_by_id=None, made_at=NOW)
    change_submissions(session, SLUG, SHARED)
    change_submissions(session, SLUG, SubmissionChange(Deadline(LATER)))
    keep(session, 1)
    keep(session, 2)
    return session


def test_a_new_collection_has_rules_alone_and_shares_nothing(session: Session) -> None:
    news(session)
    assert names(session) == ["run-rules.json"]
    import_docnos(session, "a\n")
    topic_file(session)
    assert names(session) == ["topics.jsonl", "run-rules.json"]


def test_checksums_sizes_and_lines_are_those_of_the_bytes_that_are_sent(shared: Session) -> None:
    release(shared, 2)
    add_task(shared, SLUG, "first", TaskFields("First", topics=("1",)), at=NOW)
    found = listed(shared).files
    assert [one.name for one in found] == [
        *("topics.jsonl", "topics-first.jsonl", "docnos.txt", "qrels-2.txt"),
        *("run-rules.json", "guidelines.md", "corpus.txt"),
    ]
    for one in found:
        assert one.figures is not None
        sent = content(shared, one.name)
        assert (one.figures.sha256, one.figures.size) == (hashlib.sha256(sent).hexdigest(), len(sent))
        assert one.figures.lines == len(sent.decode().splitlines())
    sums = content(shared, CHECKSUMS).decode()
    assert sums == "".join(
        f"{one.figures.sha256}  {one.name}\n" for one in found if one.figures and one.name != "run-rules.json"
    )
    version = qrels_versions.export_version(shared, SLUG, 2)
    assert content(shared, "qrels-2.txt") == version.qrels
    assert content(shared, "docnos.txt").decode() == "a\nb\n문서-3\n<d>&\n"
    assert content(shared, "corpus.txt") == b"Ask the archive.\n"


def test_a_last_line_without_an_end_counts() -> None:
    assert [figures_of(pieces).lines for pieces in ([], [b""], [b"a"], [b"a\n", b"", b"b"], [b"a\nb\n"])] == [
        *(0, 0, 1),
        *(2, 2),
    ]


def test_topics_that_participants_do_not_see_are_in_no_file(shared: Session) -> None:
    topic_file(shared, "3\tthird\n4\tfourth\n")
    shared.execute(update(Topic).where(Topic.number == "3").values(state=TopicState.DRAFT))
    shared.execute(update(Topic).where(Topic.number.in_(["2", "4"])).values(state=TopicState.DROPPED, reason="Dull."))
    add_task(shared, SLUG, "all", TaskFields("All"), at=NOW)
    for sender in (RED, Sender(None, organises=True)):
        for name in ("topics.jsonl", "topics-all.jsonl"):
            rows = [json.loads(line) for line in content(shared, name, sender=sender).decode().splitlines()]
            assert [row["number"] for row in rows] == ["1"]
            assert "reason" not in rows[0]


def test_checksums_are_the_same_for_each_team_after_any_upload(shared: Session) -> None:
    before = content(shared, CHECKSUMS)
    rules = content(shared, "run-rules.json")
    run(shared, "new", {"1": ["a"]}, team="red")
    assert content(shared, "run-rules.json") != rules
    assert content(shared, CHECKSUMS) == before
    assert content(shared, CHECKSUMS, sender=Sender("blue", organises=False)) == before


def test_the_rules_are_those_of_the_team_that_loads_them(shared: Session) -> None:
    assert json.loads(content(shared, "run-rules.json"))["sender"] == {"team": "red", "organises": False}
    assert json.loads(content(shared, "run-rules.json"))["runs"] == []
    organiser = Sender(None, organises=True)
    assert json.loads(content(shared, "run-rules.json", sender=organiser))["sender"]["organises"]


def loadable_qrels(session: Session) -> list[str]:
    """The names of the qrels that can be loaded, among all that could be guessed; the list has the same."""
    found = []
    for name in (f"qrels-{number}.txt" for number in range(4)):
        try:
            content(session, name)
        except (NotFoundError, ConflictError):
            continue
        found.append(name)
    assert [name for name in names(session) if name.startswith("qrels")] == found
    return found


def test_qrels_are_loaded_from_the_release_on_and_only_of_its_version(shared: Session) -> None:
    assert loadable_qrels(shared) == []
    release(shared, 2, moment=LATER + timedelta(seconds=1))
    assert loadable_qrels(shared) == []
    release(shared, 2, moment=LATER)
    assert loadable_qrels(shared) == ["qrels-2.txt"]
    release(shared, 1)
    assert loadable_qrels(shared) == ["qrels-1.txt"]
    release(shared, "live")
    assert loadable_qrels(shared) == []


def test_qrels_go_with_the_release_that_is_taken_back_and_with_the_setting(shared: Session) -> None:
    release(shared, 2)
    change_submissions(shared, SLUG, SubmissionChange(shares_qrels=False))
    assert loadable_qrels(shared) == []
    change_submissions(shared, SLUG, SubmissionChange(shares_qrels=True))
    assert loadable_qrels(shared) == ["qrels-2.txt"]
    release(shared, 2, shown=ScoresShown.NOTHING)
    assert loadable_qrels(shared) == []
    release(shared, 2, shown=ScoresShown.OWN)
    submissions.take_scores_back(shared, SLUG)
    assert loadable_qrels(shared) == []


def test_qrels_are_withheld_while_teams_can_send_runs_also_after_an_early_release(shared: Session) -> None:
    release(shared, 2)
    change_submissions(shared, SLUG, SubmissionChange(read_deadline("2026-03-02 18:01 Asia/Seoul")))
    assert loadable_qrels(shared) == []
    reason = (
        "Participants can download version 2 of the qrels when no more runs are accepted: after the submission "
        "deadline, 2026-03-02 18:01 Asia/Seoul (2026-03-02 09:01 UTC), or when the collection is closed."
    )
    assert problems(shared) == {"qrels-2.txt": reason}
    with pytest.raises(ConflictError) as refused:
        content(shared, "qrels-2.txt")
    assert str(refused.value) == reason
    assert "qrels" not in content(shared, CHECKSUMS).decode()
    change_submissions(shared, SLUG, SubmissionChange(Deadline(LATER)))
    assert loadable_qrels(shared) == ["qrels-2.txt"]
    change_submissions(shared, SLUG, SubmissionChange(Deadline(None)))
    assert loadable_qrels(shared) == []
    assert problems(shared)["qrels-2.txt"].endswith("after a submission deadline, or when the collection is closed.")
    collection.close_collection(shared, SLUG)
    assert loadable_qrels(shared) == ["qrels-2.txt"]
    collection.reopen_collection(shared, SLUG)
    assert loadable_qrels(shared) == []


@pytest.mark.parametrize(
    ("until", "moment", "sentence"),
    [
        (NOW, NOW, "Participants can download version 2 of the qrels."),
        (NOW, LATER, "Participants can download version 2 of the qrels from the release on."),
        (LATER, LATER, "Participants can download version 2 of the qrels from the release on."),
        (LATER, NOW, "after the submission deadline, 2026-03-02 09:00 UTC, or when the collection is closed."),
        (None, LATER, "after a submission deadline, or when the collection is closed."),
    ],
)
def test_a_release_names_the_qrels_that_it_shares_and_from_when(
    shared: Session, until: datetime | None, moment: datetime, sentence: str
) -> None:
    assert shared_by_release(collection.show_collection(shared, SLUG), at=NOW) is None
    change_submissions(shared, SLUG, SubmissionChange(Deadline(until)))
    release(shared, 2, moment=moment)
    assert str(shared_by_release(collection.show_collection(shared, SLUG), at=NOW)).endswith(sentence)
    change_submissions(shared, SLUG, SubmissionChange(shares_qrels=False))
    assert shared_by_release(collection.show_collection(shared, SLUG), at=NOW) is None
    change_submissions(shared, SLUG, SubmissionChange(shares_qrels=True))
    release(shared, "live")
    assert shared_by_release(collection.show_collection(shared, SLUG), at=NOW) is None


def test_a_damaged_list_of_docnos_leaves_the_other_files(shared: Session) -> None:
    release(shared, 2)
    shared.execute(update(DocnoListPart).values(lines=b"no zip"))
    assert problems(shared) == {"docnos.txt": "A part of the list of docnos is damaged."}
    assert "qrels-2.txt" in names(shared)
    assert "docnos.txt" not in content(shared, CHECKSUMS).decode()
    with pytest.raises(InvalidValueError, match="is damaged"):
        content(shared, "docnos.txt")


def test_docnos_go_with_the_setting_and_with_the_list(shared: Session) -> None:
    change_submissions(shared, SLUG, SubmissionChange(shares_docnos=False))
    assert "docnos.txt" not in names(shared)
    with pytest.raises(NotFoundError, match="There is no such file, or you may not download it"):
        content(shared, "docnos.txt")
    change_submissions(shared, SLUG, SubmissionChange(shares_docnos=True))
    docno_lists.remove_docnos(shared, SLUG)
    assert "docnos.txt" not in names(shared)  # although documents have texts, which may be those of the pool


def test_the_cache_does_not_keep_what_has_changed(shared: Session) -> None:
    memory = FigureMemory()
    release(shared, 1)
    before = {one.kind: one.figures for one in listed(shared, memory=memory).files}
    assert {one.kind: one.figures for one in listed(shared, memory=memory).files} == before
    read = docno_lists.read_docnos([InputFile("ids.txt", b"z\n")], unpacked_limit=LIMIT)
    docno_lists.import_docnos(shared, SLUG, read, files=["ids.txt"], at=LATER)
    release(shared, 2)
    after = {one.name: one.figures for one in listed(shared, memory=memory).files}
    for name in ("docnos.txt", "qrels-2.txt"):
        found = after[name]
        assert found is not None
        assert found.sha256 == hashlib.sha256(content(shared, name)).hexdigest()


def test_qrels_whose_bytes_cannot_be_made_again_are_named_and_the_rest_is_there(shared: Session) -> None:
    release(shared, 2)
    shared.execute(update(Document).where(Document.docno == "a").values(docno="renamed"))
    assert "qrels-2.txt" not in names(shared)
    assert "topics.jsonl" in names(shared)
    assert problems(shared)["qrels-2.txt"].startswith("Version 2 of the qrels no longer has the bytes that were kept")
    with pytest.raises(ConflictError):
        content(shared, "qrels-2.txt")
    assert "qrels" not in content(shared, CHECKSUMS).decode()


def test_topics_that_were_dropped_since_stay_in_the_qrels_and_are_named(shared: Session) -> None:
    labels(shared, "jo", "2 0 a 1\n", name="second.txt")
    made = qrels.export_qrels(shared, SLUG, made_at=NOW)
    release(shared, qrels_versions.keep_qrels(shared, SLUG, made, made_by_id=None, made_at=NOW))

    def dropped(*numbers: str) -> tuple[str, ...]:
        shared.execute(update(Topic).values(state=TopicState.ACCEPTED, reason=""))
        is_one = Topic.number.in_(numbers)
        shared.execute(update(Topic).where(is_one).values(state=TopicState.DROPPED, reason="Dull."))
        [qrels_file] = [one for one in listed(shared).files if one.version]
        return qrels_file.dropped_topics

    before = content(shared, "qrels-3.txt")
    assert (dropped(), dropped("2"), dropped("1", "2")) == ((), ("2",), ("1", "2"))
    assert content(shared, "qrels-3.txt") == before
    release(shared, 2)
    assert dropped("2") == ()  # that version has no grade for it


def test_the_cache_does_not_hide_that_qrels_cannot_be_made_again(shared: Session) -> None:
    release(shared, 2)
    memory, at = FigureMemory(), LATER
    assert [one.problem for one in listed(shared, memory=memory, at=at).files if one.version] == [None]
    shared.execute(update(Document).where(Document.docno == "a").values(docno="renamed"))
    at += timedelta(minutes=1)
    [qrels_file] = [one for one in listed(shared, memory=memory, at=at).files if one.version]
    assert "no longer has the bytes that were kept" in str(qrels_file.problem)
    sums = shared_file(shared, SLUG, CHECKSUMS, RED, at=at, memory=memory)
    assert "qrels" not in b"".join(sums.pieces).decode()


def test_a_deleted_collection_has_no_files(shared: Session) -> None:
    shared.execute(update(Collection).values(deleted_at=NOW))
    for name in ("topics.jsonl", CHECKSUMS):
        with pytest.raises(NotFoundError, match="There is no collection “news”"):
            content(shared, name)


@pytest.mark.parametrize("name", ["", ".", "..", "TOPICS.JSONL", "topics.jsonl\n", "qrels.txt", "qrels-٢.txt"])
def test_no_other_name_is_a_file(shared: Session, name: str) -> None:
    release(shared, 2)
    with pytest.raises(NotFoundError):
        content(shared, name)
