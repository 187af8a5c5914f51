"""Pages of machine judges that the site runs: what they cost and where texts go is shown before anything is sent."""

import pytest
from build import labels
from machine_judging import Clock, work
from model_server import KEY, MODEL, ModelServer, failing, responding
from visiting import Visit, Visitor, words

from annotator.storage import Database

pytestmark = pytest.mark.usefixtures("model_key")
HOSTILE = "<script>alert(1)</script> I will not say."


def fields(server: ModelServer, **changes: str) -> dict[str, str]:
    return {
        "name": "robot",
        "endpoint": server.endpoint,
        "model": MODEL,
        "prompt_name": "plain",
        "prompt": "",
        "samples": "1",
        "temperature": "0",
        "text_tokens": "4000",
        "answer_tokens": "100",
        "parallel": "4",
        "price_sent": "1",
        "price_received": "2",
        "currency": "EUR",
        **changes,
    }


def added(ola: Visitor, news: str, server: ModelServer, **changes: str) -> str:
    """The page of a machine judge that was added."""
    answer = ola.post(f"{news}/machine-judges", **fields(server, **changes))
    assert answer.status_code == 303, words(answer)
    return f"{news}/machine-judges/robot"


def test_a_machine_judge_is_added_confirmed_run_and_shown(
    visit: Visit, news: str, database: Database, model_server: ModelServer
) -> None:
    ola = visit("ola")
    assert "No machine judge has been added." in words(ola.get(f"{news}/machine-judges"))
    page = added(ola, news, model_server)
    assert "topics and documents are sent to 127.0.0.1" in words(ola.get(page))
    assert "It has not been run yet." in words(ola.get(page))
    shown = words(ola.post(f"{page}/run"))
    assert "The topics and the texts of these documents leave this machine: they are sent to 127.0.0.1." in shown
    assert "Requests 6" in shown
    assert "Cost, at most about 0.00" in shown
    assert "Estimated by" not in shown
    assert sum(model_server.asked.values()) == 0
    model_server.behaviours = {"Text of b.": [responding(HOSTILE)], "Text of c.": [failing(400, "Too long.")]}
    assert ola.post(f"{page}/run", confirmed="y").status_code == 303
    assert "State running" in words(ola.get(page))
    assert ola.post(f"{page}/run", confirmed="y").status_code == 409
    work(database)
    answer = ola.get(page)
    shown = words(answer)
    for part in ("State done", "Documents done 6 of 6", "Labelled 4", "No valid grade 1", "Failed 1"):
        assert part in shown
    assert "The response names no grade. <script>alert(1)</script> I will not say." in shown
    assert "<script>alert(1)" not in answer.text
    assert "failed The endpoint refused with HTTP status 400. Too long." in shown
    assert KEY not in answer.text
    # The responses are stored: another run would send the one that failed.
    shown = words(ola.post(f"{page}/run"))
    assert "Requests 1" in shown
    assert "Responses that are stored already and not requested again: 5." in shown
    assert "robot-v1" in words(ola.get(f"{news}/agreement/machines"))


def test_a_judge_sees_no_grade_of_a_machine(
    visit: Visit, news: str, database: Database, model_server: ModelServer
) -> None:
    ola = visit("ola")
    page = added(ola, news, model_server)
    model_server.grades = dict.fromkeys((f"Text of {docno}." for docno in "abcde"), "final grade: 2")
    ola.post(f"{page}/run", confirmed="y")
    work(database)
    screen = visit("jo").get(f"{news}/judge/topics/1").text
    assert "robot" not in screen
    assert "final grade" not in screen
    assert visit("jo").get(page).status_code == 403


def test_a_run_is_cancelled_and_continued_with_a_ceiling(
    visit: Visit, news: str, database: Database, model_server: ModelServer
) -> None:
    ola = visit("ola")
    page = added(ola, news, model_server)
    ola.post(f"{page}/run", confirmed="y", tried="3", most_tokens="100000")
    assert ola.post(f"{page}/cancel").status_code == 303
    assert "State cancelled" in words(ola.get(page))
    assert ola.post(f"{page}/cancel").status_code == 409
    assert ola.post(f"{page}/continue", most_cost="1").status_code == 303
    work(database)
    assert "Documents done 3 of 3" in words(ola.get(page))
    assert ola.post(f"{page}/continue").status_code == 409
    assert ola.post(f"{page}/continue", most_tokens="x").status_code == 422


def test_progress_has_the_pace_and_what_the_rest_costs(
    visit: Visit, news: str, database: Database, model_server: ModelServer
) -> None:
    ola = visit("ola")
    page = added(ola, news, model_server, parallel="1")
    model_server.behaviours["Text of b."] = [failing(429, "Slow down.", Retry_After="600")]
    ola.post(f"{page}/run", confirmed="y")
    work(database, Clock())
    shown = words(ola.get(page))
    assert "The rest takes about 510 tokens. It costs about 0.0005 EUR. At this pace about" in shown
    assert "asked too often (HTTP status 429). Slow down. It goes on at" in shown


