"""The palette names the pages a person may open, and for organisers what else the collection has."""

from itertools import groupby

from build import user
from visiting import Visit, Visitor

from annotator.storage import Database


def names_of(visitor: Visitor, news: str, text: str) -> dict[str, list[str]]:
    """The names found, by kind."""
    targets = visitor.get(f"{news}/names.json?q={text}").get_json()["targets"]
    return {kind: [one["name"] for one in some] for kind, some in groupby(targets, lambda one: str(one["kind"]))}


def test_an_organiser_finds_pages_and_runs_by_name(visit: Visit, news: str) -> None:
    found = names_of(visit("ola"), news, "lea")
    assert found["page"] == [
        *("Leaderboard", "Interleave runs", "Leave one team out", "Release", "Release kit"),
    ]
    assert names_of(visit("ola"), news, "alpha") == {"run": ["alpha"]}
    assert names_of(visit("ola"), news, "jo")["member"] == ["jo"]


def test_every_page_found_opens(visit: Visit, news: str) -> None:
    ola = visit("ola")
    targets = ola.get(f"{news}/names.json?q=a").get_json()["targets"]
    assert {one["kind"] for one in targets} >= {"page", "run", "document"}
    assert {one["href"]: ola.get(one["href"]).status_code for one in targets} == dict.fromkeys(
        (one["href"] for one in targets), 200
    )


def test_others_find_their_pages_only(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        user(session, "stranger")
    assert names_of(visit("jo"), news, "alpha") == {}
    assert names_of(visit("jo"), news, "judge")["page"][0] == "Judge"
    assert visit("stranger").get(f"{news}/names.json?q=a").status_code == 404
