"""Topics, documents, pool, agreement, qrels and scores by program: equal to what pages and commands give."""

import gzip
import hashlib
import json
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from unittest.mock import Mock

import pytest
from build import LIMIT, NOW, SLUG, build, labels, member, run
from calling import NEWS, Caller
from kept import Kept
from sqlalchemy import select

from annotator.api.documents import documents as api_documents
from annotator.files import InputFile
from annotator.storage import AuditEvent, Database, Role, ScoresShown
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.collections import collection, rounds
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.documents import documents, search
from annotator.workflows.judging import judgement_import
from annotator.workflows.leaderboard import leaderboard, leaderboard_standing
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import submissions

GRADES = {
    "ann": "1 0 a 1\n1 0 b 0\n1 0 d 2\n2 0 a 1\n2 0 e 0\n",
    "ben": "1 0 a 1\n1 0 b 1\n1 0 d 2\n2 0 a 0\n2 0 e 0\n",
}


@pytest.fixture(autouse=True)
def judged(news: None, database: Database, kept: Kept) -> None:
    """Everything judged, by two."""
    del news
    kept.fill(database, add_grades)


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        for name, text in GRADES.items():
            labels(session, name, text)


def test_topics_are_listed_and_imported_once(program: Caller) -> None:
    ola = program("ola")
    assert [one["number"] for one in ola.get(f"{NEWS}/topics").json] == ["1", "2"]
    assert ola.send(f"{NEWS}/topics", "3\tthird\n").json == {"added": 1, "changed": 0, "unchanged": 0}
    assert ola.send(f"{NEWS}/topics", "3\tthird\n").json == {"added": 0, "changed": 0, "unchanged": 1}
    refused = ola.send(f"{NEWS}/topics", "4\n", name="topics.tsv")
    assert (refused.status_code, refused.json["problems"][0]["file"]) == (422, "topics.tsv")


def test_participants_see_no_draft(program: Caller) -> None:
    program("ola").send(f"{NEWS}/topics", "3\tthird\n", draft=True)
    assert [one["number"] for one in program("pat").get(f"{NEWS}/topics").json] == ["1", "2"]
    assert [one["state"] for one in program("ola").get(f"{NEWS}/topics").json] == ["accepted", "accepted", "draft"]


def test_documents_are_imported_once_and_shown(program: Caller) -> None:
    ola = program("ola")
    line = json.dumps({"id": "f/1", "text": "Text of f."})
    answer = ola.send(f"{NEWS}/documents", line, name="documents.jsonl", fields="docno=id body=text")
    assert answer.json == {"added": 1, "filled": 0, "changed": 0, "unchanged": 0}
    assert ola.get(f"{NEWS}/documents/f/1").json["body"] == "Text of f."
    assert ola.get(f"{NEWS}/documents/none").status_code == 404
    assert ola.get(f"{NEWS}/missing-documents").json == []
    assert ola.send(f"{NEWS}/documents", line, fields="docno").status_code == 422


