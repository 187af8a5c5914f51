"""The most runs of a team and the rule for its tags, where runs are checked, stored, withdrawn and restored."""

from collections.abc import Sequence
from threading import Barrier, Thread

import pytest
from build import NOW, SLUG, member, news, run, run_text, stored, topic_file
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, NotAllowedError
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import Collection, Database, Role, Round, Run
from annotator.storage.collections.audit import Actor
from annotator.storage.runs.runs import RunDetails
from annotator.storage.tables.collections import Door
from annotator.workflows.collections import rounds
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.runs import run_rules, run_upload, runs, upload_review
from annotator.workflows.runs.run_upload import Submission
from annotator.workflows.runs.submissions import SubmissionChange, change_submissions

LIMIT = 1 << 20
ALPHA = {"1": ["a"], "2": ["b"]}
RED = Sender("red", organises=False)
REPLACES = Sender("red", organises=False, replaces=True)


@pytest.fixture
def red(database: Database) -> int:
    """A participant of the team red, which may have two runs, whose tags begin with its name."""
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "old", ALPHA, team="red")
        run(session, "others", ALPHA, team="blue")
        change_submissions(session, SLUG, SubmissionChange(tag_start="{team}-", plain_tags=True, most_runs=2))
        return member(session, "pat", Role.PARTICIPANT, team="red")


def files(*tags: str, first: str = "a") -> list[InputFile]:
    return [InputFile(f"{tag}.txt", run_text(tag, {"1": [first], "2": ["b"]})) for tag in tags]


def send(database: Database, user: int, given: Sequence[InputFile], sender: Sender = RED) -> list[str]:
    done = run_upload.upload(
        database,
        SLUG,
        given,
        Submission(sender, RunDetails("red")),
        actor=Actor(Door.PAGE, "pat", user),
        at=NOW,
        noted_at=NOW,
        unpacked_limit=LIMIT,
    )
    return [one.tag for one in done.receipts]


def sentences(database: Database, user: int, given: Sequence[InputFile], sender: Sender = RED) -> list[str]:
    """Why an upload is refused, after the check before it said the same."""
    with database.reading() as session:
        review = upload_review.review_upload(
            session, SLUG, given, Submission(sender, RunDetails("red")), unpacked_limit=LIMIT
        )
    with pytest.raises(FileRefusedError) as refused:
        send(database, user, given, sender)
    found = [str(problem) for problem in refused.value.problems]
    assert [str(problem) for problem in review.problems.by_file()] == found
    return found


def test_a_team_sends_no_more_runs_than_it_may_and_the_first_that_is_too_many_is_named(
    database: Database, red: int
) -> None:
    [sentence] = sentences(database, red, files("red-1", "red-2"))
    assert sentence == (
        "red-2.txt: This would be active run 3 of your team, which may have 2. Withdraw a run, replace one with the "
        "same tag, or leave this one out."
    )
    assert send(database, red, files("red-1")) == ["red-1"]
    assert len(sentences(database, red, files("red-2"))) == 1


def test_replaced_and_withdrawn_runs_do_not_count_and_one_that_is_restored_does(database: Database, red: int) -> None:
    send(database, red, files("red-1"))
    assert send(database, red, files("red-1", first="c"), REPLACES) == ["red-1"]
    with database.transaction() as session:
        runs.withdraw_run(session, SLUG, "red-1", at=NOW, by_id=red, team="red")
    assert send(database, red, files("red-2")) == ["red-2"]
    with (
        pytest.raises(ConflictError, match=r"has 2 active runs and may have 2\. Withdraw another run before"),
        database.transaction() as session,
    ):
        runs.restore_run(session, SLUG, "red-1", at=NOW, by_id=red, team="red")
    with database.transaction() as session:
        runs.withdraw_run(session, SLUG, "red-2", at=NOW, by_id=red, team="red")
        runs.restore_run(session, SLUG, "red-1", at=NOW, by_id=red, team="red")
        assert run_rules.own_rules(session, SLUG, RED, runs.list_runs(session, SLUG, team="red")).active == 2


def test_a_tag_follows_the_rule_unless_its_run_is_there(database: Database, red: int) -> None:
    [sentence] = sentences(database, red, files("gamma"))
    assert sentence == (
        "gamma.txt:1: The tag gamma does not begin with “red-”, as tags of your team must. A right tag is “red-run1”."
    )
    assert send(database, red, files("old", first="c"), REPLACES) == ["old"]
    [sentence] = sentences(database, red, files("others"))
    assert "begin with “red-”" in sentence  # and not that the tag is another team's


def test_organisers_are_bound_by_neither_but_their_runs_of_the_team_count(database: Database, red: int) -> None:
    organiser = Sender("red", organises=True)
    with database.transaction() as session:
        member(session, "ola", Role.ORGANISER)
    assert send(database, red, files("x", "y"), organiser) == ["x", "y"]
    with database.transaction() as session:
        runs.withdraw_run(session, SLUG, "x", at=NOW)
        runs.restore_run(session, SLUG, "x", at=NOW)
    assert len(sentences(database, red, files("red-1"))) == 1
    assert send(database, red, files("old", first="c"), REPLACES) == ["old"]  # three runs, and none more


def test_each_round_has_its_own_runs(database: Database, red: int) -> None:
    send(database, red, files("red-1"))
    with database.transaction() as session:
        rounds.open_round(session, SLUG, at=NOW)
        session.execute(update(Round).values(closed_at=NOW))
        rounds.open_round(session, SLUG, at=NOW)
        runs.withdraw_run(session, SLUG, "red-1", at=NOW, by_id=red, team="red")
    assert send(database, red, files("red-2", "red-3")) == ["red-2", "red-3"]
    [sentence] = sentences(database, red, files("red-4"))
    assert "active run 3 of your team in this round, and it may have 2." in sentence


