"""The pages of agreement: the report, two judges in full, the documents behind a number, and the files."""

import csv

import pytest
from build import labels
from kept import Kept
from visiting import Visit, words

from annotator.storage import Database
from annotator.web.agreement import agreement as agreement_page


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """Topic 1 has a b c d in its pool; Nist grades all of it, the crowd three: nist 2 0 1 0, crowd 2 0 0."""
    kept.fill(database, add_grades)
    return f"{news}/agreement"


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 0\n")
        labels(session, "crowd", "1 0 a 2\n1 0 b 0\n1 0 c 0\n", name="crowd.txt")


def test_the_report_has_alpha_and_kappa_with_chance_interval_and_words(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(judged))
    # a, b agree, c does not: observed 2/3. Crowd: 0 twice, 2 once; nist: 0, 1, 2 once each.
    # By chance (2*1 + 0*1 + 1*1)/9 = 1/3, so kappa = (2/3 - 1/3)/(2/3) = 0.5.
    # Of three documents, all of one topic, the analytic interval alone exists, and it contains 0.
    pair = "crowd, nist 3 0.500 \u2013 -0.111 to 1.000 no agreement beyond chance · few documents 0.667 0.333 -0.33"
    assert pair in page
    assert "2 judges: Krippendorff's alpha" in page
    assert "of 100 documents, two judges would grade 33 differently" in page
    assert "their limits are conventions" in page
    assert "Krippendorff's alpha (ordinal)" in page
    assert "2 · Highly relevant 100.0 %" in page


