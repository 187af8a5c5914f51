"""The pages of topics: drafting, trying, deciding, and what the leaderboard would be without some."""

import json
import re

import pytest
from build import SLUG, document_file, labels, run
from kept import Kept
from visiting import Visit, file, words

from annotator.storage import Database
from annotator.workflows.topics import topic_editing, topic_trying, topics
from annotator.workflows.topics.topic_editing import TopicWords

DRAFT = {"number": "7", "title": "a draft", "description": "What?", "narrative": "Why.", "language": ""}


@pytest.fixture
def drafted(news: str, database: Database, kept: Kept) -> str:
    """The same collection with the draft 7, of which the run base has documents."""
    kept.fill(database, add_draft)
    return news


def add_draft(database: Database) -> None:
    with database.transaction() as session:
        topic_editing.add_draft(session, SLUG, "7", TopicWords("a draft", "What?"))
        document_file(session, [f"d{index}" for index in range(12)])
        run(session, "base", {"7": [f"d{index}" for index in range(12)]})


def state(database: Database, number: str) -> str:
    with database.reading() as session:
        return topic_editing.show_topic(session, SLUG, number).state.value


def test_a_topic_is_drafted_on_the_page_and_shown_to_nobody_else(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    answer = ola.post(f"{news}/topic", **DRAFT)
    assert (answer.status_code, answer.location) == (303, f"{news}/topics/7")
    page = words(ola.get(f"{news}/topics/7"))
    assert "This topic is a draft" in page
    assert "What?" in page
    assert "7 a draft draft" in words(ola.get(f"{news}/topics"))
    for name in ("pat", "jo"):
        for path in ("", "/topics", "/judge", "/topics.jsonl", "/topics/7"):
            assert "a draft" not in visit(name).get(f"{news}{path}").text
    assert state(database, "7") == "draft"


def test_a_draft_that_cannot_be_is_refused_with_what_was_entered(visit: Visit, news: str) -> None:
    ola = visit("ola")
    refused = ola.post(f"{news}/topic", **{**DRAFT, "number": "1"})
    assert refused.status_code == 409
    assert "There is a topic “1” already." in words(refused)
    assert 'value="a draft"' in refused.text
    assert ola.post(f"{news}/topic", **{**DRAFT, "title": ""}).status_code == 422


def test_a_file_comes_in_as_drafts_which_are_ticked_and_accepted(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    ola.post(f"{news}/topics", files=file("t.tsv", "7\tcats\n8\tdogs\n"), draft="y")
    assert (state(database, "7"), state(database, "8")) == ("draft", "draft")
    answer = ola.post(f"{news}/topic/accept", numbers=["7", "8"])
    assert (answer.status_code, answer.location) == (303, f"{news}/topics")
    assert "Topics accepted: 2." in words(ola.get(f"{news}/topics"))
    assert "cats" in visit("pat").get(f"{news}/topics").text


def test_a_topic_is_dropped_with_a_reason_and_taken_up_again(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    assert ola.post(f"{news}/topic/drop", numbers="1").status_code == 422
    assert ola.post(f"{news}/topic/drop", numbers="1", reason="Too broad.").status_code == 303
    page = words(ola.get(f"{news}/topics/1"))
    assert "This topic is dropped" in page
    assert "Too broad." in page
    assert "Too broad." in words(ola.get(f"{news}/topics"))
    assert "Dropped topics, which have no lines: 1." in words(ola.get(f"{news}/qrels"))
    seen = words(visit("pat").get(f"{news}/topics"))
    assert "1 first topic dropped" in seen
    assert "Too broad." not in seen
    assert ola.post(f"{news}/topic/restore", numbers="1").status_code == 303
    assert state(database, "1") == "accepted"


def test_a_judge_is_told_that_a_topic_was_dropped(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 1\n")
        topic_editing.drop_topics(session, SLUG, ["1", "2"], reason="Too broad.")
    jo = visit("jo")
    page = words(jo.get(f"{news}/judge"))
    assert "The organiser has dropped this topic; what you judged is kept." in page
    assert "Too broad." not in page
    assert "second topic" not in page
    assert "Nothing left for you in topic 1" in words(jo.get(f"{news}/judge/topics/1"))


def test_the_words_of_a_topic_are_changed_until_it_is_judged(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    new = {"title": "mended", "description": "", "narrative": "", "language": "en"}
    assert ola.post(f"{news}/topics/1", **new).status_code == 303
    assert "mended" in words(ola.get(f"{news}/topics/1"))
    refused = ola.post(f"{news}/topics/1", **{**new, "title": ""})
    assert refused.status_code == 422
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n")
    assert "This text cannot be changed" in words(ola.get(f"{news}/topics/1"))
    refused = ola.post(f"{news}/topics/1", **{**new, "title": "another"})
    assert refused.status_code == 409
    assert "judged by the present text" in words(refused)


def test_a_draft_is_tried_by_a_run(visit: Visit, drafted: str, database: Database) -> None:
    ola = visit("ola")
    assert "base" in ola.get(f"{drafted}/topics/7").text
    page = ola.get(f"{drafted}/topics/7?run=base")
    assert "Text of d0." in words(page)
    assert "A quick look is not a judgement" in words(page)
    fields = {"number": "7", "run": "base", "next": "look-2"}
    answer = ola.post(f"{drafted}/topic/look", **fields, docno="d0", looks="yes")
    assert (answer.status_code, answer.location) == (303, f"{drafted}/topics/7?run=base#look-2")
    fragment = ola.post(f"{drafted}/topic/look", **fields, docno="d1", looks="no", fragment="1")
    assert fragment.status_code == 200
    assert words(fragment).startswith("ola 1 of 2 look relevant Look at 10 documents at least")
    visit("ada").post(f"{drafted}/topic/look", **fields, docno="d1", looks="yes")
    page = ola.get(f"{drafted}/topics/7?run=base")
    assert page.text.index("1 of 2 look relevant") < page.text.index("1 of 1 look relevant")
    assert page.text.count('aria-pressed="true"') == 2
    assert "1 of 2 look relevant" in words(ola.get(f"{drafted}/topics"))
    with database.reading() as session:
        assert {tally.person for tally in topic_trying.look_tallies(session, SLUG)["7"]} == {"ola", "ada"}


def test_a_draft_is_tried_by_a_search(visit: Visit, drafted: str) -> None:
    ola = visit("ola")
    page = ola.get(f"{drafted}/topics/7?q=text+d3")
    assert "Text of d3." in words(page)
    assert "Text of d4." not in words(page)
    answer = ola.post(f"{drafted}/topic/look", number="7", docno="d3", looks="yes", q="text d3", next="look-1")
    assert answer.location == f"{drafted}/topics/7?q=text+d3#look-1"
    assert "No results." in words(ola.get(f"{drafted}/topics/7?q=unheard"))
    refused = ola.get(f"{drafted}/topics/7?q=%22open")
    assert refused.status_code == 422
    assert 'value="&#34;open"' in refused.text


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"number": "7", "docno": "d0", "looks": "maybe"}, 422),
        ({"number": "7", "docno": "nosuch", "looks": "yes"}, 404),
        ({"number": "9", "docno": "d0", "looks": "yes"}, 404),
        ({"number": "1", "docno": "d0", "looks": "yes"}, 409),
    ],
)
def test_a_look_that_cannot_be_is_refused(visit: Visit, drafted: str, fields: dict[str, str], status: int) -> None:
    assert visit("ola").post(f"{drafted}/topic/look", **fields).status_code == status


def test_a_run_without_answers_is_said_beside_the_form(visit: Visit, drafted: str) -> None:
    answer = visit("ola").get(f"{drafted}/topics/7?run=alpha")
    assert answer.status_code == 404
    assert "No active run “alpha” has documents for topic “7”." in words(answer)


def test_an_accepted_topic_keeps_its_quick_looks_as_history(visit: Visit, drafted: str) -> None:
    ola = visit("ola")
    ola.post(f"{drafted}/topic/look", number="7", docno="d0", looks="yes")
    ola.post(f"{drafted}/topic/accept", numbers="7")
    page = words(ola.get(f"{drafted}/topics/7?run=base"))
    assert "They are not judgements and are not counted." in page
    assert "Text of d0." not in page


def test_a_draft_is_tried_by_any_word_of_its_title_first(visit: Visit, news: str) -> None:
    ola = visit("ola")
    ola.post(f"{news}/topic", **{**DRAFT, "number": "D2", "title": "The text, and nothing else"})
    assert 'value="The OR text OR and OR nothing OR else"' in ola.get(f"{news}/topics/D2").text
    assert "Text of a." in words(ola.get(f"{news}/topics/D2?q=The+OR+text+OR+and+OR+nothing+OR+else"))


def test_flags_show_their_numbers_and_the_leaderboard_without_them(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    assert "No topic is flagged." in words(ola.get(f"{news}/topic-flags"))
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 1\n1 0 c 0\n1 0 d 1\n2 0 a 1\n2 0 e 0\n")
    assert "Topics with too few or too many relevant documents: 2." in words(ola.get(f"{news}/topics"))
    both = ola.get(f"{news}/topic-flags")
    assert "Without these topics there would be none left to average over." in words(both)
    assert both.text.count(" checked") == 2
    # P@1: alpha a and a, 1 and 1; beta d and e, 1 and 0.
    page = words(ola.get(f"{news}/topic-flags?m=P@1&numbers=2"))
    assert "Without topics 2" in page
    assert "alpha 1.0000 1.0000 1 1" in page
    assert "beta 0.5000 1.0000 2 ↑ 1" in page
    assert " checked" not in ola.get(f"{news}/topic-flags?m=P@1").text
    assert ola.post(f"{news}/topic/drop", numbers="2", reason="Hardly anything.").status_code == 303
    assert "Dropped topics, which do not count: 2" in words(ola.get(f"{news}/leaderboard"))


@pytest.mark.parametrize(("query", "status"), [("m=nDGC&numbers=1", 422), ("m=AP&numbers=99", 404)])
def test_an_effect_that_cannot_be_shown_is_refused_with_its_reason(
    visit: Visit, news: str, database: Database, query: str, status: int
) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n2 0 e 1\n")
    answer = visit("ola").get(f"{news}/topic-flags?{query}")
    assert answer.status_code == status
    assert "Without topics" not in words(answer)


def test_the_button_drops_what_is_ticked_when_it_is_pressed(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 1\n1 0 c 0\n1 0 d 1\n2 0 a 1\n2 0 e 0\n")
    page = visit("ola").get(f"{news}/topic-flags").text
    [form] = re.findall(r'<form id="chosen".*?</form>', page, re.DOTALL)
    # One set of boxes is shown without, and dropped; no hidden copy of an earlier choice goes with it.
    boxes = re.compile(r'name="numbers" value="(\d)"')
    assert boxes.findall(form) == boxes.findall(page) == ["1", "2"]
    assert 'type="hidden"' not in form
    [button] = re.findall(r'<button[^>]*formmethod="post"[^>]*>', page)
    assert 'form="chosen"' in button
    assert f'formaction="{news}/topic/drop"' in button
    assert 'name="csrf_token"' in button


def test_the_accepted_topics_are_a_file(visit: Visit, drafted: str, database: Database) -> None:
    given = visit("pat").get(f"{drafted}/topics.jsonl")
    assert [json.loads(line)["number"] for line in given.text.splitlines()] == ["1", "2"]
    with database.reading() as session:
        assert given.text == topics.topics_jsonl(topics.list_topics(session, SLUG))


def test_a_topic_whose_number_has_slashes_has_its_page(visit: Visit, news: str) -> None:
    ola = visit("ola")
    answer = ola.post(f"{news}/topic", **{**DRAFT, "number": "2026/look"})
    assert answer.status_code == 303
    assert "This topic is a draft" in words(ola.get(answer.location))
