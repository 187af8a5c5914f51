"""Files of labels by program: of a person, of a machine with its model and prompt, tried out, and listed."""

from io import BytesIO
from typing import Any

import pytest
from calling import NEWS, Caller, Program
from sqlalchemy import select

from annotator.storage import Database, User, UserKind

pytestmark = pytest.mark.usefixtures("news")
IMPORTS = f"{NEWS}/judgements/imports"


def send(program: Program, labels: str, prompt: str | None = None, **query: object) -> Any:  # noqa: ANN401 - an answer
    form = {"labels": (BytesIO(labels.encode()), "given.qrels")}
    if prompt is not None:
        form["prompt"] = (BytesIO(prompt.encode()), "prompt.txt")
    return program.call("POST", IMPORTS, query_string=query, data=form, content_type="multipart/form-data")


def test_labels_of_a_person_are_imported_once_and_listed(program: Caller) -> None:
    ola = program("ola")
    tried = send(ola, "1 0 a 1\n1 0 b -1\n", judge="nist", dry_run=True)
    assert (tried.status_code, ola.get(IMPORTS).json) == (200, [])
    stored = send(ola, "1 0 a 1\n1 0 b -1\n", judge="nist").json
    assert stored == tried.json
    assert (stored["added"], stored["unjudged"], stored["outside_labels"]) == (1, 1, [])
    assert send(ola, "1 0 a 1\n1 0 b -1\n", judge="nist").json["known"] == 1
    [listed] = ola.get(IMPORTS).json
    assert (listed["judge"], listed["name"]) == ("nist", "given.qrels")
    deleted = ola.post(f"{NEWS}/deletions", {"kind": "labels", "subjects": [str(listed["number"])]})
    assert deleted.status_code in {200, 201}
    assert ola.get(IMPORTS).json == []


def test_labels_of_a_machine_keep_its_model_and_prompt_and_name_what_is_outside_the_scale(
    program: Caller, database: Database
) -> None:
    query = {"judge": "umbrela", "machine": True, "model": "gpt-4o", "date": "2026-11-01"}
    stored = send(program("ola"), "1 0 a 1\n1 0 b 7\n", "Grade it.\r\n", **query)
    assert stored.status_code == 200, stored.text
    assert (stored.json["added"], stored.json["outside"]) == (2, 1)
    assert [one["line"] for one in stored.json["outside_labels"]] == [2]
    with database.reading() as session:
        user = session.scalars(select(User).where(User.name == "umbrela")).one()
        assert (user.kind, user.model, user.prompt) == (UserKind.MACHINE, "gpt-4o", "Grade it.\n")


def test_labels_of_a_machine_outside_the_pool_come_back_with_their_confidences(program: Caller) -> None:
    ola = program("ola")
    labels = "1 Q0 a 1 0.5 m\n1 Q0 b 1 - m\n1 Q0 elsewhere 0 0.25 m\n"
    stored = send(ola, labels, judge="umbrela", machine=True).json
    assert (stored["added"], stored["outside_pool"]) == (3, 1)
    written = ola.get(f"{NEWS}/judgements", format="judge")
    assert written.data.decode() == labels.replace(" m\n", " umbrela\n")
    unknown = ola.get(f"{NEWS}/judgements", format="judge", judge="nobody")
    assert unknown.status_code == 404


def test_labels_come_in_other_formats_detected_or_named(program: Caller) -> None:
    ola = program("ola")
    csv = "query-id,corpus-id,score\n1,a,1\n"
    assert send(ola, csv, judge="ann").json["added"] == 1
    assert send(ola, csv, judge="bob", input_format="trec").status_code == 422


def test_a_wrong_file_is_refused_with_its_lines_and_stores_nothing(program: Caller) -> None:
    ola = program("ola")
    refused = send(ola, "1 0 a 9\n7 0 a 1\n", judge="nist")
    assert refused.status_code == 422
    assert [one["line"] for one in refused.json["problems"]] == [1, 2]
    assert send(ola, "1 0 z 1\n", judge="nist").status_code == 422
    assert send(ola, "1 0 z 1\n", judge="nist", add_to_pool=True).json["pooled"] == 1
    assert send(ola, "1 0 a 1\n", judge="nist", model="gpt-4o").status_code == 422
    assert send(ola, "1 0 a 1\n", "\0", judge="gpt", machine=True).status_code == 422
    assert len(ola.get(IMPORTS).json) == 1
