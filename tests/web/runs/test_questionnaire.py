"""The pages of the questionnaire: written by organisers, answered with an upload and later, read and downloaded."""

import re

import pytest
from build import SLUG, run_text
from visiting import Visit, Visitor, file, words
from werkzeug.test import TestResponse

from annotator.evaluation.runs.questionnaires import AnswerKind, RunQuestion
from annotator.storage import Database
from annotator.workflows.runs import questionnaires, runs

GAMMA = run_text("gamma", {"1": ["a", "b"], "2": ["c"]})


def question(number: int, **fields: str) -> dict[str, str]:
    """The fields of a row of the form."""
    return {f"question-{number}-{name}": value for name, value in {"kind": "text", **fields}.items()}


def asked(database: Database) -> tuple[RunQuestion, ...]:
    return database.read(questionnaires.show_questionnaire, SLUG).questions


def answers(database: Database, tag: str = "gamma") -> dict[str, str]:
    return dict(database.read(questionnaires.show_answers, SLUG, tag).answers)


def seen(page: TestResponse) -> dict[str, str]:
    """The hidden fields of the form on a page: what was seen when it was opened."""
    found = re.findall(r'name="(questionnaire_version|seen_answers)" type="hidden" value="([^"]*)"', page.text)
    return dict(found)


def send(visitor: Visitor, news: str, **fields: str) -> TestResponse:
    """Open the page of the runs and submit the run gamma from its form."""
    return visitor.post(f"{news}/runs", files=file("g.txt", GAMMA), **seen(visitor.get(f"{news}/runs")), **fields)


def answer(visitor: Visitor, news: str, **fields: str) -> TestResponse:
    """Open the page of the answers about gamma and send its form."""
    address = f"{news}/runs/answers?tag=gamma"
    return visitor.post(address, **seen(visitor.get(address)), **fields)


def save(ola: Visitor, news: str, *rows: dict[str, str], after: int = 0) -> TestResponse:
    fields = {name: value for row in rows for name, value in row.items()}
    return ola.post(f"{news}/questionnaire", after=str(after), **fields)


TRAINED = question(0, key="trained", text="Was it trained on these topics?", kind="yes-no", required="y")
MODEL = question(1, key="model", text="Which <model>?", kind="choice", choices="BM25\r\ndense\r\n")


@pytest.fixture
def ola(visit: Visit, news: str) -> Visitor:
    """The organiser, who asks two questions."""
    ola = visit("ola")
    assert save(ola, news, TRAINED, MODEL, question(2)).status_code == 303
    return ola


def test_an_organiser_asks_and_changes_what_is_asked(ola: Visitor, news: str, database: Database) -> None:
    assert asked(database) == (
        RunQuestion("trained", "Was it trained on these topics?", AnswerKind.YES_NO, required=True),
        RunQuestion("model", "Which <model>?", AnswerKind.CHOICE, choices=("BM25", "dense")),
    )
    page = ola.get(f"{news}/questionnaire")
    assert "Which &lt;model&gt;?" in page.text
    assert save(ola, news, {**TRAINED, "question-0-remove": "y"}, MODEL, question(2), after=1).status_code == 303
    assert [one.key for one in asked(database)] == ["model"]


def test_what_another_organiser_changed_meanwhile_is_not_lost(ola: Visitor, news: str, database: Database) -> None:
    answer = save(ola, news, question(0, key="other", text="What else?"), after=0)
    assert (answer.status_code, "has changed since you opened its page" in words(answer)) == (409, True)
    assert "What else?" in answer.text
    assert [one.key for one in asked(database)] == ["trained", "model"]


def test_a_question_that_cannot_be_asked_stays_on_the_page(ola: Visitor, news: str, database: Database) -> None:
    answer = save(ola, news, TRAINED, question(1, key="Model 2", text="Which one?"), after=1)
    assert answer.status_code == 422
    assert "Question 2: its key is at most 40 small letters" in words(answer)
    assert "Which one?" in answer.text
    assert ola.post(f"{news}/questionnaire").status_code == 422
    assert len(asked(database)) == 2


def test_a_team_answers_with_its_upload(ola: Visitor, visit: Visit, news: str, database: Database) -> None:
    pat = visit("pat")
    assert "Was it trained on these topics? (required)" in words(pat.get(f"{news}/runs"))
    refused = send(pat, news)
    assert (refused.status_code, "needs an answer to “trained”" in words(refused)) == (422, True)
    assert [run.tag for run in database.read(runs.list_runs, SLUG, team="red") if run.tag == "gamma"] == []
    wrong = send(pat, news, answer_trained="no", answer_model="other")
    assert wrong.status_code == 422
    sent = send(pat, news, answer_trained="no", answer_model="BM25")
    assert sent.status_code == 303
    assert answers(database) == {"trained": "no", "model": "BM25"}
    assert "Which <model>?" in words(pat.get(f"{news}/runs/run?tag=gamma"))
    assert ola.get(f"{news}/runs/answers?tag=gamma").status_code == 200


