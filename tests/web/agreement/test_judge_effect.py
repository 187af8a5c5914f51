"""Whether it matters who judged, and machine judges: what the workflows find, said on pages."""

import pytest
from build import LIMIT, NOW, SLUG, labels
from kept import Kept
from visiting import Visit, import_labels, words

from annotator.files import InputFile
from annotator.storage import Database
from annotator.storage.agreement.machines import MachineFacts
from annotator.workflows.judging import judgement_import


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """Topic 1 has a b c d in its pool; alpha begins with a, beta with d, and two judges differ on which is right."""
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 d 0\n")
        labels(session, "crowd", "1 0 a 0\n1 0 b 0\n1 0 d 1\n", name="crowd.txt")


@pytest.fixture
def machine(judged: str, database: Database) -> str:
    """The same with a machine that has labelled a and b, and said 7 of c."""
    with database.transaction() as session:
        checked = judgement_import.check_judgements(
            session,
            SLUG,
            InputFile("m.txt", b"1 0 a 2\n1 0 b 1\n1 0 c 7\n"),
            by_machine=True,
            unpacked_limit=LIMIT,
        )
        facts = MachineFacts("Judge-7B", "Say 0 to 2.")
        judgement_import.store_judgements(session, SLUG, checked, judge="judgebot", machine=facts, added_at=NOW)
    return judged


def test_the_effect_of_judges_is_said_in_words_and_tables(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/agreement/effect?m=P@1&draws=40"))
    assert "For each of 40 mixtures, one judge of each topic is drawn" in page
    assert "graded by two or more judges count: 3, of 1 topics" in page
    # One topic: in each draw one of the two runs has 1 and the other 0, so that both may be first or second.
    assert "0.0000 1.0000 1 2" in page
    assert "crowd, nist 3 1 -1.000 -1.000" in page
    assert "The order of the runs depends noticeably on who judged." in page
    assert "highest 2" in page


def test_two_judges_are_shown_run_by_run(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/agreement/effect?m=P@1&first=crowd&second=nist"))
    assert "crowd and nist, run by run" in page
    assert "Neighbours under crowd that are in the opposite order under nist: beta ⇄ alpha." in page
    assert "beta 1.0000 0.0000 1 2 alpha 0.0000 1.0000 2 1" in page


@pytest.mark.parametrize(
    ("query", "status", "words_"),
    [
        ("m=nDGC", 422, "nDGC"),
        ("draws=many", 422, "“many” is not a whole number."),
        ("draws=0", 422, "The number of draws is from 2 to 10000, not 0."),
        ("topics=9", 404, "There is no topic “9”"),
    ],
)
def test_what_cannot_be_asked_is_said_beside_the_form(
    visit: Visit, judged: str, query: str, status: int, words_: str
) -> None:
    answer = visit("ola").get(f"{judged}/agreement/effect?{query}")
    assert answer.status_code == status
    assert words_ in words(answer)
    assert "More options" in words(answer)


def test_before_any_judgement_the_page_says_so(visit: Visit, news: str) -> None:
    answer = visit("ola").get(f"{news}/agreement/effect")
    assert answer.status_code == 200
    assert "Nothing is judged yet" in words(answer)


def test_one_judge_has_nobody_to_be_compared_with(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n")
    assert "nothing to mix or compare" in words(visit("ola").get(f"{news}/agreement/effect"))


def test_machines_are_shown_beside_people(visit: Visit, machine: str) -> None:
    page = words(visit("ola").get(f"{machine}/agreement/machines?m=P@1"))
    assert "Model: Judge-7B" in page
    assert "Say 0 to 2." in page
    # Settled, the lower of two: a 0, b 0; the machine says 2 and 1.
    assert "differ on 100; on average the machine's grade is higher by 1.50" in page
    assert "nist 2 50.0 %" in page
    assert "1 c 7" in page
    shared = words(visit("ola").get(f"{machine}/agreement/machines?shared=1"))
    assert "settled grades 2" in shared


def test_labels_of_machines_are_not_in_the_qrels_nor_in_the_effect(visit: Visit, machine: str) -> None:
    assert "judgebot" not in words(visit("ola").get(f"{machine}/agreement/effect?m=P@1"))
    assert visit("ola").get(f"{machine}/qrels/file").text == "1 0 a 0\n1 0 b 0\n1 0 d 0\n"


def test_without_a_machine_the_page_says_where_labels_come_in(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/agreement/machines"))
    assert "No machine labels yet." in page
    assert visit("ola").get(f"{judged}/agreement/machines?topics=9").status_code == 404


def test_labels_of_a_machine_are_imported_on_the_page(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    sent = {
        "judge": "bot",
        "machine": "y",
        "model": "Judge-7B",
        "prompt": "Say 0\r\nor 1.",
        "labelled_on": "2026-02-01",
    }
    assert import_labels(ola, judged, "m.txt", b"1 0 a 1\n1 0 b 8\n", **sent).status_code == 303
    assert "Labels outside the scale, not counted: 1." in words(ola.get(f"{judged}/judgements"))
    page = words(ola.get(f"{judged}/agreement/machines"))
    assert "labelled on: 2026-02-01" in page
    assert "1 b 8" in page


def test_an_administrator_marks_a_judge_as_a_machine_and_back(visit: Visit, judged: str) -> None:
    ada = visit("ada")
    said = {"judge": "crowd", "model": "Judge-7B", "prompt": "", "labelled_on": ""}
    assert ada.post("/people/machine", **said).status_code == 303
    assert "“crowd” is a machine." in words(ada.get("/people"))
    assert "no, it has no password 2026-03-01 09:00 UTC Judge-7B" in words(ada.get("/people"))
    assert "crowd" in words(ada.get(f"{judged}/agreement/machines"))
    assert ada.post("/people/machine", **said, person="1").status_code == 303
    assert "No machine labels yet." in words(ada.get(f"{judged}/agreement/machines"))
    refused = ada.post("/people/machine", **{**said, "judge": "nobody"})
    assert refused.status_code == 422
    assert "There is no user “nobody”." in words(refused)
