"""The grade in a response, or why there is none; probabilities and votes."""

from math import log

import pytest

from annotator.evaluation.machine_judging.completions import Completion, ModelRequest, Token, completion_in, error_in
from annotator.evaluation.machine_judging.graded_responses import (
    NoGrade,
    ReadGrade,
    Vote,
    grade_in,
    probabilities_in,
    vote,
)

GRADES = (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("2", 2),
        (" **3**.\n", 3),
        ("#1", 1),
        ("##final score: 2", 2),
        # UMBRELA's form: the final score counts, the other two do not.
        ("M: 1\nT: 3\n##final score: 2", 2),
        ("M: 1, T: 3, O: 2", 2),
        ('{"grade": 1}', 1),
        ('```json\n{"final_score": 0, "reason": "3 of 4"}\n```', 0),
        ("Grade: 2. As I wrote, grade: 2.", 2),
        ("Final answer is 3", 3),
        ("Grade: 1. Final grade: 2", 2),
        ("The relevance score: (2)", 2),
    ],
)
def test_the_grade_of_a_response(text: str, grade: int) -> None:
    assert grade_in(text, GRADES).grade == grade


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", NoGrade.EMPTY),
        ("\n ", NoGrade.EMPTY),
        ("It is relevant.", NoGrade.NONE_NAMED),
        ("I found 2 documents", NoGrade.NONE_NAMED),
        ("2 or 3", NoGrade.NONE_NAMED),
        ("Score: 2/3", NoGrade.NONE_NAMED),
        ("Score: 1-2", NoGrade.NONE_NAMED),
        ("Score: 2.5", NoGrade.NONE_NAMED),
        ("2.0.1", NoGrade.NONE_NAMED),
        ("Grade: 1, or rather grade: 2", NoGrade.SEVERAL),
        ("4", NoGrade.OFF_SCALE),
        ("-1", NoGrade.OFF_SCALE),
        ("final score: 100", NoGrade.OFF_SCALE),
        ("9" * 5_000, NoGrade.NONE_NAMED),
    ],
)
def test_no_grade_is_guessed(text: str, reason: NoGrade) -> None:
    assert grade_in(text, GRADES) == ReadGrade(None, reason)


def completion(*tokens: str, at: int, **alternatives: float) -> Completion:
    """A response of these tokens, whose token `at` has alternatives with these probabilities."""
    known = [Token(text, {}) for text in tokens]
    known[at] = Token(tokens[at], {text.strip("_"): log(share) for text, share in alternatives.items()})
    return Completion("".join(tokens), tokens=tuple(known))


def test_probabilities_are_those_of_the_token_that_is_the_grade() -> None:
    found = completion("Score", ":", " 2", at=2, _2=0.6, _1=0.2, _x=0.2)
    read = grade_in(found.text, GRADES)
    assert probabilities_in(found, GRADES, read.at) == pytest.approx((0, 0.25, 0.75, 0))
    # Not where the number is a part of a token, and not where nothing was returned.
    assert probabilities_in(Completion("a2", tokens=(Token("a2", {"a2": 0.0}),)), GRADES, 1) is None
    assert probabilities_in(Completion("2"), GRADES, 0) is None
    assert probabilities_in(Completion("2", tokens=(Token("2", {"x": 0.0}),)), GRADES, 0) is None


def test_the_vote_of_samples() -> None:
    assert vote([], GRADES) is None
    assert vote([(2, None), (1, None), (2, None)], GRADES) == Vote(2, 2 / 3, None)
    # Ties go to the lower grade.
    assert vote([(3, None), (1, None)], GRADES) == Vote(1, 0.5, None)
    found = vote([(1, (0.0, 0.5, 0.5, 0.0)), (1, (0.0, 1.0, 0.0, 0.0)), (2, None)], GRADES)
    assert found == Vote(1, 0.75, (0.0, 0.75, 0.25, 0.0))


@pytest.mark.parametrize("response", [None, [], {}, {"choices": 1}, {"choices": ["x"]}, "text", 3])
def test_what_is_no_completion(response: object) -> None:
    assert completion_in(response) is None


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ({"choices": []}, Completion("")),
        ({"choices": [{}]}, Completion("")),
        ({"choices": [{"message": {"content": ["x"]}}]}, Completion("")),
        ({"choices": [{"message": {"content": "a\0\ud800"}, "finish_reason": "length"}]}, Completion("a��", "length")),
        (
            {"choices": [{"message": {"content": "1"}}], "usage": {"prompt_tokens": 3, "completion_tokens": "4"}},
            Completion("1", "", 3, None),
        ),
        (
            {"choices": [{"message": {"content": "1"}}], "usage": {"prompt_tokens": -1, "completion_tokens": True}},
            Completion("1"),
        ),
        (
            {
                "choices": [
                    {
                        "message": {"content": "1"},
                        "logprobs": {"content": [{"token": "1"}, {"token": "1", "logprob": -1}]},
                    }
                ]
            },
            Completion("1", tokens=(Token("1", {"1": -1.0}),)),
        ),
        (
            {
                "choices": [
                    {
                        "message": {"content": "1"},
                        "logprobs": {"content": [{"token": "1", "logprob": 2, "top_logprobs": [1]}]},
                    }
                ]
            },
            Completion("1", tokens=(Token("1", {}),)),
        ),
    ],
)
def test_a_completion_is_read_without_trusting_it(response: object, expected: Completion) -> None:
    assert completion_in(response) == expected


def test_the_sentence_of_an_error() -> None:
    assert error_in({"error": {"message": "Too\n many"}}) == "Too many"
    assert error_in({"error": "No"}) == "No"
    assert [error_in(one) for one in ({}, None, {"error": {"message": 3}}, "x")] == ["", "", "", ""]


def test_a_request_is_identified_by_all_of_it() -> None:
    first = ModelRequest("https://a.org/v1/", "m", "Prompt.", 0.0, 10)
    assert first.address == "https://a.org/v1/chat/completions"
    assert ModelRequest("https://a.org/v1/chat/completions", "m", "Prompt.", 0.0, 10).digest() == first.digest()
    others = [
        ModelRequest("https://b.org/v1", "m", "Prompt.", 0.0, 10),
        ModelRequest("https://a.org/v1", "n", "Prompt.", 0.0, 10),
        ModelRequest("https://a.org/v1", "m", "Another.", 0.0, 10),
        ModelRequest("https://a.org/v1", "m", "Prompt.", 0.5, 10),
        ModelRequest("https://a.org/v1", "m", "Prompt.", 0.0, 11),
        ModelRequest("https://a.org/v1", "m", "Prompt.", 0.0, 10, alternatives=20),
        ModelRequest("https://a.org/v1", "m", "Prompt.", 0.0, 10, sample=2),
    ]
    assert len({first.digest(), *(one.digest() for one in others)}) == 8