def test_many_documents_are_indexed_after_they_are_stored(
    program: Caller, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = Mock(wraps=documents.import_documents)
    monkeypatch.setattr(documents, "import_documents", stored)
    monkeypatch.setattr(search, "INDEXED_AT_ONCE", 2)
    for docnos in ("fg", "hij"):
        program("ola").send(f"{NEWS}/documents", "".join(f"{docno}\tgiraffe\n" for docno in docnos))
    assert [call.kwargs["index_at_once"] for call in stored.call_args_list] == [True, False]
    with database.reading() as session:
        found = search.find_documents(session, SLUG, "giraffe").hits
        assert sorted(hit.docno for hit in found) == ["f", "g", "h", "i", "j"]


def test_a_pool_is_planned_and_built_and_the_same_again_is_no_new_version(program: Caller) -> None:
    ola = program("ola")
    wanted = {"strategy": "depth", "parameters": {"depth": 1}}
    plan = ola.post(f"{NEWS}/pool/plan", {**wanted, "hours": 1.5}).json
    assert (plan["strategy"], plan["grows"], plan["hours"]) == ("depth", "depth", 1.5)
    assert plan["amounts"][plan["asked"]] == 1
    built = ola.post(f"{NEWS}/pool", wanted).json
    assert (built["version"], built["is_new"], built["added"], built["already_pooled"]) == (1, False, 0, 4)
    ola.send(f"{NEWS}/runs", "1 Q0 f 1 2.0 new\n2 Q0 a 1 2.0 new\n")
    grown = ola.post(f"{NEWS}/pool", {**wanted, "runs": ["new"], "seed": 7}).json
    assert (grown["version"], grown["is_new"], grown["added"]) == (2, True, 1)
    assert [one["version"] for one in ola.get(f"{NEWS}/pool").json["versions"]] == [1, 2]
    assert ola.get(f"{NEWS}/pool/documents", version=1).text == "1 a\n1 b\n1 c\n1 d\n2 a\n2 e\n"


def test_a_pool_may_go_on_until_a_stopping_rule(program: Caller) -> None:
    ola = program("ola")
    wanted = {"strategy": "cal", "parameters": {"until": "in-a-row(in-a-row=7)", "start_depth": 0}}
    plan = ola.post(f"{NEWS}/pool/plan", wanted).json
    assert (plan["grows"], plan["until"], plan["amounts"]) == (None, "in-a-row(in_a_row=7)", plan["to_come"])
    assert ola.post(f"{NEWS}/pool/plan", {"parameters": {"depth": 1}}).json["until"] is None
    assert ola.post(f"{NEWS}/pool", wanted).json["is_new"]
    assert ola.get(f"{NEWS}/pool").json["versions"][-1]["parameters"]["until"] == "in-a-row(in_a_row=7)"
    unsampled = ola.post(f"{NEWS}/pool", {"strategy": "cal", "parameters": {"until": "target-set"}})
    assert (unsampled.status_code, "needs a random sample" in unsampled.json["detail"]) == (409, True)


@pytest.mark.parametrize(
    "wanted",
    [
        {"strategy": "none"},
        {"parameters": {"depth": "deep"}},
        {"parameters": {"width": 1}},
        {"parameters": {"depth": [1]}},
        {"parameters": {"depth": 1}, "runs": "alpha"},
        {"parameters": {"depth": 1}, "seed": -1},
        {"parameters": {"depth": 1}, "depth_of": {"alpha": 0}},
        {"parameters": {"\ud800": 1}},
        {"strategy": "cal", "parameters": {"until": "elbow"}},
        {"strategy": "cal", "parameters": {"until": "knee", "budget": 5}},
    ],
)
def test_a_pool_that_cannot_be_is_a_problem(program: Caller, wanted: dict[str, Any]) -> None:
    ola = program("ola")
    assert ola.post(f"{NEWS}/pool", wanted).status_code == 422
    assert ola.post(f"{NEWS}/pool/plan", wanted).status_code == 422
    assert len(ola.get(f"{NEWS}/pool").json["versions"]) == 1


def test_agreement_is_told_by_part(program: Caller) -> None:
    [row] = program("ola").get(f"{NEWS}/agreement", by="pair").json["rows"]
    assert {"ann", "ben"} <= set(map(str, row.values()))
    assert [row["topic"] for row in program("ola").get(f"{NEWS}/agreement", by="topic").json["rows"]] == ["1", "2"]
    over_time = program("ola").get(f"{NEWS}/agreement", by="time").json
    assert (over_time["rows"], over_time["grades_without_time"] > 0) == ([], True)
    assert program("ola").get(f"{NEWS}/agreement", by="moon").status_code == 422
    assert program("ola").get(f"{NEWS}/agreement", topic="9").status_code == 404


def test_qrels_of_a_moment_have_the_judgements_until_then(program: Caller, database: Database) -> None:
    ola = program("ola")
    before = ola.get(f"{NEWS}/qrels").data
    moment = datetime.now(UTC)
    with database.transaction() as session:
        later = InputFile("later.qrels", b"1 0 b 1\n")
        checked = judgement_import.check_judgements(session, SLUG, later, unpacked_limit=LIMIT)
        judgement_import.store_judgements(session, SLUG, checked, judge="cyd", added_at=moment + timedelta(seconds=1))
    assert ola.get(f"{NEWS}/qrels", judge="cyd").text == "1 0 b 1\n"
    assert ola.get(f"{NEWS}/qrels", at=moment.isoformat()).data == before
    assert ola.get(f"{NEWS}/qrels", judge="cyd", at=moment.isoformat()).data == b""
    assert ola.get(f"{NEWS}/qrels/manifest", at=moment.isoformat()).json["sha256"]
    assert ola.get(f"{NEWS}/qrels", at="yesterday").status_code == 422
    with database.transaction() as session:
        member(session, "obi", Role.OBSERVER)
    assert program("obi").get(f"{NEWS}/qrels", at=moment.isoformat()).status_code == 403


def test_qrels_of_one_judge_are_kept(program: Caller) -> None:
    ola = program("ola")
    of_ben = ola.get(f"{NEWS}/qrels", judge="ben").data
    kept = ola.post(f"{NEWS}/qrels/versions", {"judge": "ben"})
    assert kept.status_code == 201
    assert ola.get(f"{NEWS}/qrels", version=kept.json["number"]).data == of_ben


def test_qrels_and_manifest_are_those_of_the_command(program: Caller, database: Database) -> None:
    ola = program("ola")
    with database.reading() as session:
        made = qrels.export_qrels(session, SLUG, made_at=NOW)
    answer = ola.get(f"{NEWS}/qrels")
    assert answer.mimetype == "text/plain"
    assert answer.data == made.qrels
    assert ola.get(f"{NEWS}/qrels/manifest").json["sha256"] == json.loads(made.manifest)["sha256"]
    assert ola.get(f"{NEWS}/qrels", judge="ben").data != made.qrels
    assert ola.get(f"{NEWS}/qrels", judge="nobody").status_code == 404
    assert ola.get(f"{NEWS}/qrels", policy="by dice").status_code == 422


def test_qrels_are_written_for_other_tools(program: Caller, database: Database) -> None:
    ola = program("ola")
    answer = ola.get(f"{NEWS}/qrels", format="beir")
    assert answer.mimetype == "text/tab-separated-values"
    assert answer.text.splitlines()[:2] == ["query-id\tcorpus-id\tscore", "1\ta\t1"]
    manifest = ola.get(f"{NEWS}/qrels/manifest", format="beir").json
    assert manifest["sha256"] == hashlib.sha256(answer.data).hexdigest()
    assert ola.get(f"{NEWS}/qrels", format="quepid").text.startswith('"query","docid","rating"\n')
    assert ola.get(f"{NEWS}/qrels", format="xml").status_code == 422
    assert "no such sample" in ola.get(f"{NEWS}/qrels", format="prels").json["detail"]
    with database.transaction() as session:
        member(session, "obi", Role.OBSERVER)
        build(session, PoolRequest("stratified", {"strata": "1-3:1"}))
    sample = ola.get(f"{NEWS}/qrels", format="prels").text.splitlines()
    assert {len(line.split()) for line in sample} == {5}
    assert ola.get(f"{NEWS}/qrels", format="infap").status_code == 200
    assert ola.get(f"{NEWS}/qrels", format="prels", unjudged=True).status_code == 422
    assert program("obi").get(f"{NEWS}/qrels", format="beir").data == answer.data
    assert program("obi").get(f"{NEWS}/qrels", format="prels").status_code == 403


def test_judgements_are_written_for_other_tools_and_under_pseudonyms(program: Caller, database: Database) -> None:
    ola = program("ola")
    assert re.search(r"\bann\b", ola.get(f"{NEWS}/judgements").text)
    for name in ("csv", "jsonl", "label-studio"):
        assert not re.search(r"\b(ann|ben)\b", ola.get(f"{NEWS}/judgements", format=name, pseudonyms=True).text)
    [task, *_] = ola.get(f"{NEWS}/judgements", format="label-studio").json
    assert {one["result"][-1]["value"]["text"][0] for one in task["annotations"]} == {"ann", "ben"}
    assert ola.get(f"{NEWS}/judgements", format="label-studio-config").mimetype == "application/xml"
    with database.transaction() as session:
        member(session, "obi", Role.OBSERVER)
    assert program("obi").get(f"{NEWS}/judgements").status_code == 403


def test_a_version_is_kept_and_had_again(program: Caller) -> None:
    ola = program("ola")
    before = ola.get(f"{NEWS}/qrels").data
    assert ola.post(f"{NEWS}/qrels/versions", {}).json["number"] == 1
    assert ola.get(f"{NEWS}/qrels", version=1).data == before
    assert [one["number"] for one in ola.get(f"{NEWS}/qrels/versions").json] == [1]
    assert ola.get(f"{NEWS}/qrels", version=2).status_code == 404
    assert ola.get(f"{NEWS}/qrels", version=1, judge="ann").status_code == 422


def test_the_leaderboard_is_that_of_the_command(program: Caller, database: Database) -> None:
    ola = program("ola")
    with database.reading() as session:
        board = leaderboard.build_leaderboard(session, SLUG, ["AP", "P@1"])
    assert ola.get(f"{NEWS}/leaderboard", m=["AP", "P@1"]).json == json.loads(
        json.dumps(leaderboard.as_json(board, per_topic=False))
    )
    answer = ola.get(f"{NEWS}/leaderboard", m=["AP", "P@1"], format="csv")
    assert answer.mimetype == "text/csv"
    assert answer.text == leaderboard.leaderboard_csv(board)
    assert "by_topic" in ola.get(f"{NEWS}/leaderboard", per_topic=True).json["rows"][0]
    assert ola.get(f"{NEWS}/leaderboard", m="none").status_code == 422
    assert ola.get(f"{NEWS}/leaderboard", baseline="none").status_code == 404


@pytest.mark.usefixtures("judged")
def test_the_leaderboard_is_written_in_every_format_of_the_command(program: Caller) -> None:
    ola = program("ola")
    tot = ola.get(f"{NEWS}/leaderboard", m=["AP"], per_topic=True, format="tot")
    assert tot.mimetype == "text/plain"
    assert {tuple(line.split("\t")[1:3]) for line in tot.text.splitlines()} == {("AP", "1"), ("AP", "2"), ("AP", "all")}
    assert ola.get(f"{NEWS}/leaderboard", format="autojudge").mimetype == "application/x-ndjson"
    assert ola.get(f"{NEWS}/leaderboard", format="parquet").data.startswith(b"PAR1")
    assert "| run" not in ola.get(f"{NEWS}/leaderboard", format="latex").text
    assert ola.get(f"{NEWS}/leaderboard", format="markdown", per_topic=True).status_code == 422
    for name in ("tsv", "jsonl"):
        assert ola.get(f"{NEWS}/leaderboard", format=name).status_code == 200
    printed = ola.get(f"{NEWS}/leaderboard", format="trec_eval")
    assert printed.mimetype == "text/plain"
    assert {line.split()[0] for line in printed.text.splitlines()} == {
        "runid",
        "map",
        "recip_rank",
        "P_10",
        "ndcg_cut_10",
    }
    assert ola.get(f"{NEWS}/leaderboard", m="Judged@10", format="trec_eval").status_code == 422
    assert ola.get(f"{NEWS}/leaderboard", format="xml").status_code == 422


def test_the_leaderboard_is_sorted_only_by_what_it_shows(program: Caller) -> None:
    ola = program("ola")
    assert ola.get(f"{NEWS}/leaderboard", m=["AP", "P@1"], sort="P@1").json["sorted_by"] == "P@1"
    for name in ("run", "team"):
        assert ola.get(f"{NEWS}/leaderboard", m="AP", sort=name).json["sorted_by"] == name
    for missing in ("P@1", "fun"):
        refused = ola.get(f"{NEWS}/leaderboard", m=["AP", "RR"], sort=missing)
        assert refused.status_code == 422
        assert f"cannot be sorted by “{missing}”: it shows AP, RR." in refused.json["detail"]


def test_observers_read_results_and_no_name_of_a_judge(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        member(session, "obi", Role.OBSERVER)
        collection.change_collection(session, SLUG, CollectionChange(consensus_policy="judge:ben"))
    obi = program("obi")
    for path in (f"{NEWS}/leaderboard", f"{NEWS}/qrels", f"{NEWS}/agreement", NEWS):
        answer = obi.get(path)
        assert answer.status_code == 200
        assert not re.search(r"\b(ann|ben)\b", answer.text)
    assert not re.search(r"\b(ann|ben)\b", obi.get(f"{NEWS}/leaderboard", format="csv").text)
    assert obi.get(f"{NEWS}/agreement", by="pair").status_code == 403
    assert obi.get(f"{NEWS}/agreement", by="judge").status_code == 403
    assert obi.get(f"{NEWS}/qrels", judge="ben").status_code == 403
    assert obi.get(f"{NEWS}/leaderboard", judge="ben").status_code == 403


def test_participants_see_of_scores_what_is_released(program: Caller, database: Database) -> None:
    pat = program("pat")
    pat.send(f"{NEWS}/runs", "1 Q0 a 1 2.0 ours\n2 Q0 a 1 2.0 ours\n")
    assert pat.get(f"{NEWS}/leaderboard").status_code == 403
    assert pat.get(f"{NEWS}/scores").status_code == 403
    release(database, ScoresShown.OWN)
    assert pat.get(f"{NEWS}/leaderboard").status_code == 403
    [own] = pat.get(f"{NEWS}/scores").json["rows"]
    # Its place would tell how many are better.
    assert (own["tag"], own["place"]) == ("ours", None)
    release(database, ScoresShown.WHOLE)
    assert {row["tag"] for row in pat.get(f"{NEWS}/leaderboard").json["rows"]} == {"alpha", "beta", "ours"}
    assert pat.get(f"{NEWS}/leaderboard", judge="ann").status_code == 403
    assert pat.get(f"{NEWS}/scores", format="csv").text.count("\n") == 2


def test_participants_see_the_scores_of_the_rounds_of_their_team(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        rounds.open_round(session, SLUG, at=NOW)
        made = qrels.export_qrels(session, SLUG, made_at=NOW)
        version = qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
        rounds.close_round(session, SLUG, version=version, at=NOW)
        rounds.open_round(session, SLUG, at=NOW)
        labels(session, "ben", "1 0 new 1\n", add_to_pool=True)
    pat = program("pat")
    pat.send(f"{NEWS}/runs", "1 Q0 a 1 4 ours\n1 Q0 b 2 3 ours\n1 Q0 c 3 2 ours\n1 Q0 new 4 1 ours\n")
    assert pat.get(f"{NEWS}/scores", round=2).status_code == 403
    release(database, ScoresShown.WHOLE)
    for path in ("scores", "leaderboard"):
        answer = pat.get(f"{NEWS}/{path}", round=2, m="RR")
        [row] = answer.json["rows"]
        assert (row["tag"], row["values"]["RR"]) == ("ours", 0.5)
        assert answer.json["source"] == "live, round 2, residual"
        [whole] = pat.get(f"{NEWS}/{path}", round=2, residual="false", m="RR").json["rows"]
        assert whole["tag"] == "ours"
        assert pat.get(f"{NEWS}/{path}", round=1).status_code == 404
    release(database, ScoresShown.OWN)
    assert pat.get(f"{NEWS}/leaderboard", round=2).status_code == 403
    assert pat.get(f"{NEWS}/scores", round=2).json["source"] == "live, round 2, residual"


def test_own_scores_are_by_the_measures_and_of_the_run_that_were_asked_for(program: Caller, database: Database) -> None:
    pat = program("pat")
    pat.send(f"{NEWS}/runs", "1 Q0 a 1 2.0 ours\n2 Q0 a 1 2.0 ours\n")
    pat.send(f"{NEWS}/runs", "1 Q0 b 1 2.0 more\n")
    release(database, ScoresShown.OWN)
    whole = pat.get(f"{NEWS}/scores", m=["P@1", "AP", "RBP"]).json
    assert whole["measures"] == program("ola").get(f"{NEWS}/leaderboard", m=["P@1", "AP", "RBP"]).json["measures"]
    assert {row["tag"] for row in whole["rows"]} == {"ours", "more"}
    one = pat.get(f"{NEWS}/scores", m="P@1", run="more").json
    assert (one["measures"], [row["tag"] for row in one["rows"]]) == (["P@1"], ["more"])
    assert pat.get(f"{NEWS}/scores", m="none").status_code == 422
    assert pat.get(f"{NEWS}/scores", run="alpha").status_code == 404
    release(database, ScoresShown.BESIDE)
    beside = pat.get(f"{NEWS}/scores", m=["P@1", "AP"], run="more").json["beside"]
    assert (beside["run"], beside["measure"]) == ("more", "P@1")


def test_a_teams_scores_stand_beside_median_and_best_where_the_page_has_them(
    program: Caller, database: Database
) -> None:
    pat = program("pat")
    pat.send(f"{NEWS}/runs", "1 Q0 b 1 2.0 ours\n")
    release(database, ScoresShown.OWN)
    assert "beside" not in pat.get(f"{NEWS}/scores").json
    release(database, ScoresShown.BESIDE)
    few = pat.get(f"{NEWS}/scores", run="ours", m="P@10").json["beside"]
    assert (few["run"], few["measure"], few["among"]) == ("ours", "P@10", 3)
    assert few["untold"].startswith("The worst, the median and the best of all runs are not shown")
    assert {(one["worst"], one["median"], one["best"]) for one in few["topics"]} == {(None, None, None)}
    with database.transaction() as session:
        for team in ("blue", "green", "grey"):
            run(session, team, {"1": ["a"], "2": ["a"]}, team=team)
    release(database, ScoresShown.BESIDE)
    told = pat.get(f"{NEWS}/scores", run="ours", m="P@10").json
    with database.reading() as session:
        board = leaderboard.build_leaderboard(session, SLUG)
    expected = leaderboard_standing.standing_as_json(leaderboard_standing.standing(board, "ours", "P@10"))
    assert told["beside"] == expected
    assert told["beside"]["untold"] is None
    assert all(one["median"] is not None and one["worst"] is not None for one in told["beside"]["topics"])
    table = pat.get(f"{NEWS}/scores", run="ours", m=["P@10", "AP"], format="beside-csv").text.splitlines()
    assert table[0] == '"run","measure","topic","value","worst","median","best"'
    assert [line.split(",")[:3] for line in table[1:]] == [
        ['"ours"', f'"{measure}"', f'"{topic}"'] for measure in ("P@10", "AP") for topic in board.topics
    ]
    assert pat.get(f"{NEWS}/scores", run="alpha").status_code == 404


def test_released_scores_are_of_a_version_and_those_of_organisers_of_this_moment(
    program: Caller, database: Database
) -> None:
    pat, ola = program("pat"), program("ola")
    pat.send(f"{NEWS}/runs", "1 Q0 a 1 2.0 ours\n2 Q0 a 1 2.0 ours\n")
    assert ola.post(f"{NEWS}/qrels/versions", {}).status_code == 201
    with database.transaction() as session:
        member(session, "obi", Role.OBSERVER)
        submissions.release_scores(session, SLUG, at=datetime.now(UTC), shown=ScoresShown.WHOLE, qrels="1", early=True)
    asked = {
        (name, page): program(name)
        for name, page in (("pat", "scores"), ("pat", "leaderboard"), ("obi", "leaderboard"))
    }
    before = {key: caller.get(f"{NEWS}/{key[1]}", m="AP").json for key, caller in asked.items()}
    assert {answer["source"] for answer in before.values()} == {"1"}
    live = ola.get(f"{NEWS}/leaderboard", m="AP").json
    assert not [one for one in live["notices"] if one.startswith("Released scores")]
    with database.transaction() as session:
        collection.change_collection(session, SLUG, CollectionChange(consensus_policy="highest"))
    assert {key: caller.get(f"{NEWS}/{key[1]}", m="AP").json for key, caller in asked.items()} == before
    now = ola.get(f"{NEWS}/leaderboard", m="AP").json
    assert (now["source"], now["rows"] == live["rows"]) == ("live", False)
    assert [one for one in now["notices"] if one.startswith("Released scores are computed from version 1")]
    assert pat.get(f"{NEWS}/leaderboard", qrels=1).status_code == 403


def release(database: Database, shown: ScoresShown) -> None:
    at = datetime.now(UTC) - timedelta(seconds=1)
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=at, moment=at + timedelta(seconds=1), shown=shown, early=True)


def test_what_a_program_does_is_in_the_audit_log(program: Caller, database: Database) -> None:
    ola = program("ola")
    ola.send(f"{NEWS}/topics", "3\tthird\n")
    ola.post(f"{NEWS}/qrels/versions", {})
    ola.get(f"{NEWS}/qrels")
    with database.reading() as session:
        events = session.scalars(select(AuditEvent).order_by(AuditEvent.id)).all()
        told = [(one.action, one.name, one.door) for one in events if one.door == "api"]
    assert told == [(action, "ola", "api") for action in ("topics.import", "qrels.keep", "qrels.export")]


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2027-03", "soon"])
@pytest.mark.parametrize("name", ["since", "until"])
def test_a_moment_that_is_none_in_utc_is_refused(program: Caller, name: str, at: str) -> None:
    answer = program("ola").get(f"{NEWS}/audit", **{name: at})
    assert answer.status_code == 422
    assert list(answer.json["errors"]["query"]) == [name]


def test_a_moment_counts_in_its_own_time_zone(program: Caller, database: Database) -> None:
    ola = program("ola")
    ola.send(f"{NEWS}/topics", "3\tthird\n")
    with database.reading() as session:
        at = session.scalars(select(AuditEvent.at).where(AuditEvent.action == "topics.import")).one()
    there = timezone(timedelta(hours=14))
    for until, found in [(at, 0), (at + timedelta(seconds=1), 1)]:
        answer = ola.get(f"{NEWS}/audit", until=until.astimezone(there).isoformat(), action="topics.import")
        assert len(answer.json) == found


def test_what_is_packed_in_several_parts_is_not_unpacked_without_end(
    program: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_documents, "MOST_UNPACKED_AT_ONCE", 100)
    ola, lines = program("ola"), "a\tTitle\tsome words\n" * 5 + "b\twords\n"
    packed = ola.send(f"{NEWS}/documents", gzip.compress(lines.encode()))
    told = "The unpacked file is larger than 100 bytes. Split it."
    assert (packed.status_code, packed.json["problems"][0]["detail"]) == (422, told)
    assert ola.send(f"{NEWS}/documents", "b\twords\n").status_code == 200


def test_the_leaderboard_equals_either_trec_eval(program: Caller) -> None:
    ola = program("ola")
    assert ola.get(f"{NEWS}/leaderboard", m=["ERR@5"], compat="9").json["trec_eval"] == "9"
    assert ola.get(f"{NEWS}/leaderboard").json["trec_eval"] == "10"
    assert ola.get(f"{NEWS}/leaderboard", compat="8").status_code == 422


def test_a_sampled_pool_is_noted_and_estimates_are_named(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        build(session, PoolRequest("stratified", {"strata": "1-3:0.5"}))
    [notice] = [
        one for one in program("ola").get(f"{NEWS}/leaderboard", m=["AP", "infAP"]).json["notices"] if "sample" in one
    ]
    assert "version 2 drew" in notice
    assert notice.endswith(": AP.")
