"""Runs by page: sent, receipted, corrected, changed, withdrawn; for a participant those of their team, in time."""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from build import NOW, SLUG, labels, member, pool, run, run_text
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from visiting import Visit, Visitor, file, hidden, words
from werkzeug.test import TestResponse

from annotator.storage import Collection, Database, Role, Round, Run, Topic, TopicState
from annotator.web.leaderboard import run as run_page
from annotator.web.people import senders
from annotator.web.site import background as later
from annotator.workflows.collections import collection
from annotator.workflows.people import members
from annotator.workflows.runs import run_upload, runs, submissions
from annotator.workflows.runs.submissions import Deadline, SubmissionChange

GOOD = run_text("gamma", {"1": ["a", "f"], "2": ["b"]})
BETTER = run_text("gamma", {"1": ["f", "a"], "2": ["b"]})
DEADLINE = NOW + timedelta(days=1)
EARLY, LATE = DEADLINE - timedelta(microseconds=1), DEADLINE
TOO_LATE = "The submission deadline has passed: runs could be submitted and changed before 2026-03-02 09:00 UTC."


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """What the clock of the pages of runs says: its last entry."""
    moments = [EARLY]
    for module in (run_page, later, senders):
        monkeypatch.setattr(module, "now", lambda: moments[-1])
    return moments


def change_rules(session: Session, *, until: datetime | None = None, terms: str = "") -> None:
    submissions.change_submissions(session, SLUG, SubmissionChange(Deadline(until), terms))


def set_rules(database: Database, *, until: datetime | None = None, terms: str = "") -> None:
    with database.transaction() as session:
        change_rules(session, until=until, terms=terms)


def send(visitor: Visitor, news: str, content: bytes = GOOD, **fields: object) -> TestResponse:
    return visitor.post(f"{news}/runs", files=file("gamma.run", content), **fields)


def sent(database: Database, *, every: bool = True) -> list[tuple[str, int, str | None, str]]:
    with database.reading() as session:
        rows = runs.list_runs(session, SLUG, every=every)
    return [(row.tag, row.version, row.team, row.state.value) for row in rows if row.tag not in {"alpha", "beta"}]


def test_runs_are_checked_then_stored_then_given_back_byte_for_byte(
    visit: Visit, news: str, database: Database
) -> None:
    ola = visit("ola")
    checked = ola.post(f"{news}/runs/check", files=file("gamma.run", GOOD))
    assert checked.status_code == 200
    assert "No problems in these files" in words(checked)
    assert 'value="gamma"' in checked.text
    assert sent(database) == []
    answer = send(ola, news, team="blue", description="by hand", run_type="manual", priority="2")
    assert answer.status_code == 303
    page = words(ola.get(answer.location))
    assert "has stored these runs: 1." in page
    assert "gamma blue manual 2 2 3" in words(ola.get(f"{news}/runs"))
    back = ola.get(f"{news}/runs/file?tag=gamma")
    assert back.data == GOOD
    assert back.headers["Content-Disposition"] == "attachment; filename=gamma.run"


def test_a_receipt_names_the_file_by_its_checksum_who_sent_it_and_what_it_has(
    visit: Visit, news: str, clock: list[datetime]
) -> None:
    pat = visit("pat")
    files = [file("gamma.run", GOOD), file("delta.run", run_text("delta", {"1": ["a"], "2": ["a"]}))]
    answer = pat.post(f"{news}/runs", files=files, run_type="manual", priority="3", description="by hand")
    for address in (answer.location, f"{news}/runs/receipt?tag=gamma", f"{news}/runs/receipt?tag=gamma&version=1"):
        page = words(pat.get(address))
        assert f"SHA-256 of the file {hashlib.sha256(GOOD).hexdigest()}" in page
        assert (
            f"Team red Version 1 Type manual Priority 3 Uploaded {clock[-1]:%Y-%m-%d %H:%M} UTC By pat File gamma.run "
            f"Bytes {len(GOOD)} Topics 2" in page
        )
        assert "Documents and lines 3" in page
        assert "Description by hand" in page
        assert "Warnings for gamma.run Documents that are not in the corpus: 1; lines with them: 1;" in page
    both = words(pat.get(answer.location))
    assert "has stored these runs: 2." in both
    assert both.index("delta.run") < both.index("gamma.run")
    for address in ("at=2026-01-01T00:00:00%2B00:00", "at=then", "tag=none", "tag=gamma&version=2", "version=x", ""):
        assert pat.get(f"{news}/runs/receipt?{address}").status_code == 404


