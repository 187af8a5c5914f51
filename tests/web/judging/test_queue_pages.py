"""The organiser's pages of the queue: settings, owners, gold questions."""

import re

import pytest
from build import LIMIT, NOW, SLUG, labels
from visiting import Visit, file, words

from annotator.files import InputFile
from annotator.storage import Database
from annotator.workflows.collections import collection
from annotator.workflows.documents import documents, near_duplicates
from annotator.workflows.judging import gold_questions, topic_owners

TEN = "one two three four five six seven eight nine ten"
TWINS = f"a\tA\t{TEN}\nb\tA\t{TEN} eleven\nc\tSame\tRain.\nd\tSame\tRain.\n"
SETTINGS = {"judging_mode": "owned", "overlap_share": "20", "reshow_share": "5", "common_items": "1"}


def owners(database: Database) -> dict[str, str | None]:
    with database.reading() as session:
        return {topic.number: topic.owner for topic in topic_owners.show_assigning(session, SLUG).topics}


def one_test_question(database: Database) -> None:
    with database.transaction() as session:
        question = gold_questions.one_question(session, SLUG, "1", "a", 2)
        gold_questions.store_questions(session, SLUG, question, added_by_id=None, added_at=NOW)


def test_the_settings_of_the_queue_are_changed_on_their_page(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    answer = ola.post(f"{news}/settings/queue", **SETTINGS, confirmed="y")
    assert (answer.status_code, answer.location) == (303, f"{news}/settings/queue")
    with database.reading() as session:
        shown = collection.show_collection(session, SLUG)
    assert (shown.judging_mode, shown.overlap_share, shown.reshow_share, shown.common_items) == ("owned", 20, 5, 1)
    page = ola.get(f"{news}/settings/queue")
    assert re.search(r'checked[^>]*value="owned"', page.text)
    # Six documents in two topics, one of each for everyone; 20 % of four are one and of two none.
    assert "6 Documents in the pool 7 Judgements required 1 of these, for overlap 2 Common" in figures(page.text)
    assert "2 judgements of 2 judges" not in words(page)
    assert "4 judgements of 2 judges" in words(page)


def figures(text: str) -> str:
    """Number and name of each figure of a page."""
    pairs = re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", text)
    return " ".join(f"{number} {name}" for name, number in pairs)


@pytest.mark.parametrize(
    "wrong",
    [{"overlap_share": "101"}, {"reshow_share": "-1"}, {"common_items": "many"}, {"judging_mode": "mine"}],
)
def test_settings_that_cannot_be_are_said_beside_their_field(visit: Visit, news: str, wrong: dict[str, str]) -> None:
    answer = visit("ola").post(f"{news}/settings/queue", **{**SETTINGS, **wrong})
    assert answer.status_code == 422
    assert 'class="error"' in answer.text


def test_a_closed_collection_offers_no_change_of_queue_or_owners(visit: Visit, news: str) -> None:
    ola = visit("ola")
    ola.post(f"{news}/close")
    for path in ("/settings/queue", "/assigning", "/gold-questions"):
        assert "This collection is closed" in words(ola.get(f"{news}{path}"))
    assert ola.post(f"{news}/settings/queue", **SETTINGS).status_code == 409
    assert ola.post(f"{news}/assigning", number="1", judge="jo").status_code == 409


def test_ticked_topics_are_given_to_a_judge_and_taken_again(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    assert "Owners assigned here take effect when topics are owned." in words(ola.get(f"{news}/assigning"))
    answer = ola.post(f"{news}/assigning", number=["1", "2"], judge="jo")
    assert (answer.status_code, answer.location) == (303, f"{news}/assigning")
    assert owners(database) == {"1": "jo", "2": "jo"}
    page = words(ola.get(f"{news}/assigning"))
    assert "Topics reassigned: 2." in page
    assert "jo 2 0 6 kim 0 0 0" in page
    ola.post(f"{news}/assigning", number="2", judge="")
    assert owners(database) == {"1": "jo", "2": None}


def test_a_balance_is_shown_before_it_is_stored(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    page = ola.get(f"{news}/assigning/balance")
    assert "Topics to be reassigned: 2. Nothing is stored yet." in words(page)
    assert owners(database) == {"1": None, "2": None}
    form = page.text.partition("Assign as shown")[0]
    fields = {
        name: re.findall(rf'<input type="hidden" name="{name}" value="([^"]*)">', form) for name in ("number", "judge")
    }
    assert fields == {"number": ["1", "2"], "judge": ["jo", "kim"]}
    assert ola.post(f"{news}/assigning", **fields).status_code == 303
    assert owners(database) == {"1": "jo", "2": "kim"}
    assert "No changes:" in words(ola.get(f"{news}/assigning/balance"))
    alone = words(ola.get(f"{news}/assigning/balance?judge=kim&all=1"))
    assert "Topics to be reassigned: 1." in alone


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        ({}, 422, "Tick the topics to reassign."),
        ({"judge": "jo"}, 422, "Tick the topics"),
        ({"number": ["1", "2"], "judge": ["jo", "kim", "jo"]}, 422, "Tick the topics"),
        ({"number": "9", "judge": "jo"}, 404, "no accepted topic “9”"),
        ({"number": "1", "judge": "ola"}, 404, "“ola” is no judge of this collection."),
    ],
)
def test_an_assignment_that_cannot_be_is_refused(
    visit: Visit, news: str, database: Database, fields: dict[str, object], status: int, sentence: str
) -> None:
    answer = visit("ola").post(f"{news}/assigning", **fields)
    assert (answer.status_code, sentence in words(answer)) == (status, True)
    assert owners(database) == {"1": None, "2": None}


def test_a_balance_among_strangers_is_refused(visit: Visit, news: str) -> None:
    answer = visit("ola").get(f"{news}/assigning/balance?judge=pat")
    assert (answer.status_code, "“pat” is no judge" in words(answer)) == (404, True)


def test_test_questions_come_one_by_one_and_by_file(visit: Visit, news: str) -> None:
    ola = visit("ola")
    assert ola.post(f"{news}/gold-questions", topic="1", docno="a", grade="2").status_code == 303
    page = words(ola.get(f"{news}/gold-questions"))
    assert "Gold questions added: 1, changed: 0, known already: 0. Documents added to the pool: 0." in page
    answer = ola.post(f"{news}/gold-questions/file", file=file("known.tsv", "1\te\t0\n2\ta\t1\n"))
    assert (answer.status_code, answer.location) == (303, f"{news}/gold-questions")
    page = words(ola.get(f"{news}/gold-questions"))
    assert "Gold questions added: 2, changed: 0, known already: 0. Documents added to the pool: 1." in page
    assert "gold questions" in words(ola.get(f"{news}/pool"))
    assert ola.post(f"{news}/gold-questions/remove", topic="1", docno="e").status_code == 303
    assert ola.post(f"{news}/gold-questions/remove", topic="1", docno="e").status_code == 422


def test_a_file_of_test_questions_is_refused_with_every_line(visit: Visit, news: str) -> None:
    ola = visit("ola")
    refused = ola.post(f"{news}/gold-questions/file", file=file("known.tsv", "9\ta\t1\n1\tb\t8\n"))
    assert refused.status_code == 422
    assert "known.tsv:1 There is no accepted topic “9”" in words(refused)
    assert "known.tsv:2 The grade 8 is not in the scale" in words(refused)
    refused = ola.post(f"{news}/gold-questions", topic="1", docno="nowhere", grade="1")
    assert (refused.status_code, "Document nowhere has no text" in words(refused)) == (422, True)


def test_the_organiser_sees_how_judges_answered(visit: Visit, news: str, database: Database) -> None:
    one_test_question(database)
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n")
        labels(session, "kim", "1 0 a 0\n")
    page = words(visit("ola").get(f"{news}/gold-questions"))
    assert "jo 1 1 100 % 0 kim 1 0 0 % 0" in page
    assert "1 a Title of a 1 0 1 right 0" in page


def test_a_judge_is_told_nothing_of_test_questions(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    before = {path: jo.get(f"{news}{path}").text for path in ("", "/judge")}
    one_test_question(database)
    after = {path: jo.get(f"{news}{path}").text for path in ("", "/judge")}
    assert before == after
    for path in ("/judge/topics/1", "/judge/judged", "/guidelines"):
        text = jo.get(f"{news}{path}").text.lower()
        assert "known" not in text
        assert "gold question" not in text
        assert "for_everyone" not in text


def test_near_duplicates_of_a_topic_are_shown(
    visit: Visit, news: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.transaction() as session:
        read = documents.read_documents([InputFile("d.tsv", TWINS.encode())], fields={}, unpacked_limit=LIMIT)
        documents.import_documents(session, SLUG, read)
        labels(session, "jo", "1 0 a 2\n1 0 b 1\n")
    ola = visit("ola")
    assert "No two of the" not in words(ola.get(f"{news}/pool/near-duplicates"))
    page = words(ola.get(f"{news}/pool/near-duplicates?topic=1"))
    assert "Pairs: 1, of 3 documents with a text" in page
    assert "0.89 a A jo: 2 b A jo: 1 differently" in page
    assert "c Same d 0" in page
    assert "No two of the 3 documents" in words(ola.get(f"{news}/pool/near-duplicates?topic=1&at_least=0.95"))
    monkeypatch.setattr(near_duplicates, "MOST_COMPARED", 0)
    page = words(ola.get(f"{news}/pool/near-duplicates?topic=1"))
    assert "annotator pool near-duplicates list news --topic 1 --at-least 0.8" in page
    assert "No two of the" not in page
    monkeypatch.setattr(near_duplicates, "MOST_CHARACTERS", 10)
    page = words(ola.get(f"{news}/pool/near-duplicates?topic=1"))
    assert "annotator pool near-duplicates list news --topic 1" in page
    assert "c Same d 0" in page


@pytest.mark.parametrize(
    ("asked", "status", "sentence"),
    [
        ("topic=9", 404, "no topic “9”"),
        ("topic=1&at_least=2", 422, "from 0.5 to 1, not 2.0"),
        ("topic=1&at_least=much", 422, "from 0.5 to 1, not much"),
    ],
)
def test_a_comparison_that_cannot_be_is_refused(
    visit: Visit, news: str, asked: str, status: int, sentence: str
) -> None:
    answer = visit("ola").get(f"{news}/pool/near-duplicates?{asked}")
    assert (answer.status_code, sentence in words(answer)) == (status, True)