def test_a_further_version_begins_with_the_settings_of_the_last(
    visit: Visit, news: str, model_server: ModelServer
) -> None:
    ola = visit("ola")
    page = added(ola, news, model_server, answer_tokens="77")
    form = ola.get(f"{news}/machine-judges?like=robot").text
    assert 'value="77"' in form
    assert model_server.endpoint in form
    own = {"prompt_name": "own", "prompt": "{topic_title}\r\n{document_text}\r\n{scale}"}
    assert ola.post(f"{news}/machine-judges", **fields(model_server, **own)).location == f"{page}?version=2"
    assert "{topic_title}\n{document_text}" in ola.get(page).text
    assert "{topic_title}\n{document_text}" in ola.get(f"{news}/machine-judges?like=robot").text
    assert "Versions: 1 2" in words(ola.get(page))
    assert ola.get(f"{page}?version=1").status_code == 200
    assert ola.get(f"{page}?version=3").status_code == 404


def test_two_versions_are_compared_with_people(
    visit: Visit, news: str, database: Database, model_server: ModelServer
) -> None:
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 a 1\n2 0 e 0\n")
    ola = visit("ola")
    page = added(ola, news, model_server)
    assert "Two different versions of “robot” are needed" in words(ola.get(f"{page}/compare"))
    ola.post(f"{page}/run", confirmed="y")
    work(database)
    model_server.grades = {"Text of a.": "2"}
    added(ola, news, model_server, prompt_name="umbrela")
    ola.post(f"{page}/run?version=2", confirmed="y")
    work(database)
    shown = words(ola.get(f"{page}/compare"))
    for part in (
        "Labelled by both 6",
        "Graded by people, too 5",
        "With another grade 2",
        "Nearer to people by robot-v2 1",
    ):
        assert part in shown
    assert "Documents with another grade: 2; shown here: 2" in shown
    assert "Compare two versions with people" in words(ola.get(page))
    assert ola.get(f"{page}/compare?first=1&second=9").status_code == 404
    assert ola.get(f"{page}/compare?first=2&second=2").status_code == 422
    assert "With another grade 1" in words(ola.get(f"{page}/compare?topics=2"))


@pytest.mark.parametrize(
    ("changes", "status", "sentence"),
    [
        ({"endpoint": "https://elsewhere.org/v1"}, 403, "This server may not send to “elsewhere.org”"),
        ({"prompt_name": "own", "prompt": "{wat}"}, 422, "“{wat}”, which is no variable"),
        ({"prompt_name": "own", "prompt": " "}, 422, "Write the prompt, or choose one that is built in."),
        ({"samples": "2"}, 422, "Several samples at temperature 0"),
        ({"samples": "x"}, 422, "Write a whole number."),
        ({"price_sent": ""}, 422, "Give both prices"),
        ({"name": ""}, 422, "This field is required."),
    ],
)
def test_what_is_no_machine_judge_is_refused(
    visit: Visit, news: str, model_server: ModelServer, changes: dict[str, str], status: int, sentence: str
) -> None:
    ola = visit("ola")
    answer = ola.post(f"{news}/machine-judges", **fields(model_server, **changes))
    assert (answer.status_code, sentence in words(answer)) == (status, True)
    assert "No machine judge has been added." in words(ola.get(f"{news}/machine-judges"))


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"topics": "9"}, "There is no topic “9”"),
        ({"tried": "0"}, "A trial has 1 to 1000 documents."),
        ({"most_tokens": "-1"}, "A ceiling is a number above 0."),
        ({"most_tokens": "x"}, "Write a whole number."),
    ],
)
def test_what_is_no_run_is_refused(
    visit: Visit, news: str, model_server: ModelServer, sent: dict[str, str], sentence: str
) -> None:
    ola = visit("ola")
    page = added(ola, news, model_server)
    for further in ({}, {"confirmed": "y"}):
        answer = ola.post(f"{page}/run", **sent, **further)
        assert (answer.status_code, sentence in words(answer)) == (422, True)
    assert "It has not been run yet." in words(ola.get(page))


def test_a_closed_collection_runs_none(visit: Visit, news: str, model_server: ModelServer) -> None:
    ola = visit("ola")
    page = added(ola, news, model_server)
    ola.post(f"{news}/close", confirmed="y")
    assert ola.post(f"{page}/run", confirmed="y").status_code == 409
    assert "Run…" not in words(ola.get(page))
    assert ola.post(f"{news}/machine-judges", **fields(model_server)).status_code == 409
