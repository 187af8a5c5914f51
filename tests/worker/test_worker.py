"""Jobs: large imports and long pages are answered by the worker, once, whatever happens to it."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from build import NOW, SLUG
from flask import Flask
from sqlalchemy import select, update
from visiting import Visitor, file, hidden, words
from werkzeug.test import TestResponse
from worker.at_work import GOOD, N, Visit, job_of, runs_called, state, work

from annotator.storage import Database, Job, JobPart, JobState, Role, Run, User
from annotator.web.site import background
from annotator.web.site.background import JOB_KIND, KINDS
from annotator.workflows.people import members
from annotator.workflows.topics import topics


def test_a_large_file_is_imported_by_the_worker_and_its_page_leads_on(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    waiting = ola.get(page)
    assert "Queued." in words(waiting)
    assert '<noscript><meta http-equiv="refresh"' in waiting.text
    assert ola.get(f"{page}.json").json == {"state": "waiting", "done": 0, "steps": 0, "before": 0}
    assert runs_called(news, "gamma") == 0
    work(news)
    done = ola.get(page)
    assert (done.status_code, "/runs/receipt?at=" in done.location) == (303, True)
    assert "gamma" in words(ola.get(done.location))
    assert f"{page}" in ola.get(f"{N}/jobs").text
    assert runs_called(news, "gamma") == 1
    with news.reading() as session:
        # It arrived when it was sent, and what was sent is kept as the run's file alone.
        assert (
            session.scalars(select(Run.uploaded_at).where(Run.tag == "gamma")).one()
            == session.scalars(select(Job.asked_at)).one()
        )
        assert session.scalars(select(JobPart)).all() == []


def test_what_a_form_says_when_it_is_done_stands_on_the_page(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/topics", files=file("more.tsv", "3\tthird\n"), draft="y"))
    work(news)
    assert "Topics added: 1, reworded: 0, unchanged: 0." in words(ola.get(page))


@pytest.mark.parametrize("path", ["runs", "runs/check", "documents", "topics"])
def test_what_is_wrong_with_a_file_is_told_as_on_the_page_of_the_form(visit: Visit, news: Database, path: str) -> None:
    ola = visit("ola")
    bad = b"1 Q0\n{\n" if path != "topics" else b"1\n"
    page = job_of(ola.post(f"{N}/{path}", files=file("bad.file", bad)))
    work(news)
    answer = ola.get(ola.get(page).location)
    background.HEAVIEST_AT_ONCE = 1 << 20
    at_once = ola.post(f"{N}/{path}", files=file("bad.file", bad))
    assert (answer.status_code, unmarked(answer)) == (at_once.status_code, unmarked(at_once))
    assert "bad.file:1" in words(answer)
    with news.reading() as session:
        result, kept = session.execute(select(Job.result, Job.output).order_by(Job.id).limit(1)).one()
    # Of runs the findings are kept, and not the page, whose form needs a token.
    mark, is_page = result[background.MARK], not path.startswith("runs")
    assert (mark.encode() in (kept or b""), mark in answer.text) == (is_page, False)
    assert state(news)[0] == JobState.FAILED


def unmarked(page: TestResponse) -> str:
    """The words of a page without those of the menu that count failed jobs."""
    return words(page).replace(" 1 waiting", "")


def test_labels_are_imported_by_the_worker(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    assert "Labels added: 1," in words(ola.get(labels_imported(ola, news, "1 0 a 1\n")))


def labels_imported(ola: Visitor, news: Database, text: str) -> str:
    """The page of the job that imported these labels, after another had checked them."""
    checked = job_of(ola.post(f"{N}/judgements", file=file("q.txt", text), judge="nist"))
    work(news)
    value = hidden(ola.get(f"{checked}/answer"), "confirmed")
    page = job_of(ola.post(f"{N}/judgements", file=file("q.txt", text), judge="nist", confirmed=value))
    work(news)
    return page


def test_a_participants_upload_counts_as_of_when_it_was_sent(visit: Visit, news: Database) -> None:
    pat = visit("pat")
    page = job_of(pat.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    with news.transaction() as session:
        session.execute(update(Job).values(asked_at=datetime(2026, 1, 1, tzinfo=UTC)))
    visit("ola").post(f"{N}/submissions", until="2026-02-01 00:00", most_documents="1000")
    work(news)
    assert "gamma" in words(pat.get(pat.get(page).location))


def test_who_lost_the_right_meanwhile_stores_nothing(visit: Visit, news: Database) -> None:
    pat = visit("pat")
    page = job_of(pat.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    with news.transaction() as session:
        session.execute(update(User).where(User.name == "pat").values(sign_in_generation=9))
    work(news)
    assert "signed out everywhere" in words(visit("pat").get(page))
    assert runs_called(news, "gamma") == 0


def test_jobs_are_seen_by_who_asked_and_by_organisers_and_answers_by_who_asked(visit: Visit, news: Database) -> None:
    pat, ola, jo = visit("pat"), visit("ola"), visit("jo")
    page = job_of(pat.post(f"{N}/runs", files=file("bad.run", "x\n")))
    work(news)
    answer = pat.get(page).location
    assert (pat.get(answer).status_code, ola.get(answer).status_code, jo.get(answer).status_code) == (422, 404, 403)
    assert (ola.get(page).status_code, jo.get(page).status_code) == (200, 404)
    assert "Import of runs" in words(ola.get(f"{N}/jobs"))
    assert "Long imports and computations will be listed here" in words(jo.get(f"{N}/jobs"))


def test_who_may_do_less_by_now_does_not_read_what_they_asked_for_before(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/runs", files=file("bad.run", "x\n")))
    work(news)
    answer = ola.get(page).location
    assert ola.get(answer).status_code == 422
    with news.transaction() as session:
        members.add_member(session, SLUG, "ola", Role.JUDGE, added_at=NOW)
        members.add_member(session, SLUG, "jo", Role.ORGANISER, added_at=NOW)
        members.remove_member(session, SLUG, "ola", Role.ORGANISER, at=NOW)
    assert ola.get(answer).status_code == 403


def test_a_fault_in_a_job_is_told_and_the_next_is_done(
    visit: Visit, news: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ola = visit("ola")
    pages = [job_of(ola.post(f"{N}/topics", files=file("t.tsv", f"{number}\tnew\n"))) for number in (8, 9)]
    stored, faults = topics.import_topics, iter([ZeroDivisionError("a fault")])

    def first_fails(*given: Any, **named: Any) -> object:  # noqa: ANN401 - passed on
        for fault in faults:
            raise fault
        return stored(*given, **named)

    monkeypatch.setattr(topics, "import_topics", first_fails)
    work(news)
    assert "ZeroDivisionError: a fault" in caplog.text
    assert "This is our fault, not yours." in words(ola.get(pages[0]))
    assert "Topics added: 1," in words(ola.get(pages[1]))


def test_a_long_page_is_made_by_the_worker_and_read_at_its_own_address(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    labels_imported(ola, news, "1 0 a 1\n1 0 d 0\n")
    asked = f"{N}/significance?m=AP"
    page = job_of(ola.get(asked))
    assert job_of(ola.get(asked)) == page
    work(news)
    assert ola.get(page).location == asked
    found = ola.get(asked)
    assert 'class="computed fresh"' in found.text
    background.MOST_LISTS_AT_ONCE = 1000
    at_once = words(ola.get(asked))
    background.MOST_LISTS_AT_ONCE = 0
    assert re.sub(r"Computed .* Compute again ", "", words(found)) == at_once
    with news.reading() as session:
        marks = [result[background.MARK] for result in session.scalars(select(Job.result))]
    assert not any(mark in found.text for mark in marks)
    assert len(set(marks)) == len(marks) == 3


def test_the_last_answer_stays_until_it_is_computed_again(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    labels_imported(ola, news, "1 0 a 1\n1 0 d 0\n")
    asked = f"{N}/significance?m=AP"
    ola.get(asked)
    work(news)
    labels_imported(ola, news, "2 0 a 1\n")
    assert 'class="computed changed"' in ola.get(asked).text
    again = job_of(ola.post(f"{N}/jobs", page=asked))
    assert ola.get(asked).location == again
    work(news)
    assert 'class="computed fresh"' in ola.get(asked).text


def test_a_refusal_is_shown_until_the_collection_changes(visit: Visit, news: Database) -> None:
    ola, asked = visit("ola"), f"{N}/significance?m=nonsense"
    job = job_of(ola.get(asked))
    work(news)
    assert ola.get(job).location == asked
    assert ola.get(asked).status_code == 422
    assert state(news) == [JobState.FAILED]
    labels_imported(ola, news, "1 0 a 1\n1 0 d 0\n")
    assert job_of(ola.get(asked)) != job


def test_a_file_is_computed_again_once_the_collection_has_changed(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    labels_imported(ola, news, "1 0 a 1\n1 0 d 0\n")
    asked = f"{N}/significance.csv?m=AP"
    ola.get(asked)
    work(news)
    assert ola.get(asked).status_code == 200
    labels_imported(ola, news, "2 0 a 1\n")
    assert ola.get(asked).status_code == 303


def test_an_answer_in_one_language_is_not_shown_in_another(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    labels_imported(ola, news, "1 0 a 1\n1 0 d 0\n")
    asked = f"{N}/significance?m=AP"
    ola.get(asked)
    work(news)
    ola.client.set_cookie("annotator_language", "ko")
    assert ola.get(asked).status_code == 303


def test_a_file_is_made_and_downloaded(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    labels_imported(ola, news, "1 0 a 1\n1 0 d 0\n")
    page = job_of(ola.post(f"{N}/jobs", page=f"{N}/report.html"))
    work(news)
    assert "Download the file" in words(ola.get(page))
    answer = ola.get(f"{page}/answer")
    assert answer.headers["Content-Disposition"] == f"attachment; filename={SLUG}-report.html"
    assert answer.text.startswith("<!doctype html>")


@pytest.mark.parametrize("page", ["", "/", f"{N}/runs", "/collections/other/report.html", "//elsewhere/report.html"])
def test_only_long_pages_of_the_collection_can_be_asked_for(visit: Visit, page: str) -> None:
    assert visit("ola").post(f"{N}/jobs", page=page).status_code == 422


# As they stand in databases since the first version with jobs: whatever becomes of the views, these names stay.
OF_FORMS = {
    *("runs.upload", "runs.check", "runs.store", "documents.add", "topics.add", "judgements.add", "click_logs.add"),
    *("first_steps.add_task", "archives.export", "archives.copy", "archives.import", "interleaving.make"),
    *("docno_lists.add", "release_kit.publish", "release_kit.check", "run_fetching.fetch"),
}
OF_CALLS = {
    *("Runs.upload_run", "Runs.check_run", "Documents.import_documents", "Documents.import_docnos"),
    *("Topics.import_topics", "Judging.import_labels", "Judging.import_gold_questions", "Judging.import_training"),
    *("Collections.export_archive", "Collections.import_archive", "Agreement.show_effect", "Scores.show_significance"),
    *("Scores.show_leave_out", "Scores.show_quality", "Scores.export_report", "Pool.simulate_pool"),
    *(
        "Pool.replay_pool",
        "Runs.fetch_run",
        "Runs.fetch_from_run_source",
        "Clicks.interleave_runs",
        "Scores.publish_kit",
        "Scores.check_kit",
    ),
}
OF_PAGES = {
    *("report.file", "judge_effect.show", "significance.show", "significance.as_csv", "leave_out.show"),
    *("quality.show", "pool_simulation.show", "pool_simulation.replay"),
}


def test_the_kinds_of_stored_jobs_keep_their_names_whatever_the_views_are_called(app: Flask) -> None:
    assert set(KINDS) == OF_FORMS | OF_CALLS | OF_PAGES
    left = {getattr(view, JOB_KIND) for view in app.view_functions.values() if hasattr(view, JOB_KIND)}
    assert left == OF_FORMS | OF_PAGES
    assert set(app.view_functions) >= OF_CALLS


def test_a_page_is_stored_as_a_job_by_the_name_of_its_kind(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    for page in (
        "report.html",
        "quality",
        "quality/leave-out",
        "significance",
        "significance.csv",
        "agreement/effect",
        "pool/simulation",
        "pool/replay",
    ):
        assert ola.post(f"{N}/jobs", page=f"{N}/{page}").status_code == 303
        work(news)
    with news.reading() as session:
        assert set(session.scalars(select(Job.kind))) == OF_PAGES


def test_a_job_is_done_by_its_address_also_when_its_kind_is_not_known_any_more(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    labels_imported(ola, news, "1 0 a 1\n1 0 d 0\n")
    page = job_of(ola.post(f"{N}/jobs", page=f"{N}/report.html"))
    with news.transaction() as session:
        session.execute(update(Job).values(kind="a_former_view.file"))
    work(news)
    assert "a_former_view.file" in words(ola.get(page))
    assert ola.get(f"{page}/answer").text.startswith("<!doctype html>")


def test_a_form_that_was_refused_keeps_no_rows(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    job = job_of(ola.post(f"{N}/runs/check", files=file("gamma.run", GOOD), priority="high"))
    work(news)
    assert ola.get(ola.get(job).location).status_code == 422
    assert ola.get(f"{N}/runs/uploads/{job.rsplit('/', 1)[1]}").status_code == 404
