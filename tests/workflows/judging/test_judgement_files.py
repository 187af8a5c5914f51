"""Labels in, judgements out: one judge's word by file, each kept with its history."""

import json
from collections.abc import Callable

import pytest
from build import LIMIT, NOW, SLUG, labels, member, news, pool, pooled_news, run, topic_file, user
from csv_cells import unquoted
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError
from annotator.evaluation.outputs import judgement_outputs
from annotator.files import InputFile
from annotator.storage import Assignment, Contribution, Judgement, PoolItem, Role, User
from annotator.storage.agreement.machines import MachineFacts, make_machine
from annotator.storage.judging.leases import Decision
from annotator.storage.people.accounts import find_user
from annotator.workflows.judging import judgement_export, judgement_import, judging, recording
from annotator.workflows.judging.judgement_import import JudgementImport
from annotator.workflows.people import accounts
from annotator.workflows.pools import pools


def problems_of(session: Session, text: str) -> list[str]:
    with pytest.raises(FileRefusedError) as refusal:
        judgement_import.check_judgements(session, SLUG, InputFile("q.txt", text.encode()), unpacked_limit=LIMIT)
    return [str(problem) for problem in refusal.value.problems]


def test_labels_come_in_as_one_judges_grades(session: Session) -> None:
    pooled_news(session)
    assert labels(session, "nist", "1 0 a 2\n1 0 b 0\n2 0 e 1\n") == JudgementImport(3, 0, 0, 0, 0)
    stored = session.execute(
        select(User.name, Judgement.grade).join(User, User.id == Judgement.judge_id).order_by(Judgement.id)
    )
    assert [tuple(row) for row in stored] == [("nist", 2), ("nist", 0), ("nist", 1)]
    assert accounts.sign_in(session, "nist", "") is None


def person_without_role(session: Session) -> None:
    user(session, "rita")


def member_of_another_collection(session: Session) -> None:
    """Somebody of whose first password only a link was made."""
    news(session, "other")
    accounts.add_user(session, "rita", password_hash=None, added_at=NOW)
    member(session, "rita", slug="other")


@pytest.mark.parametrize("arrange", [person_without_role, member_of_another_collection])
def test_labels_do_not_come_in_under_the_name_of_a_person_who_is_no_member(
    session: Session, arrange: Callable[[Session], None]
) -> None:
    pooled_news(session)
    arrange(session)
    with pytest.raises(ConflictError, match="“rita” is the account of a person who is no member of this collection"):
        labels(session, "rita", "1 0 a 2\n")
    assert session.scalar(select(func.count()).select_from(Judgement)) == 0
    member(session, "rita", Role.PARTICIPANT, team="red")
    assert labels(session, "rita", "1 0 a 2\n").added == 1


def test_judges_that_only_files_know_label_several_collections(session: Session) -> None:
    pooled_news(session)
    labels(session, "nist", "1 0 a 2\n")
    news(session, "other")
    topic_file(session, slug="other")
    assert labels(session, "nist", "1 0 a 2\n", slug="other", add_to_pool=True).added == 1
    user(session, "gpt")
    make_machine(session, find_user(session, "gpt"), MachineFacts())
    assert labels(session, "gpt", "1 0 a 2\n").added == 1


def test_the_same_file_again_changes_nothing(session: Session) -> None:
    pooled_news(session)
    labels(session, "nist", "1 0 a 2\n")
    assert labels(session, "nist", "1 0 a 2\n") == JudgementImport(0, 0, 1, 0, 0)
    assert session.scalar(select(func.count()).select_from(Judgement)) == 1


def test_another_grade_in_another_file_replaces_and_keeps_the_first(session: Session) -> None:
    pooled_news(session)
    labels(session, "nist", "1 0 a 2\n1 0 b 1\n")
    assert labels(session, "nist", "1 0 a 1\n1 0 b 1\n", name="second.txt") == JudgementImport(0, 1, 1, 0, 0)
    rows = session.execute(select(Judgement.grade, Judgement.current).order_by(Judgement.id))
    assert [tuple(row) for row in rows] == [(2, False), (1, True), (1, True)]


