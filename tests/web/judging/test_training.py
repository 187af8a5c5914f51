"""The training on pages: organisers make it, judges go through it."""

import re

from visiting import Visit, Visitor, file, hidden, words
from werkzeug.test import TestResponse

TRAINING = "1\ta\t2\tIt answers it.\n1\tb\t0\tIt is <b>about</b> dogs.\n"


def make(ola: Visitor, news: str, text: str = TRAINING) -> TestResponse:
    return ola.post(f"{news}/training/set-up", file=file("t.tsv", text))


def answer(jo: Visitor, page: TestResponse, grade: int) -> TestResponse:
    """Press a grade's button, and see what was right."""
    match = re.search(r'<form id="grading" class="grading" method="post" action="([^"]*)"', page.text)
    assert match is not None
    sent = jo.post(match[1], item=hidden(page, "item"), grade=str(grade))
    assert sent.status_code == 303
    return jo.get(sent.headers["Location"])


def test_a_judge_goes_through_the_training_and_is_told_after_each_document(visit: Visit, news: str) -> None:
    jo, ola = visit("jo"), visit("ola")
    assert "There is no training" in words(jo.get(f"{news}/training"))
    assert make(ola, news).status_code == 303
    assert ola.post(f"{news}/training/pass-mark", mark="100").status_code == 303
    assert "Judge these 2 documents as you would real ones." in words(jo.get(f"{news}/training"))
    page = jo.get(f"{news}/training/1")
    assert "Text of a." in page.text
    assert "It answers it." not in page.text
    told = words(answer(jo, page, 1))
    assert "Not right." in told
    assert "Your grade 1 Relevant Correct grade 2 Highly relevant Why It answers it." in told
    assert "Go on: 1 of 2 answered" in words(jo.get(f"{news}/training"))
    told = answer(jo, jo.get(f"{news}/training/1"), 0).text
    assert "Right." in told
    assert "It is &lt;b&gt;about&lt;/b&gt; dogs." in told
    over = jo.get(f"{news}/training/1")
    assert (over.status_code, over.headers["Location"]) == (303, f"{news}/training")
    assert "You got 1 of 2 right. To pass you need 100 %." in words(jo.get(f"{news}/training"))
    missed = jo.get(f"{news}/training").text
    assert 'aria-label="Answer 1 of attempt 1: wrong">1 ✗</a>' in missed
    assert 'aria-label="Answer 2 of attempt 1: right">2</a>' in missed
    again = jo.get(f"{news}/training/2")
    assert "Text of b." in again.text  # in another order
    answer(jo, again, 0)
    answer(jo, jo.get(f"{news}/training/2"), 2)
    page_of_jo = words(jo.get(f"{news}/training"))
    assert "You have passed the training." in page_of_jo
    assert "1 2 / 2 1 (50 %) not passed" in page_of_jo
    results = words(ola.get(f"{news}/training/set-up"))
    assert "jo 2 2 / 2 2 (100 %) passed" in results
    assert "kim not begun" in results


def test_a_second_answer_and_a_grade_outside_the_scale_change_nothing(visit: Visit, news: str) -> None:
    jo = visit("jo")
    make(visit("ola"), news)
    page = jo.get(f"{news}/training/1")
    item = hidden(page, "item")
    refused = jo.post(f"{news}/training/1", item=item, grade="7")
    assert refused.status_code == 422
    assert "7 is not a grade of this collection" in words(refused)
    assert "Text of a." in refused.text
    answer(jo, page, 2)
    assert "Right." in words(answer(jo, page, 0))  # the button of a page that was left open


def test_parts_of_a_training_document_come_to_the_judge_whose_turn_it_is(visit: Visit, news: str) -> None:
    jo = visit("jo")
    make(visit("ola"), news)
    part = jo.get(f"{news}/training/1/1/parts/1")
    assert "Text of a." in part.get_json()["html"]
    assert jo.get(f"{news}/training/1/1/parts/1?find=text").get_json()["found"] == [1]
    assert jo.get(f"{news}/training/1/2/parts/1").status_code == 404


def test_the_training_is_in_the_menu_of_judges_while_there_is_one(visit: Visit, news: str) -> None:
    jo, ola = visit("jo"), visit("ola")
    tab = f'<a href="{news}/training"'
    assert tab not in jo.get(f"{news}/judge").text
    make(ola, news)
    assert tab in jo.get(f"{news}/judge").text
    assert tab not in visit("pat").get(news).text


