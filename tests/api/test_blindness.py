"""What a judge's program gets has not one byte that depends on runs, ranks, scores or grades of others and machines.

Two sites have the same topics, documents and pool, and different runs, teams and grades of another judge and of a
machine. Jo does the same on both: every answer must be the same.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from api_matrix import MATRIX
from build import LIMIT, NOW, SLUG, document_file, labels, member, news, pool, run, topic_file
from calling import NEWS, Answer, Program, token_of
from visiting import shared_application, with_database

from annotator.files import InputFile
from annotator.settings import sqlite_url
from annotator.storage import Database, Role
from annotator.storage.agreement.machines import MachineFacts
from annotator.workflows.judging import judgement_import

DOCNOS = [f"d{number:02}" for number in range(12)]
RUNS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "one": {"zebra": DOCNOS},
    "other": {"otter": DOCNOS[::-1], "walrus": DOCNOS[3:] + DOCNOS[:3], "heron": DOCNOS[6:]},
}
OF_THE_MOMENT = {"Date", "RateLimit"}
SAID = {"one": "0011201201", "other": "2120010212"}


def fill(database: Database, site: str) -> None:
    with database.transaction() as session:
        news(session, judgements_wanted=2)
        member(session, "jo", Role.JUDGE)
        member(session, "nellie", Role.JUDGE)
        topic_file(session)
        document_file(session, DOCNOS)
        for tag, docnos in RUNS[site].items():
            run(session, tag, {"1": docnos, "2": docnos[:4]}, team=f"{tag}s")
        run(session, f"{site}-rest", {"2": DOCNOS})
        pool(session, depth=12, seed=5)
        graded = "".join(f"1 0 {docno} {grade}\n" for docno, grade in zip(DOCNOS, SAID[site], strict=False))
        labels(session, "nellie", graded)
        confidence = {"one": "0.125", "other": "0.875"}[site]
        by_machine = "".join(
            f"{topic} Q0 {docno} {grade} {confidence} oracle\n"
            for topic in ("1", "2")
            for docno, grade in zip([*DOCNOS, f"beyond-{site}"], [*SAID[site], 0, 1, 2], strict=True)
        )
        file = InputFile("m.txt", by_machine.encode())
        checked = judgement_import.check_judgements(session, SLUG, file, by_machine=True, unpacked_limit=LIMIT)
        facts = MachineFacts("model-of-oracle")
        judgement_import.store_judgements(session, SLUG, checked, judge="oracle", machine=facts, added_at=NOW)


def test_a_judges_program_gets_the_same_bytes_whatever_the_runs_the_other_judge_and_a_machine(
    sqlite_template: Path, tmp_path: Path
) -> None:
    heard = {}
    for site in RUNS:
        path = tmp_path / f"{site}.sqlite"
        shutil.copy(sqlite_template, path)
        database = Database(sqlite_url(path))
        fill(database, site)
        app = with_database(shared_application(), database, csrf=True)
        heard[site] = everything(Program(app, token_of(database, "jo")))
        database.close()
    assert len(heard["one"]) > len(MATRIX)
    assert heard["one"] == heard["other"]
    assert not any(
        tag in answer for answer in heard["one"] for tag in ("zebra", "otter", "one-rest", "nellie", "oracle")
    )


def everything(jo: Program) -> list[str]:
    """All that Jo can be told: every operation, then judging to the end, with some of it refused."""
    heard = [told(jo.call(row.method, row.path, json=row.body)) for row in MATRIX.values()]
    for topic in ("1", "2", "3"):
        while True:
            drawn = jo.post(f"{NEWS}/judging/documents", {"topic": topic})
            heard.append(told(drawn))
            if drawn.status_code != 200 or not drawn.json["documents"]:
                break
            some = [
                {"id": f"a{one['assignment']}", "assignment": one["assignment"], "grade": place % 4}
                for place, one in enumerate(drawn.json["documents"])
            ]
            heard.append(told(jo.post(f"{NEWS}/judgements", {"judgements": some})))
            again = [{**one, "id": f"b{one['assignment']}", "grade": 0} for one in some]
            heard.append(told(jo.post(f"{NEWS}/judgements", {"judgements": again})))
        heard.append(told(jo.get(f"{NEWS}/judging")))
    return heard


def told(answer: Answer) -> str:
    """Status, headers and content, but for the time, and what is left of the calls of Jo's own token until then."""
    headers = {name: value for name, value in answer.headers.items() if name not in OF_THE_MOMENT}
    return json.dumps([answer.status_code, sorted(headers.items()), answer.text])