def test_warnings_are_counted_in_lists_and_told_in_full_when_checked_and_later(visit: Visit, news: str) -> None:
    pat = visit("pat")
    strange = b"1 Q0 a 1 5 gamma\n1 Q0 b 2 5 gamma\n"
    checked = words(pat.post(f"{news}/runs/check", files=file("gamma.run", strange)))
    send(pat, news, strange)
    later = words(pat.get(f"{news}/runs/run?tag=gamma"))
    for page in (checked, later):
        assert "Topics that the run leaves out: 1 of 2 (2)." in page
        assert "Documents that share their score with another of their topic: 2" in page
    assert "Warnings: 2" in later
    assert "gamma 1 1 2 2 20" in words(pat.get(f"{news}/runs"))


def test_a_participant_sends_and_sees_runs_of_their_own_team_only(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "theirs", {"1": ["a"]}, team="blue")
        member(session, "bea", Role.PARTICIPANT, team="blue")
        pool(session)
    pat = visit("pat")
    assert send(pat, news, team="blue").status_code == 303
    assert sent(database) == [("gamma", 1, "red", "in force"), ("theirs", 1, "blue", "in force")]
    for address in ("", "/runs", "/runs?show=all", "/runs/run?tag=gamma", "/runs/receipt?tag=gamma", "/scores"):
        page = pat.get(f"{news}{address}")
        assert page.status_code == 200
        for others in ("theirs", "blue", "alpha", "beta", "bea"):
            assert others not in page.text
    assert pat.get(f"{news}/runs/file?tag=gamma").data == GOOD