def test_an_answer_to_a_later_document_leads_back_to_the_one_whose_turn_it_is(visit: Visit, news: str) -> None:
    jo = visit("jo")
    make(visit("ola"), news)
    page = jo.get(f"{news}/training/1")
    refused = jo.post(f"{news}/training/1", item=str(int(hidden(page, "item")) + 1), grade="2")
    assert refused.status_code == 409
    assert "Another document of the training comes first." in words(refused)
    assert hidden(refused, "item") == hidden(page, "item")


def test_nobody_sees_what_is_right_before_they_answered(visit: Visit, news: str) -> None:
    jo, kim = visit("jo"), visit("kim")
    make(visit("ola"), news)
    answer(jo, jo.get(f"{news}/training/1"), 1)
    for position in (0, 1, 2):
        assert kim.get(f"{news}/training/1/{position}").status_code == 404
    assert kim.get(f"{news}/training/set-up").status_code == 403
    assert "It answers it." not in kim.get(f"{news}/training/1").text


def test_a_file_with_problems_is_refused_on_the_page_with_every_line(visit: Visit, news: str) -> None:
    refused = make(visit("ola"), news, "1\ta\t9\nnothing\n")
    assert refused.status_code == 422
    page = words(refused)
    assert "t.tsv:1 The grade 9 is not in the scale" in page
    assert "t.tsv:2 The line has one field between tabs" in page


def test_a_training_that_was_answered_is_cleared_only_when_that_is_said(visit: Visit, news: str) -> None:
    jo, ola = visit("jo"), visit("ola")
    make(ola, news)
    answer(jo, jo.get(f"{news}/training/1"), 1)
    refused = ola.post(f"{news}/training/clear")
    assert refused.status_code == 409
    assert "Judges have answered in this training" in words(refused)
    assert ola.post(f"{news}/training/clear", with_answers="y").status_code == 303
    assert "Documents taken out of the training: 2." in words(ola.get(f"{news}/training/set-up"))
    assert "There is no training" in words(jo.get(f"{news}/training"))


def test_a_pass_mark_is_a_whole_percentage_or_none(visit: Visit, news: str) -> None:
    ola = visit("ola")
    make(ola, news)
    for mark in ("101", "-1", "half"):
        assert ola.post(f"{news}/training/pass-mark", mark=mark).status_code == 422
    assert ola.post(f"{news}/training/pass-mark", mark="80", size="0").status_code == 422
    assert ola.post(f"{news}/training/pass-mark", mark="80", size="1").status_code == 303
    assert "Judge these 1 documents" in words(visit("jo").get(f"{news}/training"))
    assert ola.post(f"{news}/training/pass-mark", mark="80").status_code == 303
    assert 'value="80"' in ola.get(f"{news}/training/set-up").text
    assert ola.post(f"{news}/training/pass-mark", mark="").status_code == 303
    assert "No pass mark is set" in words(ola.get(f"{news}/training/set-up"))


def test_who_has_accepted_the_guidelines_goes_on_to_the_training_that_is_to_be_passed(visit: Visit, news: str) -> None:
    jo, ola = visit("jo"), visit("ola")
    ola.post(f"{news}/guidelines/edit", text="Be fair.")
    make(ola, news)
    ola.post(f"{news}/training/pass-mark", mark="50")
    accepted = jo.post(f"{news}/guidelines", number="1")
    assert accepted.headers["Location"] == f"{news}/training"
    assert f'href="{news}/training"' in jo.get(f"{news}/guidelines").text
    for grade in (2, 0):
        answer(jo, jo.get(f"{news}/training/1"), grade)
    assert jo.post(f"{news}/guidelines", number="1").headers["Location"] == f"{news}/judge"


def test_a_judge_is_shown_what_comes_before_judging(visit: Visit, news: str) -> None:
    jo, ola = visit("jo"), visit("ola")
    assert "Before you judge" not in words(jo.get(f"{news}/judge"))
    assert "Read the guidelines" not in words(jo.get(news))
    ola.post(f"{news}/guidelines/edit", text="Be fair.")
    make(ola, news)
    ola.post(f"{news}/training/pass-mark", mark="100")
    assert "Before you judge Read and accept the guidelines Pass the training Judge" in words(jo.get(f"{news}/judge"))
    assert "First read the guidelines, then do the training (2 documents)." in words(jo.get(news))
    jo.post(f"{news}/guidelines", number="1")
    page = jo.get(f"{news}/judge")
    assert "Read and accept the guidelines · done Pass the training Judge" in words(page)
    assert f'<a class="button large" autofocus href="{news}/training">' in page.text
    assert "Begin with topic" not in words(page)
    assert "First do the training (2 documents)." in words(jo.get(news))