def test_labels_of_files_draw_no_line_over_time(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    for address in (judged, f"{judged}/pair?first=crowd&second=nist"):
        answer = ola.get(address)
        assert "7 grades without a time" in words(answer)
        assert "No document has two grades with a time: there is nothing to plot." in words(answer)
        assert 'data-chart="line"' not in answer.text
    assert ola.get(f"{judged}.csv?by=time").text.splitlines() == ['"documents","alpha"']


def test_weights_and_topics_are_chosen_in_the_address_and_carried_on(visit: Visit, judged: str) -> None:
    page = visit("ola").get(f"{judged}?weights=linear&topics=1")
    assert "Only of these topics: 1" in words(page)
    # One of three differs by one grade of two: P(A) = 1 - 1/6.
    assert "few documents 0.833" in words(page)
    assert "agreement/pair?first=crowd&amp;second=nist&amp;weights=linear&amp;topics=1" in page.text


@pytest.mark.parametrize(
    ("address", "status", "sentence"),
    [
        ("?weights=cubic", 422, "Weights are none, linear or quadratic, not “cubic”."),
        ("?topics=9", 404, "There is no accepted topic “9” in this collection."),
        ("/pair?first=crowd&second=crowd", 404, "There are no two judges “crowd” and “crowd”."),
        ("/pair?first=crowd&second=nist&weights=cubic", 422, "Weights are none, linear or quadratic, not “cubic”."),
        ("/documents?first=crowd&second=nobody", 404, "There are no two judges “crowd” and “nobody”."),
        (".csv?by=nose", 404, "There is no such part of the report."),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(
    visit: Visit, judged: str, address: str, status: int, sentence: str
) -> None:
    answer = visit("ola").get(f"{judged}{address}")
    assert answer.status_code == status
    assert sentence in words(answer)


def test_two_judges_in_full_lead_to_the_documents_of_each_cell(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    page = ola.get(f"{judged}/pair?first=crowd&second=nist")
    assert "Rows: crowd. Columns: nist." in words(page)
    assert "95 % interval, by topic \u2013 95 % interval, analytic (documents independent) -0.111 to 1.000" in words(
        page
    )
    assert "There is no interval by topics: it needs shared documents of three topics or more." in words(page)
    cell = f"{judged}/documents?first=crowd&second=nist&one=0&other=1"
    assert cell.replace("&", "&amp;") in page.text
    found = words(ola.get(cell))
    assert "Documents that crowd graded “0 · Not relevant” and nist “1 · Relevant”: 1." in found
    assert "1 Title of c c 0 · Not relevant 1 · Relevant" in found


def test_all_documents_of_two_judges_are_listed_by_the_page(
    visit: Visit, judged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.web.agreement.agreement.DOCUMENTS_A_PAGE", 2)
    ola = visit("ola")
    first = ola.get(f"{judged}/documents?first=crowd&second=nist")
    assert "Documents that both have graded: 3." in words(first)
    assert "Page 1 of 2 Next" in words(first)
    assert "1 Title of c c" in words(ola.get(f"{judged}/documents?first=crowd&second=nist&page=2"))
    # Beyond the last page there is a way back.
    assert "Previous Page 9 of 2" in words(ola.get(f"{judged}/documents?first=crowd&second=nist&page=9"))


def test_many_judges_are_shown_in_part_and_given_whole(
    visit: Visit, judged: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.web.agreement.agreement.MOST_PAIRS_SHOWN", 1)
    monkeypatch.setattr("annotator.web.agreement.agreement.MOST_JUDGES_IN_MATRIX", 3)
    with database.transaction() as session:
        labels(session, "lee", "1 0 a 2\n1 0 b 0\n", name="lee.txt")
        labels(session, "amy", "1 0 d 0\n", name="amy.txt")
    ola = visit("ola")
    page = words(ola.get(judged))
    assert "These are the 1 pairs with most documents in common, of 4." in page
    assert "Pairs without a document in common: 2." in page
    assert "The 3 judges with most to compare, of 4." in page
    assert "Only pairs with amy All pairs" in words(ola.get(f"{judged}?judge=amy"))
    rows = list(csv.DictReader(ola.get(f"{judged}.csv?by=pair").text.splitlines()))
    assert [(row["first"], row["second"], row["n"]) for row in rows] == [
        ("amy", "crowd", "0"),
        ("amy", "lee", "0"),
        ("amy", "nist", "1"),
        ("crowd", "lee", "2"),
        ("crowd", "nist", "3"),
        ("lee", "nist", "2"),
    ]


def test_a_new_judgement_shows_on_the_next_look(visit: Visit, judged: str, database: Database) -> None:
    ola = visit("ola")
    assert "crowd, nist 3 0.500" in words(ola.get(judged))
    with database.transaction() as session:
        labels(session, "crowd", "1 0 d 0\n", name="more.txt")
    assert "crowd, nist 4 0.556" in words(ola.get(judged))


def test_without_two_judges_on_a_document_the_page_says_what_it_needs(
    visit: Visit, news: str, database: Database
) -> None:
    ola = visit("ola")
    page = words(ola.get(f"{news}/agreement"))
    assert "Agreement needs two judges who have graded the same document. There are no grades yet." in page
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n")
    assert "Only one judge has graded anything." in words(ola.get(f"{news}/agreement"))
    with database.transaction() as session:
        labels(session, "crowd", "1 0 b 2\n", name="crowd.txt")
    assert "No document has been graded by two judges." in words(ola.get(f"{news}/agreement"))
    assert "have graded no document in common" in words(ola.get(f"{news}/agreement/pair?first=nist&second=crowd"))


def test_one_grade_for_everything_is_undefined_and_said_so(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 1\n")
        labels(session, "crowd", "1 0 a 1\n1 0 b 1\n", name="crowd.txt")
    page = words(visit("ola").get(f"{news}/agreement"))
    assert "All judges gave one and the same grade to every document" in page
    assert "Of 100 documents, two judges would grade 0 differently." in page
    assert "NaN" not in page


@pytest.mark.parametrize(
    ("share", "said"), [(0, "0"), (0.001, "<1"), (0.014, "1"), (0.994, "99"), (0.999, ">99"), (1, "100")]
)
def test_a_share_in_words_is_never_rounded_to_all_or_nothing(share: float, said: str) -> None:
    assert agreement_page.of_hundred(share) == said