@pytest.mark.parametrize("tag", ["theirs", "alpha", "none", ""])
def test_another_teams_run_is_to_a_participant_as_one_that_does_not_exist(
    visit: Visit, news: str, database: Database, tag: str
) -> None:
    with database.transaction() as session:
        run(session, "theirs", {"1": ["a"]}, team="blue")
    pat = visit("pat")
    fields = {"priority": "2", "run_type": "manual"}
    answers = [
        *(pat.get(f"{news}/runs/{page}?tag={tag}") for page in ("run", "receipt", "file")),
        *(pat.get(f"{news}/runs/{page}?tag={tag}&version=1") for page in ("receipt", "file")),
        *(pat.post(f"{news}/runs/{deed}?tag={tag}") for deed in ("withdraw", "restore")),
        pat.post(f"{news}/runs/run?tag={tag}", **fields),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert all(f"There is no run “{tag}” in this collection." in words(answer) for answer in answers)
    with database.reading() as session:
        assert {row.state for row in runs.list_runs(session, SLUG, every=True)} == {"in force"}


def test_a_tag_that_another_team_has_is_refused_without_its_name(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "gamma", {"1": ["a"]}, team="blue")
    for fields in ({}, {"replaces": "y"}, {"team": "blue", "replaces": "y"}):
        answer = visit("pat").post(f"{news}/runs", files=file("gamma.run", GOOD), **fields)
        assert answer.status_code == 422
        assert "gamma.run:1 The tag gamma is taken by another run." in words(answer)
        assert "blue" not in answer.text
    assert sent(database) == [("gamma", 1, "blue", "in force")]


def test_a_corrected_file_takes_the_place_of_the_old_one_which_is_kept(
    visit: Visit, news: str, database: Database
) -> None:
    pat = visit("pat")
    send(pat, news, description="by hand", run_type="manual", priority="3")
    checked = pat.post(f"{news}/runs/check", files=file("gamma.run", BETTER), replaces="y")
    assert "replaces the run with the same tag" in words(checked)
    answer = send(pat, news, BETTER, replaces="y")
    assert "It replaces an earlier file, which is kept." in words(pat.get(answer.location))
    assert sent(database) == [("gamma", 1, "red", "replaced"), ("gamma", 2, "red", "in force")]
    assert "gamma manual 3" in words(pat.get(f"{news}/runs"))
    every = words(pat.get(f"{news}/runs?show=all"))
    assert "gamma manual replaced on" in every
    assert "gamma manual active" in every
    assert pat.get(f"{news}/runs/file?tag=gamma").data == BETTER
    assert pat.get(f"{news}/runs/file?tag=gamma&version=1").data == GOOD
    assert hashlib.sha256(GOOD).hexdigest() in pat.get(f"{news}/runs/receipt?tag=gamma&version=1").text
    for version in ("3", "0", "-1", "x", "9" * 30):
        assert pat.get(f"{news}/runs/file?tag=gamma&version={version}").status_code == 404


def test_a_team_replaces_no_run_of_its_own_by_accident(visit: Visit, news: str, database: Database) -> None:
    pat = visit("pat")
    send(pat, news)
    answer = send(pat, news, BETTER)
    assert answer.status_code == 422
    assert "Your team has a run gamma already. Tick “Replace runs with the same tag” to replace it," in words(answer)
    assert "Replace runs with the same tag" in words(pat.get(f"{news}/runs"))
    for answer in (send(pat, news), send(pat, news, replaces="y")):
        assert "This file is stored already, as the run gamma." in words(answer)
    assert sent(database) == [("gamma", 1, "red", "in force")]


def test_good_files_are_told_of_beside_bad_ones(visit: Visit, news: str, database: Database) -> None:
    files = [file("gamma.run", GOOD), file("bad.run", "1 Q0 a 1 high bad\n")]
    answer = visit("pat").post(f"{news}/runs/check", files=files)
    assert answer.status_code == 422
    page = words(answer)
    assert "bad.run:1 The score high is not a finite decimal number" in page
    assert "No problems in the other files: 1." in page
    assert "Topics that the run leaves out" not in page
    assert 'value="gamma"' in answer.text
    assert sent(database) == []


def test_what_an_organiser_withdrew_only_organisers_restore(visit: Visit, news: str, database: Database) -> None:
    pat, ola = visit("pat"), visit("ola")
    send(pat, news)
    ola.post(f"{news}/runs/withdraw?tag=gamma", confirmed="y")
    page = pat.get(f"{news}/runs/run?tag=gamma")
    assert "The organisers have withdrawn it. Only they can restore it." in words(page)
    assert "Restore the run" not in page.text
    assert "Restore the run" not in pat.get(f"{news}/runs?show=all").text
    assert "gamma withdrawn by the organisers on" in words(pat.get(f"{news}/runs?show=all"))
    assert "Withdrawn by ola" in words(ola.get(f"{news}/runs/run?tag=gamma"))
    assert pat.post(f"{news}/runs/restore?tag=gamma").status_code == 403
    answer = send(pat, news, BETTER, replaces="y")
    assert "The organisers have withdrawn the run gamma. Take another tag." in words(answer)
    assert sent(database) == [("gamma", 1, "red", "withdrawn")]
    assert ola.post(f"{news}/runs/restore?tag=gamma").status_code == 303
    assert sent(database) == [("gamma", 1, "red", "in force")]


@pytest.mark.parametrize(
    ("meanwhile", "status"),
    [
        (lambda session: change_rules(session, until=EARLY), 409),
        (lambda session: change_rules(session, terms="Pay."), 403),
        (lambda session: members.remove_member(session, SLUG, "pat", Role.PARTICIPANT, at=NOW), 403),
        (lambda session: runs.withdraw_run(session, SLUG, "gamma", at=NOW), 422),
        (lambda session: collection.close_collection(session, SLUG), 409),
    ],
)
@pytest.mark.usefixtures("clock")
def test_what_changes_while_files_are_read_is_looked_at_again_before_they_are_stored(
    visit: Visit,
    news: str,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: Callable[[Session], None],
    status: int,
) -> None:
    pat = visit("pat")
    send(pat, news)
    check_each_run = run_upload.check_each_run

    def check_then_change(*given: Any, **named: Any) -> run_upload.CheckedFiles:  # noqa: ANN401 - passed on
        checked = check_each_run(*given, **named)
        with database.transaction() as session:
            meanwhile(session)
        return checked

    monkeypatch.setattr(run_upload, "check_each_run", check_then_change)
    assert send(pat, news, BETTER, replaces="y").status_code == status
    assert [version for _, version, _, _ in sent(database)] == [1]


def test_a_participant_cannot_tell_a_draft_from_no_topic(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        session.scalars(select(Topic).where(Topic.number == "2")).one().state = TopicState.DRAFT
    told = [
        words(send(visit("pat"), news, run_text("gamma", {number: ["a"]}))).replace(f"topic {number}", "topic N")
        for number in ("2", "9")
    ]
    assert "The collection has no topic N." in told[0]
    assert told[0] == told[1]
    assert send(visit("ola"), news).status_code == 303


def test_an_organiser_corrects_a_run_only_when_they_say_so(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    send(ola, news, team="red")
    assert "The tag gamma is taken by another run." in words(send(ola, news, BETTER))
    assert send(ola, news, BETTER, replaces="y").status_code == 303
    assert sent(database) == [("gamma", 1, "red", "replaced"), ("gamma", 2, "red", "in force")]


def test_priority_type_and_description_are_changed(visit: Visit, news: str, database: Database) -> None:
    pat = visit("pat")
    send(pat, news)
    page = f"{news}/runs/run?tag=gamma"
    assert pat.post(page, priority="2", run_type="automatic", description="BM25", team="blue").status_code == 303
    assert "Changes saved." in words(pat.get(page))
    assert "gamma automatic 2" in words(pat.get(f"{news}/runs"))
    for priority in ("0", "100", "first", ""):
        answer = pat.post(page, priority=priority, run_type="manual", description="kept on the page")
        assert answer.status_code == 422
        assert "kept on the page" in answer.text
    assert pat.post(page, priority="1", run_type="magic").status_code == 422
    assert sent(database) == [("gamma", 1, "red", "in force")]
    visit("ola").post(page, priority="2", run_type="automatic", description="BM25", team="blue")
    assert sent(database) == [("gamma", 1, "blue", "in force")]


def test_a_run_is_withdrawn_and_restored(visit: Visit, news: str, database: Database) -> None:
    pat = visit("pat")
    send(pat, news)
    for deed, state, sentence in (
        ("withdraw", "withdrawn", "Run gamma withdrawn."),
        ("restore", "in force", "The run gamma is active again."),
    ):
        answer = pat.post(f"{news}/runs/{deed}?tag=gamma", confirmed="y")
        assert answer.status_code == 303
        assert sentence in words(pat.get(answer.location))
        assert sent(database) == [("gamma", 1, "red", state)]
        assert pat.post(f"{news}/runs/{deed}?tag=gamma").status_code == 409
    answer = pat.post(f"{news}/runs/withdraw?tag=gamma", confirmed="y")
    assert "neither pooled nor scored" in words(pat.get(answer.location))
    assert "gamma" not in words(pat.get(f"{news}/runs"))
    assert "gamma withdrawn on" in words(pat.get(f"{news}/runs?show=all"))


def test_a_team_hears_before_it_withdraws_a_run_of_a_closed_round_that_it_cannot_restore_it(
    visit: Visit, news: str, database: Database
) -> None:
    pat = visit("pat")
    send(pat, news)
    with database.transaction() as session:
        collection_id = session.scalars(select(Collection.id).where(Collection.slug == SLUG)).one()
        session.add(Round(collection_id=collection_id, number=1, name="", opened_at=NOW, closed_at=NOW))
        session.flush()
        session.execute(update(Run).values(round_id=session.scalars(select(Round.id)).one()))
    asked = words(pat.post(f"{news}/runs/withdraw?tag=gamma"))
    assert "Its round is closed: only the organisers can restore it." in asked
    assert "until the submission deadline" not in asked
    answer = pat.post(f"{news}/runs/withdraw?tag=gamma", confirmed="y")
    page = words(pat.get(answer.location))
    assert "Run gamma withdrawn." in page
    assert "It can be restored" not in page


def test_participants_send_and_change_until_the_deadline_and_organisers_after_it(
    visit: Visit, news: str, database: Database, clock: list[datetime]
) -> None:
    set_rules(database, until=DEADLINE)
    pat, ola = visit("pat"), visit("ola")
    assert send(pat, news).status_code == 303
    assert "Submission deadline: 2026-03-02 09:00 UTC" in words(pat.get(f"{news}/runs"))
    clock.append(LATE)
    page = pat.get(f"{news}/runs")
    assert "The submission deadline has passed: 2026-03-02 09:00 UTC" in words(page)
    assert "Upload runs" not in words(page)
    assert "Withdraw" not in words(page)
    assert "Save the changes" not in words(pat.get(f"{news}/runs/run?tag=gamma"))
    changes = {"priority": "2", "run_type": "manual"}
    refused = [
        send(pat, news, BETTER),
        pat.post(f"{news}/runs/withdraw?tag=gamma"),
        pat.post(f"{news}/runs/restore?tag=gamma"),
        pat.post(f"{news}/runs/run?tag=gamma", **changes),
    ]
    assert [answer.status_code for answer in refused] == [409] * 4
    assert all(TOO_LATE in words(answer) for answer in refused)
    assert pat.post(f"{news}/runs/check", files=file("gamma.run", BETTER), replaces="y").status_code == 200
    assert sent(database) == [("gamma", 1, "red", "in force")]
    assert "Upload runs" in words(ola.get(f"{news}/runs"))
    assert send(ola, news, BETTER, replaces="y").status_code == 303
    assert ola.post(f"{news}/runs/run?tag=gamma", **changes).status_code == 303
    assert ola.post(f"{news}/runs/withdraw?tag=gamma", confirmed="y").status_code == 303
    assert ola.post(f"{news}/runs/restore?tag=gamma").status_code == 303


def test_what_is_late_is_told_so_before_anything_is_read(
    visit: Visit, news: str, database: Database, clock: list[datetime]
) -> None:
    set_rules(database, until=DEADLINE)
    clock.append(LATE)
    answer = send(visit("pat"), news, b"rubbish")
    assert answer.status_code == 409
    assert "gamma.run" not in words(answer)


def test_terms_come_before_runs_and_bind_participants_only(visit: Visit, news: str, database: Database) -> None:
    set_rules(database, terms="Cite the task.")
    pat, ola = visit("pat"), visit("ola")
    answer = send(pat, news)
    assert answer.status_code == 403
    assert "Accept the terms of the task before you send runs." in words(answer)
    assert sent(database) == []
    assert "Upload runs" not in words(pat.get(f"{news}/runs"))
    pat.post(f"{news}/terms", fingerprint=hidden(pat.get(f"{news}/terms"), "fingerprint"))
    assert send(pat, news).status_code == 303
    set_rules(database, terms="Pay for the task.")
    assert send(pat, news, BETTER).status_code == 403
    assert pat.post(f"{news}/runs/withdraw?tag=gamma", confirmed="y").status_code == 303
    assert pat.post(f"{news}/runs/restore?tag=gamma").status_code == 403
    assert send(ola, news, BETTER, replaces="y").status_code == 303


def test_a_closed_collection_takes_no_runs_from_anybody(visit: Visit, news: str) -> None:
    visit("ola").post(f"{news}/close")
    for name in ("pat", "ola"):
        page = words(visit(name).get(f"{news}/runs"))
        assert "Upload runs" not in page
        assert "Withdraw" not in page
        assert send(visit(name), news).status_code == 409


def test_an_organiser_sees_all_runs_by_team_and_who_has_sent_nothing(
    visit: Visit, news: str, database: Database
) -> None:
    with database.transaction() as session:
        member(session, "bea", Role.PARTICIPANT, team="blue")
        member(session, "ben", Role.PARTICIPANT, team="blue")
        run(session, "zeta", {"1": ["a"]}, team="aqua")
    page = words(visit("ola").get(f"{news}/runs"))
    assert "Teams without an active run blue (bea, ben) red (pat)" in page
    assert page.index("alpha") < page.index("beta") < page.index("zeta aqua")
    send(visit("pat"), news)
    assert "Teams without an active run blue (bea, ben)" in words(visit("ola").get(f"{news}/runs"))
    assert "Teams without an active run" not in words(visit("pat").get(f"{news}/runs"))


def test_an_organiser_is_warned_of_the_same_ranking_and_teams_are_not(
    visit: Visit, news: str, database: Database
) -> None:
    with database.transaction() as session:
        member(session, "bea", Role.PARTICIPANT, team="blue")
        run(session, "genuine", {"1": ["a", "b"], "2": ["e"]}, team="red")
        run(session, "borrowed", {"1": ["a", "b"], "2": ["e"]}, team="blue")
    ola = visit("ola")
    assert "Warning: the same ranking as borrowed" in words(ola.get(f"{news}/runs"))
    assert "Warning: the same ranking as genuine" in words(ola.get(f"{news}/runs"))
    assert "The same ranking was submitted by another or an unknown team" in words(
        ola.get(f"{news}/runs/run?tag=borrowed")
    )
    for name, own, other in (("pat", "genuine", "borrowed"), ("bea", "borrowed", "genuine")):
        for path in ("runs", "runs?show=all", f"runs/run?tag={own}", f"runs/receipt?tag={own}"):
            page = visit(name).get(f"{news}/{path}")
            assert page.status_code == 200
            assert other not in words(page)
            assert "ranking" not in words(page)


def test_a_withdrawn_run_has_no_score(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n")
    pat = visit("pat")
    send(pat, news)
    visit("ola").post(f"{news}/release", early="y")
    assert "gamma" in words(pat.get(f"{news}/scores"))
    pat.get(pat.post(f"{news}/runs/withdraw?tag=gamma", confirmed="y").location)
    assert "gamma" not in words(pat.get(f"{news}/scores"))