def test_a_team_restores_no_run_of_a_closed_round_and_an_organiser_does(database: Database, red: int) -> None:
    with database.transaction() as session:
        rounds.open_round(session, SLUG, at=NOW)
        runs.withdraw_run(session, SLUG, "old", at=NOW, by_id=red, team="red")
    send(database, red, files("red-1", "red-2"))  # as many as it may have, besides the one that is withdrawn
    with database.transaction() as session:
        session.execute(update(Round).values(closed_at=NOW))
        rounds.open_round(session, SLUG, at=NOW)
    with pytest.raises(NotAllowedError, match="“old” is of a round that is closed"), database.transaction() as session:
        runs.restore_run(session, SLUG, "old", at=NOW, by_id=red, team="red")
    with database.transaction() as session:
        runs.restore_run(session, SLUG, "old", at=NOW)


def test_storing_names_only_the_runs_that_are_too_many_since_the_check(session: Session) -> None:
    news(session)
    topic_file(session)
    member(session, "pat", Role.PARTICIPANT, team="red")
    change_submissions(session, SLUG, SubmissionChange(most_runs=3))
    checked = run_upload.check_runs(session, SLUG, files("a", "b", "c"), sender=RED, unpacked_limit=LIMIT)
    for earlier, named in (("d", ["c"]), ("e", ["b", "c"])):
        run(session, earlier, ALPHA, team="red")
        with pytest.raises(FileRefusedError) as refused:
            stored(session, checked, team="red")
        assert [problem.file for problem in refused.value.problems] == [f"{tag}.txt" for tag in named]
    assert "active run 5 of your team, which may have 3. Withdraw 2 runs" in str(refused.value.problems[1])


def test_two_members_who_send_at_once_have_no_more_runs_than_one(database: Database, red: int) -> None:
    with database.transaction() as session:
        pam = member(session, "pam", Role.PARTICIPANT, team="red")
    begin, sent, refused = Barrier(2), [], []

    def sends(user: int, tag: str) -> None:
        begin.wait()
        try:
            sent.extend(send(database, user, files(tag)))
        except FileRefusedError as refusal:
            refused.append(str(refusal.problems[0].sentence))

    threads = [Thread(target=sends, args=one) for one in ((red, "red-1"), (pam, "red-2"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(sent), len(refused)) == (1, 1)
    assert refused[0].startswith("This would be active run 3 of your team")


def test_rules_that_change_after_the_check_hold_when_the_runs_are_stored(session: Session) -> None:
    news(session)
    topic_file(session)
    member(session, "pat", Role.PARTICIPANT, team="red")
    checked = run_upload.check_runs(session, SLUG, files("a", "b"), sender=RED, unpacked_limit=LIMIT)
    for change, found in (
        (SubmissionChange(most_runs=1), ["active run 2 of your team"]),
        (SubmissionChange(most_runs=0, tag_start="x"), ["does not begin with “x”"] * 2),
    ):
        change_submissions(session, SLUG, change)
        with pytest.raises(FileRefusedError) as refused:
            stored(session, checked, team="red")
        assert all(one in str(problem) for one, problem in zip(found, refused.value.problems, strict=True))
    assert session.scalars(select(Run)).all() == []


def test_the_next_collection_has_the_same_rules(session: Session) -> None:
    news(session)
    change_submissions(
        session, SLUG, SubmissionChange(tag_start="{team}_", most_tag_characters=30, plain_tags=True, most_runs=7)
    )
    copy_collection(session, SLUG, "next", title=None, with_documents=False, at=NOW)
    new = session.scalars(select(Collection).where(Collection.slug == "next")).one()
    assert (new.tag_start, new.most_tag_characters, new.plain_tags, new.most_runs) == ("{team}_", 30, True, 7)


def test_the_next_collection_has_the_same_corpus_and_decides_again_about_qrels(session: Session) -> None:
    news(session)
    shared = SubmissionChange(corpus=" The news of 2025.\n", shares_docnos=True, shares_qrels=True)
    change_submissions(session, SLUG, shared)
    copy_collection(session, SLUG, "next", title=None, with_documents=False, at=NOW)
    new = session.scalars(select(Collection).where(Collection.slug == "next")).one()
    assert (new.corpus, new.shares_docnos, new.shares_qrels) == ("The news of 2025.", True, False)


def test_teams_whose_tags_begin_alike_are_found(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        for team in ("가나", "다라", "red", "red.1"):
            member(session, f"of-{team}", Role.PARTICIPANT, team=team)
        assert run_rules.teams_with_one_start(session, SLUG) == {}
        change_submissions(session, SLUG, SubmissionChange(tag_start="{team}-"))
        assert run_rules.teams_with_one_start(session, SLUG) == {}
        change_submissions(session, SLUG, SubmissionChange(plain_tags=True))
        assert run_rules.teams_with_one_start(session, SLUG) == {"__-": ["가나", "다라"]}
        # A beginning without the name is that of all teams on purpose.
        change_submissions(session, SLUG, SubmissionChange(tag_start="news-"))
        assert run_rules.teams_with_one_start(session, SLUG) == {}
        # The room for names is one character, and they are cut.
        change_submissions(session, SLUG, SubmissionChange(tag_start="{team}-", most_tag_characters=6))
        assert run_rules.teams_with_one_start(session, SLUG) == {"_-": ["가나", "다라"], "r-": ["red", "red.1"]}
