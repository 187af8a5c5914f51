"""Questions about runs, as JSON and TOML have them, and the answers that fit each kind."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.runs.questionnaires import (
    LONGEST_ANSWER,
    LONGEST_QUESTION,
    MOST_QUESTIONS,
    AnswerKind,
    RunQuestion,
    as_plain,
    fits,
    parse_answers,
    questions_of,
    read_answers,
    read_questionnaire,
    refuse_taken_keys,
    unanswered,
)

TOML = """
[[questions]]
key = "model"
text = "Which model?"
kind = "choice"
choices = ["BM25", "dense"]
required = true

[[questions]]
key = "contact"
text = "Whom do we ask?"
kind = "e-mail"
"""
MODEL = RunQuestion("model", "Which model?", AnswerKind.CHOICE, required=True, choices=("BM25", "dense"))
CONTACT = RunQuestion("contact", "Whom do we ask?", AnswerKind.EMAIL)
OF_KIND = {kind: RunQuestion("q", "Q?", kind, choices=("a", "b") if kind == "choice" else ()) for kind in AnswerKind}


def test_toml_and_json_say_the_same() -> None:
    assert read_questionnaire(TOML) == (MODEL, CONTACT)
    plain = as_plain([MODEL, CONTACT])
    assert read_questionnaire(json.dumps({"questions": plain})) == (MODEL, CONTACT)
    assert read_questionnaire(json.dumps(plain)) == (MODEL, CONTACT)
    assert read_questionnaire('{"questions": []}') == ()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "has “questions” and nothing else"),
        ("no questions here", "neither JSON nor TOML"),
        ('{"questions": [', "neither JSON nor TOML"),
        ("[" * 200_000, "neither JSON nor TOML"),
        ('{"questions": [], "title": "x"}', "has “questions” and nothing else"),
        ('{"questions": {}}', "not a list"),
        ("x" * (1 << 19), "too long"),
    ],
)
def test_a_file_that_is_no_questionnaire_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(InvalidValueError, match=wrong):
        read_questionnaire(text)


@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        ("Which model?", "Question 1 is not an object"),
        ({"key": "a", "text": "A?", "colour": "red"}, "unknown field “colour”"),
        ({"key": "Model", "text": "A?"}, "its key is at most 40 small letters"),
        ({"key": "a" * 41, "text": "A?"}, "its key is at most 40 small letters"),
        ({"key": 1, "text": "A?"}, "its key is at most 40 small letters"),
        ({"key": "a", "text": " "}, "Question 1 .a. has no text"),
        ({"key": "a", "text": "x" * (LONGEST_QUESTION + 1)}, "too long"),
        ({"key": "a", "text": "nul\0"}, "cannot be stored"),
        ({"key": "a", "text": "A?", "kind": "colour"}, "its kind is one of text, number, choice, yes-no, e-mail"),
        ({"key": "a", "text": "A?", "kind": []}, "its kind is one of"),
        ({"key": "a", "text": "A?", "required": "yes"}, "required is true or false"),
        ({"key": "a", "text": "A?", "choices": ["x"]}, "its kind is not choice"),
        ({"key": "a", "text": "A?", "kind": "choice"}, "from 2 to 50 choices"),
        ({"key": "a", "text": "A?", "kind": "choice", "choices": "xy"}, "a list of texts"),
        ({"key": "a", "text": "A?", "kind": "choice", "choices": ["x", " x"]}, "the same choice twice"),
        ({"key": "a", "text": "A?", "kind": "choice", "choices": ["x", ""]}, "one line of text"),
        ({"key": "a", "text": "A?", "kind": "choice", "choices": ["x", "y\nz"]}, "one line of text"),
        ({"key": "a", "text": "A?", "kind": "choice", "choices": ["x", "y" * 201]}, "too long"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_by_its_number(question: object, wrong: str) -> None:
    with pytest.raises(InvalidValueError, match=wrong):
        questions_of([question])


@pytest.mark.parametrize("key", ["run", "team", "file", "complete"])
def test_a_key_is_not_that_of_another_column_of_the_answers(key: str) -> None:
    questions = questions_of([{"key": "runs", "text": "Which?"}, {"key": key, "text": "Which?"}])
    refuse_taken_keys(questions[:1])
    with pytest.raises(InvalidValueError, match=f"Question 2: the table of answers has another column “{key}”"):
        refuse_taken_keys(questions)


def test_keys_are_unique_and_questions_have_a_limit() -> None:
    with pytest.raises(InvalidValueError, match="Question 2: the key “a” is used twice"):
        questions_of([{"key": "a", "text": "A?"}, {"key": "a", "text": "B?"}])
    many = [{"key": f"k{number}", "text": "?"} for number in range(MOST_QUESTIONS + 1)]
    assert len(questions_of(many[:-1])) == MOST_QUESTIONS
    with pytest.raises(InvalidValueError, match="at most 50 questions, not 51"):
        questions_of(many)


@pytest.mark.parametrize(
    ("kind", "answer", "stored"),
    [
        ("text", "  two\r\nlines ", "two\nlines"),
        ("number", "12", "12"),
        ("number", -0.5, "-0.5"),
        ("number", "1e300", "1e300"),
        ("choice", "a", "a"),
        ("yes-no", True, "yes"),
        ("yes-no", "no", "no"),
        ("e-mail", "pat.o+x@mail.example.org", "pat.o+x@mail.example.org"),
        ("e-mail", "김@예시.한국", "김@예시.한국"),
        ("number", None, ""),
        ("number", " ", ""),
    ],
)
def test_an_answer_that_fits_is_read(kind: AnswerKind, answer: object, stored: str) -> None:
    assert read_answers([OF_KIND[AnswerKind(kind)]], {"q": answer}) == {"q": stored}


@pytest.mark.parametrize(
    ("kind", "answer", "wrong"),
    [
        ("text", "x" * (LONGEST_ANSWER + 1), "too long"),
        ("text", "nul\0", "cannot be stored"),
        ("text", ["x"], "no text, number, or yes or no"),
        ("number", "twelve", "is a number"),
        ("number", "1_000", "is a number"),
        ("number", "nan", "is a number"),
        ("number", "1e400", "is a number"),
        ("number", "\u0661\u0662", "is a number"),
        ("number", "1" * 41, "is a number"),
        ("choice", "c", "is one of “a”, “b”"),
        ("yes-no", "Yes", "is yes or no"),
        ("e-mail", "pat", "is an e-mail address"),
        ("e-mail", "pat@host", "is an e-mail address"),
        ("e-mail", "pat@example.org, jo@example.org", "is an e-mail address"),
        ("e-mail", "<pat@example.org>", "is an e-mail address"),
        ("e-mail", "a@" + "b" * 250 + ".org", "is an e-mail address"),
    ],
)
def test_an_answer_that_does_not_fit_names_its_question(kind: AnswerKind, answer: object, wrong: str) -> None:
    with pytest.raises(InvalidValueError, match=wrong):
        read_answers([OF_KIND[AnswerKind(kind)]], {"q": answer})
    assert not fits(OF_KIND[AnswerKind(kind)], str(answer)) or answer == ["x"]


def test_an_unknown_question_is_not_answered() -> None:
    with pytest.raises(InvalidValueError, match="no question “colour”"):
        read_answers([MODEL], {"colour": "red"})


def test_an_empty_answer_answers_nothing() -> None:
    assert not fits(CONTACT, "")
    assert unanswered([MODEL, CONTACT], []) == ["model"]
    assert unanswered([MODEL, CONTACT], ["model"]) == []


def test_questions_ask_the_same_whatever_is_required() -> None:
    assert MODEL.asks_the_same(RunQuestion("m", "Which model?", AnswerKind.CHOICE, choices=("BM25", "dense")))
    assert not MODEL.asks_the_same(RunQuestion("model", "Which model?", AnswerKind.CHOICE, choices=("BM25", "other")))
    assert not MODEL.asks_the_same(None)


@pytest.mark.parametrize("text", ["[]", "1", "{", "[" * 200_000])
def test_answers_that_are_no_object_are_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match="The answers are"):
        parse_answers(text)


def test_no_answers_are_an_empty_text() -> None:
    assert parse_answers(" ") == {}
    assert parse_answers('{"model": "BM25"}') == {"model": "BM25"}


@given(st.lists(st.tuples(st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True), st.text(min_size=1)), max_size=5))
def test_what_is_read_is_read_again(pairs: list[tuple[str, str]]) -> None:
    try:
        questions = questions_of([{"key": key, "text": text} for key, text in pairs])
    except InvalidValueError:
        return
    assert questions_of(as_plain(questions)) == questions
    assert read_questionnaire(json.dumps({"questions": as_plain(questions)})) == questions
