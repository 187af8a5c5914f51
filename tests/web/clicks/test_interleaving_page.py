"""Interleaving by page: the same file as by command."""

from build import SLUG, run
from sqlalchemy import select
from visiting import Visit, words

from annotator.clicks.workflows.interleaving import ListsWanted, make_lists
from annotator.storage import AuditEvent, Database
from annotator.workflows.runs.runs import original_file

OPTIONS = {"method": "team-draft", "depth": "3", "lists": "4", "seed": "7"}


def test_lists_of_two_runs_are_those_of_the_command(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "gamma", {"1": ["d", "b", "a"], "2": ["e"]})
        run(session, "delta", {"1": ["a", "b", "c"], "2": ["a"]})
    ola = visit("ola")
    page = ola.get(f"{news}/interleaving")
    assert 'value="gamma"' in page.text
    assert "Chapelle et al. 2012" in words(page)
    answer = ola.post(f"{news}/interleaving", run=["gamma", "delta"], **OPTIONS)
    assert answer.headers["Content-Disposition"] == f"attachment; filename={SLUG}-interleaved.tsv"
    with database.reading() as session:
        files = [original_file(session, SLUG, tag) for tag in ("gamma", "delta")]
        (entry,) = session.scalars(select(AuditEvent).where(AuditEvent.action == "interleaving.export"))
    assert answer.data == make_lists(files, ListsWanted("team-draft", 3, 4, 7)).content
    assert entry.details == {"method": "team-draft", "depth": 3, "lists": 4, "seed": 7}


def test_what_cannot_be_interleaved_is_refused_and_keeps_the_choice(visit: Visit, news: str) -> None:
    ola = visit("ola")
    answer = ola.post(f"{news}/interleaving", run=["alpha"], **OPTIONS)
    assert (answer.status_code, "from 2 to 20 runs, not 1" in words(answer)) == (422, True), words(answer)
    assert ola.post(f"{news}/interleaving", run=["alpha", "nothing"], **OPTIONS).status_code == 422
    assert ola.post(f"{news}/interleaving", run=["alpha"], **{**OPTIONS, "depth": "0"}).status_code == 422
