"""The pages between a form and what it costs or takes away: numbers first, the effect once it is confirmed."""

import re
from html import unescape

from build import labels, run
from visiting import Visit, file, hidden, words
from werkzeug.test import TestResponse

from annotator.storage import Database


def repeated(page: TestResponse) -> dict[str, list[str]]:
    """The fields that a confirmation page sends again, without the token."""
    form = re.search(r'<form method="post" action="[^"]*" class="card">.*?</form>', page.text, re.DOTALL)
    assert form is not None
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'name="([^"]+)" value="([^"]*)"', form[0]):
        fields.setdefault(unescape(name), []).append(unescape(value))
    assert fields.pop("csrf_token")
    return fields


def input_of(page: TestResponse, name: str) -> str:
    """The tag of a field."""
    tags: list[str] = re.findall(r"<input[^>]*>", page.text)
    return next(tag for tag in tags if f'name="{name}"' in tag)


def test_a_pool_shows_its_documents_and_hours_before_it_is_built(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "gamma", {"1": ["f", "g"], "2": ["h"]})
    ola = visit("ola")
    asked = ola.post(f"{news}/pool", depth="5", runs=["gamma", "alpha"], seed="")
    assert asked.status_code == 200
    page = words(asked)
    # Two judgements of thirty seconds for each of three documents.
    assert (
        "Documents that join the pool 3 Topics with new documents 2 Judgements required 6 Hours of judging 0.05" in page
    )
    assert "assuming 30.0 seconds per judgement" in page
    assert "Version 2" not in words(ola.get(f"{news}/pool"))
    fields = repeated(asked)
    assert fields == {"depth": ["5"], "runs": ["gamma", "alpha"], "seed": [""], "confirmed": ["y"]}
    back = re.search(r'<a class="button quiet" href="([^"]+)">Cancel', asked.text)
    assert back is not None
    assert 'name="depth" value="5"' in re.sub(r' (?!name|value)[a-z-]+="[^"]*"', "", ola.get(unescape(back[1])).text)
    assert ola.post(f"{news}/pool", **fields).status_code == 303
    # What adds nothing needs no confirmation.
    assert ola.post(f"{news}/pool", depth="5", runs=["gamma", "alpha"]).status_code == 303


def test_holes_show_their_documents_and_hours_before_they_join(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "gamma", {"1": ["f"]})
    ola = visit("ola")
    asked = ola.post(f"{news}/pool/holes", depth="1")
    assert asked.status_code == 200
    assert "Documents that join the pool 1 Topics with new documents 1 Judgements required 2" in words(asked)
    assert "Version 2" not in words(ola.get(f"{news}/pool"))
    answer = ola.post(f"{news}/pool/holes", **repeated(asked))
    assert answer.status_code == 303
    assert "Added to the pool: 1. Version 2 is now active." in words(ola.get(answer.location))


def test_a_confirmation_is_no_way_around_the_rights_of_a_role(visit: Visit, news: str) -> None:
    assert visit("pat").post(f"{news}/pool", depth="5", confirmed="y").status_code == 403