def test_the_answers_are_kept_with_files_that_are_checked_first(
    ola: Visitor, visit: Visit, news: str, database: Database
) -> None:
    del ola
    pat = visit("pat")
    form = seen(pat.get(f"{news}/runs"))
    given = {"answer_trained": "yes", "answer_model": "dense"}
    page = pat.post(f"{news}/runs/check", files=file("g.txt", GAMMA), **form, **given)
    assert page.status_code == 200
    assert '<option selected value="dense">' in page.text
    address = page.text.split('data-at="')[1].split('"')[0]
    row = {"0-use": "y", "0-tag": "gamma", "0-run_type": "", **seen(page)}
    assert pat.post(address, **row).status_code == 422
    assert pat.post(address, **row, **given).status_code == 303
    assert answers(database) == {"trained": "yes", "model": "dense"}


def test_a_changed_question_is_answered_again_on_the_page_of_the_run(
    ola: Visitor, visit: Visit, news: str, database: Database
) -> None:
    pat = visit("pat")
    send(pat, news, answer_trained="no", answer_model="BM25")
    save(ola, news, {**TRAINED, "question-0-text": "Was it trained on any topics?"}, MODEL, after=1)
    assert "The questionnaire needs answers about these runs: gamma" in words(pat.get(f"{news}/runs"))
    page = pat.get(f"{news}/runs/answers?tag=gamma")
    assert "The questionnaire has changed: please answer again." in words(page)
    assert "Was it trained on these topics?" in words(page)
    assert "must answer again" in words(ola.get(f"{news}/questionnaire"))
    refused = answer(pat, news, answer_model="dense")
    assert (refused.status_code, answers(database)) == (422, {"model": "BM25"})
    done = answer(pat, news, answer_trained="yes", answer_model="dense")
    assert (done.status_code, answers(database)) == (303, {"trained": "yes", "model": "dense"})


def test_the_answers_are_downloaded(ola: Visitor, visit: Visit, news: str) -> None:
    pat = visit("pat")
    send(pat, news, answer_trained="no")
    active = ola.get(f"{news}/questionnaire/answers.csv").text.splitlines()
    assert active[0] == '"run","team","file","complete","trained","model"'
    assert '"gamma","red","1","yes","no",""' in active
    every = ola.get(f"{news}/questionnaire/answers.csv?table=every").text.splitlines()
    assert '"Was it trained on these topics?","yes-no","no"' in every[1]
    assert pat.get(f"{news}/questionnaire/answers.csv").status_code == 403


@pytest.mark.parametrize("key", ["fields", "answers", "data", "errors", "csrf_token", "version"])
def test_a_question_may_have_the_name_of_a_part_of_a_form(
    visit: Visit, news: str, database: Database, key: str
) -> None:
    assert save(visit("ola"), news, question(0, key=key, text="Which ones?"), question(1)).status_code == 303
    pat = visit("pat")
    assert "Which ones?" in words(pat.get(f"{news}/runs"))
    assert send(pat, news, **{f"answer_{key}": "some"}).status_code == 303
    assert answers(database) == {key: "some"}
    assert answer(pat, news, **{f"answer_{key}": "others"}).status_code == 303
    assert answers(database) == {key: "others"}


def test_answers_to_other_questions_than_those_asked_now_are_not_stored(
    ola: Visitor, visit: Visit, news: str, database: Database
) -> None:
    pat = visit("pat")
    before = seen(pat.get(f"{news}/runs"))
    assert before == {"questionnaire_version": "1"}
    save(ola, news, {**TRAINED, "question-0-text": "Was it NOT trained on these topics?"}, MODEL, after=1)
    given = {"answer_trained": "no", "answer_model": "BM25"}
    for address in ("runs", "runs/check"):
        late = pat.post(f"{news}/{address}", files=file("g.txt", GAMMA), **before, **given)
        assert (late.status_code, "The questionnaire has changed since you opened it." in words(late)) == (409, True)
        assert '<option selected value="BM25">' in late.text
        assert seen(late)["questionnaire_version"] == "2"
    assert "gamma" not in [run.tag for run in database.read(runs.list_runs, SLUG)]
    assert pat.post(f"{news}/runs", files=file("g.txt", GAMMA), **seen(late), **given).status_code == 303


