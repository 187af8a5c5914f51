"""Uploads that were checked: a row for each file, which is edited, left out and stored; their files are kept."""

import gzip
import io
import re
import zipfile
from datetime import UTC, datetime, timedelta

from build import SLUG, run_text
from visiting import Visit, Visitor, file, words
from werkzeug.test import TestResponse

from annotator.storage import Database
from annotator.storage.runs.sent_runs import SentRun
from annotator.storage.site.jobs import FILES_KEPT, MOST_FILES_KEPT, remove_unneeded
from annotator.workflows.runs.runs import list_runs

GAMMA, DELTA = run_text("gamma", {"1": ["a", "b"], "2": ["c"]}), run_text("delta", {"1": ["b", "a"], "2": ["c"]})


def zipped(**files: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def fields(page: TestResponse) -> dict[str, str]:
    """The fields of the form, without unticked boxes."""
    form = re.search(r'<form method="post" class="rows" data-at="([^"]+)".*?</form>', page.text, re.DOTALL)
    assert form is not None
    sent = {"at": form[1]}
    for tag in re.findall(r"<input [^>]+>", form[0]):
        kind = re.search(r'type="(\w+)"', tag)
        named, value = re.search(r'name="([^"]+)"', tag), re.search(r'value="([^"]*)"', tag)
        if named and value and kind and (kind[1] != "checkbox" or " checked" in tag):
            sent[named[1]] = value[1]
    for name, options in re.findall(r'<select[^>]* name="([^"]+)"[^>]*>(.*?)</select>', form[0], re.DOTALL):
        chosen = re.search(r'<option selected value="([^"]*)"', options)
        sent[name] = chosen[1] if chosen else ""
    sent.pop("csrf_token", None)
    return sent


def stored(database: Database) -> dict[str, SentRun]:
    with database.reading() as session:
        return {run.tag: run for run in list_runs(session, SLUG) if run.uploaded_by}


def store(visitor: Visitor, page: TestResponse, **changes: str) -> TestResponse:
    sent = {**fields(page), **changes}
    return visitor.post(sent.pop("at"), **{name: value for name, value in sent.items() if value != "-"})


def test_a_zip_and_its_metadata_become_rows_that_are_edited_and_stored(
    visit: Visit, news: str, database: Database
) -> None:
    metadata = "file,team,type,priority,description\ng.run,blue,manual,2,by hand\nd.run.gz,red,,,\n"
    sent = zipped(**{"g.run": GAMMA, "d.run.gz": gzip.compress(DELTA), "m.csv": metadata.encode()})
    ola = visit("ola")
    page = ola.post(f"{news}/runs/check", files=file("all.zip", sent))
    assert page.status_code == 200
    assert "No problems in these files. Nothing is stored yet." in words(page)
    given = fields(page)
    assert [given[f"0-{name}"] for name in ("tag", "team", "run_type", "priority", "description")] == [
        *("gamma", "blue", "manual", "2", "by hand"),
    ]
    assert (given["1-tag"], given["1-team"], given["1-run_type"]) == ("delta", "red", "")
    assert stored(database) == {}
    answer = store(ola, page, **{"1-tag": "delta-2", "1-priority": "3", "1-team": "green"})
    assert answer.status_code == 303
    runs = stored(database)
    assert {tag: (run.team, run.run_type, run.priority) for tag, run in runs.items()} == {
        "gamma": ("blue", "manual", 2),
        "delta-2": ("green", "", 3),
    }
    assert runs["gamma"].description == "by hand"


def test_a_check_keeps_the_files_for_a_day_for_whoever_sent_them(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    page = ola.post(f"{news}/runs/check", files=file("gamma.run", GAMMA), team="blue", questionnaire_version="0")
    at = fields(page)["at"]
    assert fields(ola.get(at)) == fields(page)
    assert visit("pat").get(at).status_code == 404
    remove_unneeded(database, now=datetime.now(UTC) + FILES_KEPT - timedelta(minutes=1))
    assert ola.get(at).status_code == 200
    remove_unneeded(database, now=datetime.now(UTC) + FILES_KEPT + timedelta(minutes=1))
    assert "These files are no longer kept. Choose them again." in words(ola.get(at))
    assert store(ola, page).status_code == 404
    assert stored(database) == {}


def test_the_files_of_the_last_checks_are_kept(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    pages = [ola.post(f"{news}/runs/check", files=file("gamma.run", GAMMA)) for _ in range(MOST_FILES_KEPT)]
    addresses = [fields(page)["at"] for page in pages]
    remove_unneeded(database, now=datetime.now(UTC))
    assert ola.get(addresses[0]).status_code == 200
    visit("pat").post(f"{news}/runs/check", files=file("gamma.run", GAMMA))
    remove_unneeded(database, now=datetime.now(UTC))
    assert ola.get(addresses[0]).status_code == 200
    ola.post(f"{news}/runs/check", files=file("gamma.run", GAMMA))
    remove_unneeded(database, now=datetime.now(UTC))
    assert [ola.get(at).status_code for at in addresses[:2]] == [404, 200]


def test_a_refused_upload_is_mended_in_its_rows(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    files = [file("one.run", GAMMA), file("two.run", GAMMA), file("bad.run", "1 Q0 a 1 high bad\n")]
    page = ola.post(f"{news}/runs", files=files)
    assert page.status_code == 422
    assert "two.run:1 The tag gamma is also the tag of one.run." in words(page)
    refused = store(ola, page, **{"1-tag": "gamma-2"})
    assert refused.status_code == 422
    assert "bad.run:1 The score high is not a finite decimal number" in words(refused)
    assert stored(database) == {}
    assert store(ola, refused, **{"2-use": "-"}).status_code == 303
    assert set(stored(database)) == {"gamma", "gamma-2"}


def test_problems_of_several_files_that_read_alike_are_listed_once(visit: Visit, news: str) -> None:
    files = [file(f"{name}.run", f"7 Q0 a 1 9 {name}\n") for name in ("one", "two", "three")]
    page = words(visit("ola").post(f"{news}/runs/check", files=files))
    assert "one.run:1 The collection has no topic 7. The same in 2 other files: two.run, three.run" in page
    assert page.count("The collection has no topic 7.") == 1 + 3  # once, and in each row


def test_a_run_with_the_ranking_of_another_is_named(visit: Visit, news: str, database: Database) -> None:
    ola, pat = visit("ola"), visit("pat")
    ola.post(f"{news}/runs", files=file("gamma.run", GAMMA), team="blue")
    copy = GAMMA.replace(b"gamma", b"copy")
    files = [file("copy.run", copy), file("again.run", copy.replace(b"copy", b"again")), file("delta.run", DELTA)]
    page = words(ola.post(f"{news}/runs/check", files=files))
    assert "Warning: the same ranking as gamma " in page
    assert "Warning: the same ranking as gamma, copy.run" in page
    assert page.count("Warning: the same ranking") == 2
    # A team is told of its own runs only.
    assert "the same ranking" not in words(pat.post(f"{news}/runs/check", files=file("copy.run", copy)))
    assert set(stored(database)) == {"gamma"}


def test_a_row_has_valid_values_and_one_at_least_is_ticked(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    page = ola.post(f"{news}/runs/check", files=file("gamma.run", GAMMA))
    assert "A run needs a tag." in words(store(ola, page, **{"0-tag": ""}))
    assert "A priority is a number from 1" in words(store(ola, page, **{"0-priority": "0"}))
    assert "Tick at least one file." in words(store(ola, page, **{"0-use": "-"}))
    assert stored(database) == {}


def test_a_participant_cannot_choose_the_team(visit: Visit, news: str, database: Database) -> None:
    pat = visit("pat")
    files = [file("gamma.run", GAMMA), file("m.csv", "tag,team,priority\ngamma,blue,2\n")]
    page = pat.post(f"{news}/runs/check", files=files)
    assert "0-team" not in fields(page)
    assert store(pat, page, **{"0-team": "blue"}).status_code == 303
    [run] = stored(database).values()
    assert (run.team, run.priority) == ("red", 2)


def test_metadata_without_a_file_is_a_problem(visit: Visit, news: str, database: Database) -> None:
    files = [file("gamma.run", GAMMA), file("m.csv", "tag,priority\nnowhere,2\n")]
    page = visit("ola").post(f"{news}/runs", files=files)
    assert page.status_code == 422
    assert "m.csv:2 There is no file of the run nowhere among these." in words(page)
    assert stored(database) == {}


def test_metadata_alone_is_no_upload(visit: Visit, news: str) -> None:
    page = visit("ola").post(f"{news}/runs", files=file("m.csv", "tag,priority\nnowhere,2\n"))
    assert page.status_code == 422
    assert "There is no run among these files." in words(page)
