"""The pages of the questionnaire: written by organisers, answered with an upload and later, read and downloaded."""

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
    refused = pat.post(f"{news}/runs", files=file("g.txt", GAMMA))
    assert (refused.status_code, "needs an answer to “trained”" in words(refused)) == (422, True)
    assert [run.tag for run in database.read(runs.list_runs, SLUG, team="red") if run.tag == "gamma"] == []
    wrong = pat.post(f"{news}/runs", files=file("g.txt", GAMMA), answer_trained="no", answer_model="other")
    assert wrong.status_code == 422
    sent = pat.post(f"{news}/runs", files=file("g.txt", GAMMA), answer_trained="no", answer_model="BM25")
    assert sent.status_code == 303
    assert answers(database) == {"trained": "no", "model": "BM25"}
    assert "Which <model>?" in words(pat.get(f"{news}/runs/run?tag=gamma"))
    assert ola.get(f"{news}/runs/answers?tag=gamma").status_code == 200


def test_the_answers_are_kept_with_files_that_are_checked_first(
    ola: Visitor, visit: Visit, news: str, database: Database
) -> None:
    del ola
    pat = visit("pat")
    page = pat.post(f"{news}/runs/check", files=file("g.txt", GAMMA), answer_trained="yes", answer_model="dense")
    assert page.status_code == 200
    assert '<option selected value="dense">' in page.text
    address = page.text.split('data-at="')[1].split('"')[0]
    row = {"0-use": "y", "0-tag": "gamma", "0-run_type": ""}
    assert pat.post(address, **row).status_code == 422
    assert pat.post(address, **row, answer_trained="yes", answer_model="dense").status_code == 303
    assert answers(database) == {"trained": "yes", "model": "dense"}


def test_a_changed_question_is_answered_again_on_the_page_of_the_run(
    ola: Visitor, visit: Visit, news: str, database: Database
) -> None:
    pat = visit("pat")
    pat.post(f"{news}/runs", files=file("g.txt", GAMMA), answer_trained="no", answer_model="BM25")
    save(ola, news, {**TRAINED, "question-0-text": "Was it trained on any topics?"}, MODEL, after=1)
    assert "The questionnaire needs answers about these runs: gamma" in words(pat.get(f"{news}/runs"))
    page = pat.get(f"{news}/runs/answers?tag=gamma")
    assert "The questionnaire has changed: please answer again." in words(page)
    assert "Was it trained on these topics?" in words(page)
    assert "must answer again" in words(ola.get(f"{news}/questionnaire"))
    refused = pat.post(f"{news}/runs/answers?tag=gamma", answer_model="dense")
    assert (refused.status_code, answers(database)) == (422, {"model": "BM25"})
    done = pat.post(f"{news}/runs/answers?tag=gamma", answer_trained="yes", answer_model="dense")
    assert (done.status_code, answers(database)) == (303, {"trained": "yes", "model": "dense"})


def test_the_answers_are_downloaded(ola: Visitor, visit: Visit, news: str) -> None:
    pat = visit("pat")
    pat.post(f"{news}/runs", files=file("g.txt", GAMMA), answer_trained="no")
    active = ola.get(f"{news}/questionnaire/answers.csv").text.splitlines()
    assert active[0] == '"run","team","file","complete","trained","model"'
    assert '"gamma","red","1","yes","no",""' in active
    every = ola.get(f"{news}/questionnaire/answers.csv?table=every").text.splitlines()
    assert '"Was it trained on these topics?","yes-no","no"' in every[1]
    assert pat.get(f"{news}/questionnaire/answers.csv").status_code == 403