def test_a_kept_upload_is_not_stored_with_answers_to_other_questions(
    ola: Visitor, visit: Visit, news: str, database: Database
) -> None:
    pat = visit("pat")
    given = {"answer_trained": "yes", "answer_model": "dense"}
    page = pat.post(f"{news}/runs/check", files=file("g.txt", GAMMA), **seen(pat.get(f"{news}/runs")), **given)
    address = page.text.split('data-at="')[1].split('"')[0]
    save(ola, news, {**TRAINED, "question-0-text": "Was it NOT trained on these topics?"}, MODEL, after=1)
    row = {"0-use": "y", "0-tag": "gamma", "0-run_type": ""}
    late = pat.post(address, **row, **seen(page), **given)
    assert (late.status_code, "The questionnaire has changed since you opened it." in words(late)) == (409, True)
    assert pat.post(address, **row, **seen(late), **given).status_code == 303
    assert answers(database) == {"trained": "yes", "model": "dense"}


def test_the_form_of_a_run_answers_the_questions_that_it_showed(
    ola: Visitor, visit: Visit, news: str, database: Database
) -> None:
    pat, address = visit("pat"), f"{news}/runs/answers?tag=gamma"
    send(pat, news, answer_trained="no", answer_model="BM25")
    before = seen(pat.get(address))
    other = {**MODEL, "question-1-choices": "sparse\r\nhybrid"}
    save(ola, news, {**TRAINED, "question-0-text": "Was it NOT trained on these topics?"}, other, after=1)
    late = pat.post(address, **before, answer_trained="yes", answer_model="dense")
    assert (late.status_code, "The questionnaire has changed since you opened it." in words(late)) == (409, True)
    assert answers(database) == {}
    assert re.search(r'<option selected[^>]*value="yes"', late.text)
    assert pat.post(address, **seen(late), answer_trained="yes").status_code == 303
    assert answers(database) == {"trained": "yes"}


def test_what_a_colleague_answered_meanwhile_is_not_overwritten(
    ola: Visitor, visit: Visit, news: str, database: Database
) -> None:
    pat, address = visit("pat"), f"{news}/runs/answers?tag=gamma"
    send(pat, news, answer_trained="no", answer_model="BM25")
    before = seen(pat.get(address))
    assert ola.post(address, **before, answer_trained="no", answer_model="dense").status_code == 303
    late = pat.post(address, **before, answer_trained="yes", answer_model="BM25")
    assert (late.status_code, "Somebody else has changed these answers" in words(late)) == (409, True)
    assert answers(database) == {"trained": "no", "model": "dense"}
    assert pat.post(address, **seen(late), answer_trained="yes", answer_model="dense").status_code == 303
    assert answers(database) == {"trained": "yes", "model": "dense"}
    assert pat.post(address, answer_trained="no").status_code == 409


def test_an_answer_that_was_taken_back_is_not_suggested_again(visit: Visit, news: str, database: Database) -> None:
    ola, pat = visit("ola"), visit("pat")
    mail = question(0, key="mail", text="Whom do we ask?", kind="e-mail")
    save(ola, news, mail, question(1))
    send(pat, news, answer_mail="pat@example.org")
    save(ola, news, mail, question(1, key="more", text="What else?"), question(2), after=1)
    assert 'value="pat@example.org"' in pat.get(f"{news}/runs/answers?tag=gamma").text
    answer(pat, news, answer_mail="", answer_more="x")
    assert answers(database) == {"more": "x"}
    assert 'value="pat@example.org"' not in pat.get(f"{news}/runs/answers?tag=gamma").text


def test_a_required_answer_that_was_never_given_is_not_called_changed(ola: Visitor, news: str) -> None:
    assert send(ola, news, answer_model="BM25").status_code == 303
    page = words(ola.get(f"{news}/runs/answers?tag=gamma"))
    assert ("Required questions without an answer: 1." in page, "has changed" in page) == (True, False)
    table = words(ola.get(f"{news}/questionnaire"))
    assert ("not answered" in table, "must answer again" in table) == (True, False)


@pytest.mark.parametrize("after", ["9" * 5_000, "\u0663", "-1", "1.5", ""])
def test_a_version_that_is_no_number_is_refused(ola: Visitor, news: str, database: Database, after: str) -> None:
    refused = ola.post(f"{news}/questionnaire", after=after, **question(0, key="other", text="What else?"))
    assert (refused.status_code, "Open its page again" in words(refused)) == (422, True)
    late = ola.post(f"{news}/runs", files=file("g.txt", GAMMA), questionnaire_version=after, answer_trained="no")
    assert late.status_code == 409
    assert [one.key for one in asked(database)] == ["trained", "model"]


def test_the_same_questions_again_are_no_change(ola: Visitor, news: str, database: Database) -> None:
    assert save(ola, news, TRAINED, MODEL, question(2), after=1).status_code == 303
    assert database.read(questionnaires.show_questionnaire, SLUG).number == 1