def test_a_file_sent_again_does_not_undo_what_the_judge_changed_since(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 2\n")
    jo = session.scalars(select(User.id).where(User.name == "jo")).one()
    assignment = session.scalars(select(Assignment.id).where(Assignment.judge_id == jo)).one()
    recording.record_judgement(session, SLUG, assignment, jo, Decision(0), client_id="c1", judged_at=NOW)
    assert labels(session, "jo", "1 0 a 2\n").known == 1
    current = session.scalars(select(Judgement.grade).where(Judgement.current)).all()
    assert current == [0]


def test_documents_outside_the_pool_are_refused_by_line(session: Session) -> None:
    pooled_news(session)
    assert problems_of(session, "1 0 a 2\n1 0 stranger 1\n2 0 b 0\n") == [
        "q.txt:2: Document stranger is not in the pool of topic 1: leave it out or have it added.",
        "q.txt:3: Document b is not in the pool of topic 2: leave it out or have it added.",
    ]


def test_added_documents_are_a_version_of_the_pool_whose_contribution_is_the_import(session: Session) -> None:
    pooled_news(session)
    result = labels(session, "nist", "1 0 stranger 1\n2 0 b 0\n", add_to_pool=True)
    assert result == JudgementImport(added=2, changed=0, known=0, unjudged=0, pooled=2)
    assert {("1", "stranger"), ("2", "b")} <= pools.pooled_docnos(session, SLUG)
    assert [version.strategy for version in pools.pool_versions(session, SLUG)] == ["depth", "import"]
    contributions = session.scalars(select(Contribution).where(Contribution.run_id.is_(None))).all()
    assert [one.imported_from for one in contributions] == ["qrels.txt", "qrels.txt"]


def test_minus_one_means_pooled_but_unjudged(session: Session) -> None:
    pooled_news(session)
    assert labels(session, "nist", "1 0 a -1\n1 0 b 1\n") == JudgementImport(1, 0, 0, 1, 0)


@pytest.mark.parametrize(
    ("text", "place"), [("1 0 a 3\n", "q.txt:1"), ("9 0 a 1\n", "q.txt:1"), ("1 0 a\n", "q.txt:1"), ("", "q.txt")]
)
def test_bad_labels_are_refused_with_their_line(session: Session, text: str, place: str) -> None:
    pooled_news(session)
    [problem] = problems_of(session, text)
    assert problem.startswith(f"{place}: ")


def test_imported_labels_fill_the_places_of_judges(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 c 0\n")
    task = judging.next_task(session, SLUG, "1", jo, now=NOW)
    assert task is not None
    assert (task.docno, task.waiting) == ("d", 1)


def test_labels_of_a_judge_who_holds_the_document_end_the_hold(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    judging.next_task(session, SLUG, "1", jo, now=NOW)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 c 0\n1 0 d 0\n")
    assert judging.next_task(session, SLUG, "1", jo, now=NOW) is None
    assert set(session.scalars(select(PoolItem.taken).where(PoolItem.topic_id == 1))) == {1}


def test_labels_outlive_a_growing_pool(session: Session) -> None:
    pooled_news(session)
    labels(session, "nist", "1 0 z 2\n", add_to_pool=True)
    run(session, "late", {"1": ["z", "y"]})
    assert pool(session).added == 1
    assert session.scalar(select(func.count()).select_from(Judgement)) == 1


def test_everything_said_goes_out_with_its_history(session: Session) -> None:
    pooled_news(session)
    labels(session, "nist", "1 0 a 2\n")
    labels(session, "nist", "1 0 a 1\n", name="second.txt")
    rows = list(judgement_export.export_judgements(session, SLUG))
    assert [(row.topic, row.docno, row.judge, row.grade, row.current) for row in rows] == [
        ("1", "a", "nist", 2, False),
        ("1", "a", "nist", 1, True),
    ]
    assert rows[0].judged_at == NOW.isoformat()
    lines = judgement_outputs.judgements_jsonl(rows)
    assert [json.loads(line)["grade"] for line in lines] == [2, 1]


def test_a_note_never_runs_as_a_formula_in_a_spreadsheet(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", jo, now=NOW)
    assert task is not None
    recording.record_judgement(
        session, SLUG, task.assignment_id, jo, Decision(1, note='=HYPERLINK("x")'), client_id="c", judged_at=NOW
    )
    text = unquoted(
        b"".join(judgement_export.judgements_csv(judgement_export.export_judgements(session, SLUG))).decode()
    )
    header, line = text.splitlines()
    assert header.startswith("topic,docno,judge,grade,cannot_judge,note,seconds,judged_at")
    assert '"\'=HYPERLINK(""x"")"' in line


def test_a_file_that_said_nothing_new_does_not_undo_a_later_change_either(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 2\n", name="first.txt")
    jo = session.scalars(select(User.id).where(User.name == "jo")).one()
    assignment = session.scalars(select(Assignment.id).where(Assignment.judge_id == jo)).one()
    same = "1 0 a 2\n\n"
    assert labels(session, "jo", same).known == 1
    recording.record_judgement(session, SLUG, assignment, jo, Decision(0), client_id="c1", judged_at=NOW)
    assert labels(session, "jo", same).known == 1
    assert session.scalars(select(Judgement.grade).where(Judgement.current)).all() == [0]


def test_an_unknown_topic_is_no_reason_to_offer_adding_its_documents(session: Session) -> None:
    pooled_news(session)
    [problem] = problems_of(session, "99 0 a 1\n")
    assert "99" in problem
    assert "not in the pool" not in problem


def test_all_problems_of_a_file_are_told_at_once(session: Session) -> None:
    pooled_news(session)
    problems = problems_of(session, "1 0 a 9\n1 0 stranger 1\n99 0 a 1\n1 0 b\n")
    assert [problem.partition(": ")[0] for problem in problems] == ["q.txt:1", "q.txt:2", "q.txt:3", "q.txt:4"]
    assert problems[0].endswith("which has 0, 1, 2.")
