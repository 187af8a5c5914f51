"""Numbers in addresses that nothing can be done with: a sentence, and never a fault."""

import pytest
from build import labels
from kept import Kept
from visiting import Visit, words

from annotator.storage import Database

HUGE = str(10**20)


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """Topic 1: jo and kim agree on a."""
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n")
        labels(session, "kim", "1 0 a 2\n", name="kim.txt")


@pytest.mark.parametrize(
    ("address", "status", "sentence"),
    [
        (f"agreement/documents?first=jo&second=kim&page={HUGE}", 422, "The number must be from 1 to 999999999"),
        ("agreement/documents?first=jo&second=kim&page=0", 422, "from 1 to 999999999, not 0."),
        ("agreement/documents?first=jo&second=kim&page=two", 422, "“two” is not a whole number."),
        (f"agreement/documents?first=jo&second=kim&one={HUGE}", 422, "The number must be from"),
        (f"agreement/documents?first=jo&second=kim&other=-{HUGE}", 422, "The number must be from"),
        ("agreement/documents?first=jo&second=kim&one=-5", 422, ", not -5."),
        ("agreement/documents?first=jo&second=kim&one=%D9%A1", 422, "is not a whole number."),
        (f"qrels/versions/{HUGE}/file", 404, "Page not found"),
        ("qrels/versions/999999999/manifest", 404, "There is no version 999999999 of these qrels."),
        (f"qrels/diff?before={HUGE}", 404, f"There is no version {HUGE} of these qrels."),
        (f"qrels/diff?before={'9' * 5000}", 404, f"There is no version {'9' * 40}… of these qrels."),
        (f"agreement/effect?draws={'9' * 5000}", 422, f", not {'9' * 40}…"),
        (f"agreement/effect?seed={HUGE}", 422, "The number must be from 0 to 1000000000000000000"),
        ("agreement/effect?draws=many", 422, "“many” is not a whole number."),
        ("agreement/effect?draws=1", 422, "The number of draws is from 2 to 10000, not 1."),
    ],
)
def test_a_number_that_cannot_be_is_answered_with_a_sentence(
    visit: Visit, judged: str, address: str, status: int, sentence: str
) -> None:
    answer = visit("ola").get(f"{judged}/{address}")
    assert answer.status_code == status
    assert sentence in words(answer)


def test_numbers_that_are_missing_or_empty_are_the_usual_ones(visit: Visit, judged: str) -> None:
    answer = visit("ola").get(f"{judged}/agreement/documents?first=jo&second=kim&one=&page=")
    assert answer.status_code == 200
    assert visit("ola").get(f"{judged}/agreement/effect?draws=&seed=").status_code == 200
