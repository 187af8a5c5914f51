"""What the page of the runs gives as files: the rules by which they are checked, and all files of a team."""

import io
import zipfile

from build import SLUG, run, run_text
from visiting import Visit, words

from annotator.storage import Database
from annotator.workflows.runs.file_checks import read_rules

LISTS = {"1": ["a"], "2": ["b"]}


def test_the_rules_are_those_of_the_person(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "ours", LISTS, team="red")
    page = visit("pat").get(f"{news}/runs/rules.json")
    assert page.headers["Content-Disposition"] == "attachment; filename=news-rules.json"
    rules = read_rules(page.text)
    assert (rules.collection, rules.team, [one.tag for one in rules.runs]) == (SLUG, "red", ["ours"])
    assert [one.tag for one in read_rules(visit("ola").get(f"{news}/runs/rules.json").text).runs] == [
        *("alpha", "beta", "ours"),
    ]
    assert "annotator runs check --rules news-rules.json FILE" in words(visit("pat").get(f"{news}/runs"))


def test_a_team_downloads_its_files_alone(visit: Visit, news: str, database: Database) -> None:
    pat = visit("pat")
    nothing = pat.get(f"{news}/runs/files.zip")
    assert (nothing.status_code, "There is no active run to download." in words(nothing)) == (404, True)
    with database.transaction() as session:
        run(session, "ours", LISTS, team="red")
    assert "Download the files of all active runs" in words(pat.get(f"{news}/runs"))
    for name, tags in (("pat", ["ours"]), ("ola", ["alpha", "beta", "ours"])):
        page = visit(name).get(f"{news}/runs/files.zip")
        assert page.headers["Content-Type"] == "application/zip"
        with zipfile.ZipFile(io.BytesIO(page.data)) as archive:
            assert [one.split(".")[0] for one in archive.namelist()] == tags
            assert archive.read(archive.namelist()[-1]) == run_text("ours", LISTS)