def test_closing_a_round_shows_what_is_kept_and_what_is_not_judged(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n")
    ola = visit("ola")
    asked = ola.post(f"{news}/rounds/close")
    assert asked.status_code == 200
    assert "Close round 1? Runs of the round 2 Grades that are kept 2 Documents not fully judged 6" in words(asked)
    assert "This collection has no rounds" in words(ola.get(f"{news}/rounds"))
    assert ola.post(f"{news}/rounds/close", **repeated(asked)).status_code == 303
    assert ola.post(f"{news}/rounds/close").status_code == 409


def test_withdrawing_shows_organisers_what_the_run_gave_and_participants_no_pool(visit: Visit, news: str) -> None:
    ola, withdraw = visit("ola"), f"{news}/runs/withdraw?tag=alpha"
    asked = ola.post(withdraw)
    assert asked.status_code == 200
    assert "Withdraw the run alpha? Documents contributed to the pool" in words(asked)
    assert f'action="{withdraw}"' in asked.text
    assert "withdrawn" not in words(ola.get(f"{news}/runs/run?tag=alpha"))
    assert ola.post(withdraw, **repeated(asked)).status_code == 303
    assert ola.post(withdraw).status_code == 409
    ola.post(f"{news}/runs/restore?tag=alpha")
    pat = visit("pat")
    pat.post(f"{news}/runs", files=file("gamma.run", "1 Q0 a 1 9 gamma\n2 Q0 e 1 9 gamma\n"))
    asked = pat.post(f"{news}/runs/withdraw?tag=gamma")
    assert (asked.status_code, "pool" in words(asked).replace("pooled", "")) == (200, False)
    assert pat.post(f"{news}/runs/withdraw?tag=gamma", **repeated(asked)).status_code == 303
    assert pat.post(withdraw).status_code == 404


def test_removing_a_judge_shows_what_they_hold_and_judged(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n")
    ola, sent = visit("ola"), {"name": "jo", "role": "judge"}
    asked = ola.post(f"{news}/members/remove", **sent)
    assert asked.status_code == 200
    page = words(asked)
    assert "Remove the role judge from “jo”? Documents they hold 0 Their judgements 1" in page
    assert "jo judge" in words(ola.get(f"{news}/members"))
    assert ola.post(f"{news}/members/remove", **repeated(asked)).status_code == 303
    assert "jo judge" not in words(ola.get(f"{news}/members"))
    assert ola.post(f"{news}/members/remove", **sent).status_code == 422


def test_labels_are_stored_only_after_their_numbers_were_shown(visit: Visit, news: str) -> None:
    ola, sent = visit("ola"), {"judge": "nist", "add_to_pool": "y"}
    checked = ola.post(f"{news}/judgements", file=file("n.qrels", "1 0 a 2\n1 0 new 1\n"), **sent)
    assert checked.status_code == 200
    page = words(checked)
    assert "Labels of “nist”, a new account that cannot sign in. Labels added: 2 Judgements" in page
    assert "they replace: 0" in page
    assert "Documents outside the pool to be added: 1" in page
    value = hidden(checked, "confirmed")
    # Another file, or another judge, than was checked is checked first.
    for name, text in (("nist", "1 0 a 1\n"), ("nlst", "1 0 a 2\n1 0 new 1\n")):
        other = ola.post(f"{news}/judgements", file=file("n.qrels", text), judge=name, add_to_pool="y", confirmed=value)
        assert "Nothing is stored yet." in words(other)
    answer = ola.post(f"{news}/judgements", file=file("n.qrels", "1 0 a 2\n1 0 new 1\n"), confirmed=value, **sent)
    assert "Labels added: 2, changed: 0" in words(ola.get(answer.location))
    again = words(ola.post(f"{news}/judgements", file=file("m.qrels", "1 0 a 1\n"), judge="nist"))
    assert "Labels of “nist”, an existing account." in again
    assert "they replace: 1" in again


def test_settings_that_give_judges_more_show_it_first(visit: Visit, news: str) -> None:
    ola = visit("ola")
    form = {"judging_mode": "shared", "overlap_share": "50", "reshow_share": "0", "common_items": "0"}
    asked = ola.post(f"{news}/settings/queue", **form)
    # Of four and of two documents a half is judged once more.
    assert "Give judges more to judge? Judgements required 3 Hours of judging 0.02" in words(asked)
    assert 'value="0"' in input_of(ola.get(f"{news}/settings/queue"), "overlap_share")
    assert ola.post(f"{news}/settings/queue", **repeated(asked)).status_code == 303
    assert 'value="50"' in input_of(ola.get(f"{news}/settings/queue"), "overlap_share")
    assert ola.post(f"{news}/settings/queue", **{**form, "overlap_share": "0"}).status_code == 303
    wanted = {"title": "N", "kind": "shared-task", "scale": "0=No\n1=Yes\n2=Very", "relevant_from": "1"}
    wanted["consensus_policy"] = "majority"
    asked = ola.post(f"{news}/settings", **wanted, judgements_wanted="4")
    assert "Judgements required 12" in words(asked)
    assert ola.post(f"{news}/settings", **repeated(asked)).status_code == 303
    assert 'value="4"' in ola.get(f"{news}/settings").text
    assert ola.post(f"{news}/settings", **wanted, judgements_wanted="1").status_code == 303
