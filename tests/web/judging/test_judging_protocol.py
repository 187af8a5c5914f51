"""The judging screen's protocol: what a script sends and gets, in JSON, and what it must never be told."""

import gzip
import json
import re
from typing import Any

import brotli
import pytest
from build import NOW, SLUG, document_file, labels, member, pool, run
from flask import Flask
from sqlalchemy import select, update
from visiting import Visit, Visitor
from werkzeug.test import TestResponse

from annotator.errors import BusyError
from annotator.storage import Assignment, Collection, Database, Document, Judgement, PoolItem, Role, User
from annotator.web.site.context import DATABASE
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.people import members
from annotator.workflows.topics.topic_editing import drop_topics

TOPIC = "/judge/topics/1"
HOSTILE = (
    "<p onclick='alert(1)'>before</p><script>alert(2)</script><svg onload='alert(3)'><circle/></svg>"
    "<style>body{display:none}</style><meta http-equiv=refresh content='0;url=//evil.example'>"
    "<p style='position:fixed'>after<img src='//spy.example/x.png'></p>"
)


def batch(visitor: Visitor, news: str, topic: str = "1") -> dict[str, Any]:
    """What the page of a topic has for its script."""
    return batch_of(visitor.get(f"{news}/judge/topics/{topic}"))


def batch_of(page: TestResponse) -> dict[str, Any]:
    assert page.status_code == 200
    text = re.search(r'<script type="application/json" id="batch">(.*?)</script>', page.text, re.DOTALL)
    assert text is not None
    found: dict[str, Any] = json.loads(text[1])
    return found


def send(visitor: Visitor, news: str, *acts: object, **body: object) -> TestResponse:
    """Acts, as the script sends them; it holds nothing unless `holds` says so."""
    sent = {"tab": "tab-1", "holds": [], "acts": list(acts), **body}
    return visitor.client.post(f"{news}{TOPIC}/acts", json=sent)


def grade(assignment: int, value: int = 1, **more: object) -> dict[str, Any]:
    plain = {"id": f"a{assignment}-{value}", "sequence": 1, "assignment": assignment, "kind": "grade", "grade": value}
    return plain | more


def taken(answer: TestResponse) -> dict[str, Any]:
    """The JSON of an answer to acts of which something was stored."""
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


def held(visitor: Visitor, news: str) -> list[int]:
    """The assignments that the page brings."""
    return [one["assignment"] for one in batch(visitor, news)["documents"]]


def client_ids(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(Judgement.client_id).order_by(Judgement.id)))


def test_after_a_topic_the_script_is_given_the_next_one_or_a_reason(
    visit: Visit, news: str, database: Database
) -> None:
    jo = visit("jo")
    topic = {"number": "2", "title": "second topic", "url": f"{news}/judge/topics/2", "waiting": 2}
    assert jo.get(f"{news}/judge/next/1").get_json() == {"topic": topic, "sentence": None}
    with database.transaction() as session:
        close_collection(session, SLUG)
    reason = "Judging has ended: the organiser has closed this collection."
    assert jo.get(f"{news}/judge/next/1").get_json() == {"topic": None, "sentence": reason}


def test_a_page_brings_all_that_its_script_needs(visit: Visit, news: str) -> None:
    found = batch(visit("jo"), news)
    documents = found.pop("documents")
    assert found.pop("csrf")
    assert found.pop("epoch")
    assert found.pop("urls") == {
        "acts": f"{news}{TOPIC}/acts",
        "session": f"{news}/judge/session",
        "assignments": f"{news}/judge/assignments/",
        "onward": f"{news}/judge/next/1",
        "worker": f"{news}/judge/worker.js",
        "take": f"{news}{TOPIC}/taken",
        "give_back": f"{news}{TOPIC}/taken/return",
        "page": f"{news}{TOPIC}",
        "back": None,
        "topics": f"{news}/judge",
        "note": f"{news}{TOPIC}/note",
        "marks": f"{news}{TOPIC}/marks",
        "questions": f"{news}/judge/questions",
        "read": f"{news}/judge/questions/read",
        "clarifications": f"{news}{TOPIC}/clarifications.json",
        "seen": f"{news}{TOPIC}/clarifications",
    }
    assert found == {
        "person": 1,
        "topic": {
            "number": "1",
            "title": "first topic",
            "description": "",
            "narrative": "",
            "language": None,
            "words": [{"text": "first", "kind": "prefix"}, {"text": "topic", "kind": "prefix"}],
        },
        "scale": [
            {"value": 0, "name": "Not relevant", "description": ""},
            {"value": 1, "name": "Relevant", "description": ""},
            {"value": 2, "name": "Highly relevant", "description": ""},
        ],
        "guidelines": 0,
        "recent": [],
        "counts": {"judged": 0, "total": 4, "put_off": 0},
        "note": "",
        "marks": [],
        "answers": 0,
        "clarifications": {"newest": 0, "rows": []},
        "along": None,
    }
    first = documents[0]
    assert first == {
        "assignment": 1,
        "docno": first["docno"],
        "title": f"Title of {first['docno']}",
        "url": None,
        "language": None,
        "html": f'<div class="plain">Text of {first["docno"]}.</div>',
        "parts": 1,
        "renderings": ["text"],
        "decision": None,
        "previous": None,
    }
    assert [one["assignment"] for one in documents] == [1, 2, 3, 4]


def test_an_act_is_stored_and_the_answer_says_how_far_the_judge_is(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    first, *rest = held(jo, news)
    act = grade(
        first, 2, seconds=12.5, note="clear", guidelines=0, ago=60, evidence=[{"start": 0, "end": 4, "text": "Text"}]
    )
    answer = send(jo, news, act, holds=rest)
    assert taken(answer) == {
        "person": 1,
        "epoch": batch(jo, news)["epoch"],
        "acknowledged": [f"a{first}-2"],
        "refused": [],
        "judged": [],
        "documents": [],
        "counts": {"judged": 1, "total": 4, "put_off": 0},
        "guidelines": 0,
        "answers": 0,
        "clarifications": 0,
        "stopped": None,
    }
    with database.reading() as session:
        stored = session.scalars(select(Judgement)).one()
    assert (stored.grade, stored.seconds, stored.note, stored.tab, stored.sequence) == (2, 12.5, "clear", "tab-1", 1)
    assert round((stored.received_at - stored.judged_at).total_seconds()) == 60
    shown = jo.get(f"{news}/judge/assignments/{first}.json").get_json()
    evidence = [{"start": 0, "end": 4, "text": "Text"}]
    decision = {"id": act["id"], "grade": 2, "cannot_judge": None, "note": "clear"}
    assert shown["decision"] == {**decision, "evidence": evidence}
    [recent] = batch(jo, news)["recent"]
    assert recent == {"assignment": first, "docno": shown["docno"], "title": shown["title"], "decision": decision}


def test_a_judgement_is_withdrawn(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    first, *rest = held(jo, news)
    act = grade(first, 2)
    taken(send(jo, news, act, holds=rest))
    withdrawal = {"id": "w", "assignment": first, "kind": "withdraw"}
    answer = taken(send(jo, news, {**withdrawal, "judgement": act["id"]}, holds=[first, *rest]))
    assert (answer["acknowledged"], answer["counts"]["judged"]) == (["w"], 0)
    assert jo.get(f"{news}/judge/assignments/{first}.json").get_json()["decision"] is None
    assert client_ids(database) == [act["id"], "w"]
    malformed = send(jo, news, withdrawal)
    assert malformed.status_code == 422


def test_without_script_a_judgement_is_withdrawn_by_a_button(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    first, *_ = held(jo, news)
    act = grade(first, 2)
    taken(send(jo, news, act))
    address = f"{news}/judge/assignments/{first}"
    assert f'name="withdraw" value="{act["id"]}"' in jo.get(address).text
    assert jo.post(address, client_id="form", withdraw=act["id"]).status_code == 303
    with database.reading() as session:
        assert session.scalars(select(Judgement.grade).where(Judgement.current)).all() == []


def test_an_act_for_another_document_than_the_judge_saw_is_refused(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    first, *_ = held(jo, news)
    shown = jo.get(f"{news}/judge/assignments/{first}.json").get_json()
    answer = send(jo, news, grade(first, 2, topic="1", docno="another"))
    assert answer.status_code == 409
    assert "because the database was restored" in answer.get_json()["refused"][0]["sentence"]
    assert client_ids(database) == []
    taken(send(jo, news, grade(first, 2, topic="1", docno=shown["docno"])))


def test_judging_to_the_end_and_counting_all_the_way(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    waiting = held(jo, news)
    counts = []
    for index, assignment in enumerate(list(waiting)):
        waiting.remove(assignment)
        answer = taken(send(jo, news, grade(assignment, index % 3), holds=waiting))
        counts.append((answer["counts"]["judged"], answer["counts"]["total"], answer["documents"]))
    assert counts == [(1, 4, []), (2, 4, []), (3, 4, []), (4, 4, [])]
    # Another word on the same document is no further document.
    changed = taken(send(jo, news, grade(assignment, 0, id="changed")))
    assert changed["counts"] == {"judged": 4, "total": 4, "put_off": 0}
    assert len(client_ids(database)) == 5


def test_documents_come_when_few_are_left_and_make_eight(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        docnos = [f"d{number}" for number in range(20)]
        document_file(session, docnos)
        run(session, "more", {"1": docnos})
        pool(session, depth=20)
    jo = visit("jo")
    waiting = held(jo, news)
    assert len(waiting) == 8
    came = []
    for _ in range(8):
        assignment = waiting.pop(0)
        documents = taken(send(jo, news, grade(assignment), holds=waiting))["documents"]
        came.append(len(documents))
        waiting += [one["assignment"] for one in documents]
    assert came == [0, 2] * 4
    assert len(set(waiting)) == 8
    assert taken(send(jo, news, holds=waiting[:2], draw=False))["documents"] == []


def test_what_is_put_off_is_counted_and_comes_back_last(visit: Visit, news: str) -> None:
    jo = visit("jo")
    first, second, third, fourth = held(jo, news)
    later = {"id": "l", "sequence": 1, "assignment": first, "kind": "later"}
    answer = taken(send(jo, news, later, holds=[second, third, fourth], draw=False))
    assert (answer["acknowledged"], answer["counts"]) == (["l"], {"judged": 0, "total": 4, "put_off": 1})
    answer = taken(send(jo, news, *map(grade, (second, third, fourth))))
    assert [one["assignment"] for one in answer["documents"]] == [first]
    assert answer["counts"] == {"judged": 3, "total": 4, "put_off": 0}


def test_the_plain_form_puts_off_as_well(visit: Visit, news: str) -> None:
    jo = visit("jo")
    first, second, *_ = held(jo, news)
    answer = jo.post(f"{news}/judge/assignments/{first}", later="1", client_id="x", note="")
    assert (answer.status_code, answer.location) == (303, f"{news}{TOPIC}")
    found = batch(jo, news)
    assert (found["documents"][0]["assignment"], found["counts"]["put_off"]) == (second, 1)


def test_each_act_is_refused_by_itself_with_its_status_and_sentence(visit: Visit, news: str) -> None:
    jo = visit("jo")
    first, second, third, _ = held(jo, news)
    answer = send(
        jo,
        news,
        grade(first, 9, id="outside"),
        grade(4711, id="forged"),
        grade(second, id="good"),
        {"id": "none", "assignment": third, "kind": "maybe"},
        {"id": "reason", "assignment": third, "kind": "cannot", "cannot_judge": "bored"},
        grade(third, id="note", note=7),
        grade(third, id="evidence", evidence=[{"start": 5}]),
        grade(third, id="whole", sequence=1.5),
        {"assignment": third},
        "nothing",
    )
    refused = taken(answer)["refused"]
    assert answer.get_json()["acknowledged"] == ["good"]
    assert {one["id"]: one["status"] for one in refused} == {
        "outside": 422,
        "forged": 404,
        **dict.fromkeys(("none", "reason", "note", "evidence", "whole", ""), 422),
    }
    sentences = {one["id"]: one["sentence"] for one in refused}
    assert sentences["outside"] == "9 is not a grade of this collection's scale."
    assert sentences["forged"] == "You have no such assignment."


def test_the_status_is_that_of_the_first_refusal_when_nothing_was_stored(visit: Visit, news: str) -> None:
    jo = visit("jo")
    first, *_ = held(jo, news)
    assert send(jo, news, grade(4711), grade(first, 9)).status_code == 404
    assert send(jo, news, grade(first, 9), grade(4711)).status_code == 422
    assert send(jo, news, grade(4711), grade(first)).status_code == 200


@pytest.mark.parametrize("body", [None, [], "acts", {"acts": 1}, {"tab": 3}, {"holds": "x"}, {"holds": ["x"]}])
def test_what_is_no_list_of_acts_is_refused(visit: Visit, news: str, body: object) -> None:
    answer = visit("jo").client.post(f"{news}{TOPIC}/acts", json=body)
    assert answer.status_code == 422
    assert answer.get_json()["status"] == 422
    assert visit("jo").client.post(f"{news}{TOPIC}/acts", data="no JSON").status_code == 422


@pytest.mark.parametrize("seconds", ["soon", -3, 1e300, 10**400, None, True])
def test_seconds_that_are_nonsense_refuse_no_judgement(
    visit: Visit, news: str, database: Database, seconds: object
) -> None:
    jo = visit("jo")
    first, *_ = held(jo, news)
    assert taken(send(jo, news, grade(first, seconds=seconds, ago=seconds)))["refused"] == []
    with database.reading() as session:
        assert session.scalars(select(Judgement.seconds)).one() in {None, 0.0, 3600.0}


def test_who_is_signed_in_and_with_what_token(visit: Visit, news: str) -> None:
    found = visit("jo").get(f"{news}/judge/session").get_json()
    assert found.pop("csrf")
    assert found == {"person": 1, "name": "jo"}


def test_a_guest_is_told_so_in_json(visit: Visit, news: str) -> None:
    guest = visit(None)
    for answer in (
        guest.get(f"{news}/judge/session"),
        send(guest, news),
        guest.get(f"{news}/judge/assignments/1.json"),
    ):
        assert answer.status_code == 401
        assert answer.get_json() == {"status": 401, "sentence": "You are signed out. Sign in again to go on."}


def test_a_session_from_before_a_change_of_password_has_ended(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    with database.transaction() as session:
        session.execute(update(User).where(User.name == "jo").values(sign_in_generation=1))
    assert send(jo, news).status_code == 401


def test_a_post_needs_its_token_and_who_signed_out_is_told_that_instead(app: Flask, visit: Visit, news: str) -> None:
    jo = visit("jo")
    found = batch(jo, news)
    app.config["WTF_CSRF_ENABLED"] = True
    answer = send(jo, news)
    assert (answer.status_code, answer.get_json()["status"]) == (400, 400)
    assert send(visit(None), news).status_code == 401
    headers = {"X-CSRFToken": jo.get(f"{news}/judge/session").get_json()["csrf"]}
    body = {"tab": "t", "holds": [], "acts": [grade(found["documents"][0]["assignment"])]}
    assert jo.client.post(found["urls"]["acts"], json=body, headers=headers).status_code == 200


def test_a_judge_who_was_removed_is_told_so_and_has_what_was_sent(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    first, second, *_ = held(jo, news)
    send(jo, news, grade(first))
    with database.transaction() as session:
        members.remove_member(session, SLUG, "jo", Role.JUDGE, at=NOW)
    answer = send(jo, news, grade(second))
    assert (answer.status_code, answer.get_json()["sentence"]) == (
        403,
        "You are not a judge of this collection any more; what you judged is kept.",
    )
    assert client_ids(database) == [f"a{first}-1"]
    # Who never had anything to do with it learns nothing.
    assert send(visit("ada"), news).status_code == 403
    with database.transaction() as session:
        members.remove_member(session, SLUG, "kim", Role.JUDGE, at=NOW)
    assert send(visit("kim"), news).status_code == 404


def test_a_closed_collection_refuses_acts_and_says_that_nothing_more_comes(
    visit: Visit, news: str, database: Database
) -> None:
    jo = visit("jo")
    first, *_ = held(jo, news)
    with database.transaction() as session:
        close_collection(session, SLUG)
    answer = send(jo, news, grade(first))
    found = answer.get_json()
    sentence = "Judging has ended: the organiser has closed this collection."
    assert (answer.status_code, found["acknowledged"], found["stopped"]) == (409, [], sentence)
    assert found["refused"] == [{"id": f"a{first}-1", "status": 409, "sentence": sentence}]


def test_a_dropped_topic_takes_what_was_said_and_gives_nothing_more(
    visit: Visit, news: str, database: Database
) -> None:
    jo = visit("jo")
    first, *_ = held(jo, news)
    with database.transaction() as session:
        drop_topics(session, SLUG, ["1"], reason="too easy")
    found = taken(send(jo, news, grade(first)))
    assert (found["acknowledged"], found["documents"]) == ([f"a{first}-1"], [])
    assert found["stopped"] == "The organiser has dropped this topic; what you judged is kept."
    assert found["counts"] == {"judged": 1, "total": 1, "put_off": 0}


def test_guidelines_that_change_are_read_before_more_comes(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    first, *rest = held(jo, news)
    with database.transaction() as session:
        collection.set_guidelines(session, SLUG, "Be strict.", made_by_id=None, made_at=NOW)
    found = taken(send(jo, news, grade(first), holds=rest))
    assert (found["acknowledged"], found["guidelines"]) == ([f"a{first}-1"], 1)
    assert found["stopped"] == "Please read the guidelines and accept them before you go on."
    page = jo.get(f"{news}{TOPIC}")
    assert (page.status_code, page.location) == (303, f"{news}/guidelines")


def test_a_topic_that_is_not_there_is_not_found_but_what_was_said_is_acknowledged(
    visit: Visit, news: str, database: Database
) -> None:
    jo = visit("jo")
    first, *_ = held(jo, news)
    address = f"{news}/judge/topics/77/acts"
    found = taken(jo.client.post(address, json={"tab": "t", "holds": [], "acts": [grade(first)]}))
    assert (found["acknowledged"], client_ids(database)) == ([f"a{first}-1"], [f"a{first}-1"])
    assert found["stopped"] == "There is no topic “77” in this collection."
    assert jo.client.post(address, json={"tab": "t", "holds": [], "acts": []}).status_code == 404


def test_nothing_is_stored_while_the_database_is_busy(
    app: Flask, visit: Visit, news: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    jo = visit("jo")
    first, *_ = held(jo, news)

    def busy(_work: object) -> object:
        raise BusyError("The database is busy with a large import. Nothing was stored: try again.")

    monkeypatch.setattr(app.extensions[DATABASE], "attempt", busy)
    answer = send(jo, news, grade(first))
    assert (answer.status_code, answer.get_json()["status"]) == (503, 503)


def test_bytes_that_no_browser_of_ours_sends_are_refused_and_the_rest_is_stored(visit: Visit, news: str) -> None:
    jo = visit("jo")
    first, second, *_ = held(jo, news)
    for name in ("\ud800", "a\0", "é", ""):
        sent = {"tab": "t", "acts": [{**grade(first), "id": name}, {**grade(second), "id": "good"}]}
        address = f"{news}{TOPIC}/acts"
        found = taken(jo.client.post(address, data=json.dumps(sent), content_type="application/json"))
        assert found["acknowledged"] == ["good"]
        assert [one["status"] for one in found["refused"]] == [422]
    deep = jo.client.post(f"{news}{TOPIC}/acts", data="[" * 200_000, content_type="application/json")
    assert deep.status_code == 422
    large = jo.client.post(f"{news}{TOPIC}/acts", data=b" " * (17 << 20), content_type="application/json")
    assert large.status_code == 413


@pytest.mark.parametrize("part", ["0", "2", "9" * 12, "x"])
def test_a_part_or_assignment_that_is_not_there_is_not_found(visit: Visit, news: str, part: str) -> None:
    jo = visit("jo")
    first, *_ = held(jo, news)
    assert jo.get(f"{news}/judge/assignments/{first}/parts/{part}").status_code == 404
    assert jo.get(f"{news}/judge/assignments/{part}4711.json").status_code == 404
    assert visit("kim").get(f"{news}/judge/assignments/{first}.json").status_code == 404


def test_a_long_document_comes_in_parts(visit: Visit, news: str, database: Database) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(15_000))
    assert len(text) > 4_500_000
    set_text(database, text)
    jo = visit("jo")
    found = batch(jo, news)["documents"][0]
    assert 60 < found["parts"] < 90
    address = f"{news}/judge/assignments/{found['assignment']}/parts/"
    parts = [jo.get(f"{address}{number}").get_json()["html"] for number in range(1, found["parts"] + 1)]
    assert parts[0] == found["html"]
    assert "".join(part.removeprefix('<div class="plain">').removesuffix("</div>") for part in parts) == text
    assert max(map(len, parts)) < 100_000


def set_text(database: Database, body: str | None) -> None:
    """Give every document this text."""
    with database.transaction() as session:
        session.execute(update(Document).values(body=body, text_hash=str(len(body or ""))))


def test_a_part_comes_in_another_rendering_and_words_are_counted_in_all_parts(
    visit: Visit, news: str, database: Database
) -> None:
    set_text(database, "<p>One dog.</p>" + "<p>word</p>" * 12_000 + "<p>Two <b>dogs</b>, one  DOG</p>")
    jo = visit("jo")
    found = batch(jo, news)["documents"][0]
    assert found["renderings"] == ["page", "text"]
    address = f"{news}/judge/assignments/{found['assignment']}/parts/1"
    as_text = jo.get(f"{address}?as=text").get_json()
    assert as_text["html"].startswith('<div class="plain">&lt;p&gt;One dog.')
    counts = jo.get(f"{address}?find=one+dog").get_json()["found"]
    assert (len(counts), sum(counts)) == (found["parts"], 2)
    assert jo.get(f"{address}?as=nonsense").get_json()["html"] == found["html"]


def test_a_document_without_text_has_none(visit: Visit, news: str, database: Database) -> None:
    set_text(database, None)
    jo = visit("jo")
    found = batch(jo, news)["documents"][0]
    assert (found["html"], found["parts"]) == ("", 1)
    assert jo.get(f"{news}/judge/assignments/{found['assignment']}/parts/1").status_code == 404


def test_hostile_html_comes_harmless(visit: Visit, news: str, database: Database) -> None:
    set_text(database, HOSTILE)
    page = visit("jo").get(f"{news}{TOPIC}")
    html = batch_of(page)["documents"][0]["html"]
    assert html == '<div class="rich"><p>before</p><p>after<span class="image"></span></p></div>'
    for gone in ("alert(", "spy.example", "evil.example", "display:none"):
        assert gone not in page.text


def test_a_title_cannot_end_the_script_that_it_stands_in(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(Document).values(title="</script><script>alert(1)</script>", url="javascript:alert(2)"))
    page = visit("jo").get(f"{news}{TOPIC}")
    assert "<script>alert(1)" not in page.text
    found = batch_of(page)["documents"][0]
    assert (found["title"], found["url"]) == ("</script><script>alert(1)</script>", None)


def test_answers_are_compressed_for_who_takes_that(visit: Visit, news: str, database: Database) -> None:
    set_text(database, "한국어 문서의 본문입니다. " * 100)
    jo = visit("jo")
    for path in (f"{news}{TOPIC}", f"{news}/judge"):
        for accepted, coding, decompressed in (
            ("gzip", "gzip", gzip.decompress),
            ("gzip, br", "br", brotli.decompress),
        ):
            small = jo.get(path, headers={"Accept-Encoding": accepted})
            assert small.headers["Content-Encoding"] == coding
            assert int(small.headers["Content-Length"]) == len(small.data)
            assert "<html" in decompressed(small.data).decode()
        plain = jo.get(path, headers={"Accept-Encoding": "identity"})
        assert "Content-Encoding" not in plain.headers
        assert "Accept-Encoding" in plain.headers["Vary"]
    # What an address says after its question mark may stand in the page, beside a token whose letters could be guessed.
    searched = jo.get(f"{news}{TOPIC}?back={news}/search", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in searched.headers
    answer = jo.client.post(
        f"{news}{TOPIC}/acts", json={"tab": "t", "holds": [], "acts": []}, headers={"Accept-Encoding": "gzip"}
    )
    assert "한국어" in gzip.decompress(answer.data).decode()


def test_static_texts_are_compressed_and_not_sent_again(visit: Visit, news: str) -> None:
    address = re.search(r'href="(/static/site/style.css[^"]*)"', visit("jo").get(f"{news}{TOPIC}").text)
    assert address is not None
    guest = visit(None)
    small = guest.get(address[1], headers={"Accept-Encoding": "gzip"})
    whole = guest.get(address[1], buffered=True)
    assert gzip.decompress(small.data) == whole.data
    assert len(small.data) < len(whole.data) / 2
    assert "immutable" in small.headers["Cache-Control"]
    assert small.headers["ETag"] != whole.headers["ETag"]
    smallest = guest.get(address[1], headers={"Accept-Encoding": "gzip, br"})
    assert brotli.decompress(smallest.data) == whole.data
    tags = [(small.headers["ETag"], "gzip"), (smallest.headers["ETag"], "br"), (whole.headers["ETag"], "identity")]
    for tag, taken_in in tags:
        again = guest.get(address[1], headers={"Accept-Encoding": taken_in, "If-None-Match": tag}, buffered=True)
        assert (again.status_code, again.data) == (304, b"")
    zero = guest.get("/static/site/mark.svg", headers={"Accept-Encoding": "gzip;q=0"}, buffered=True)
    assert "Content-Encoding" not in zero.headers


def test_no_byte_tells_of_runs_purposes_or_others(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "zebra-run", {"1": ["a", "quagga"], "2": ["a"]}, team="giraffe-team")
        labels(session, "walrus", "1 0 a 2\n1 0 b 0\n", name="heron.qrels")
        session.execute(update(Collection).values(overlap_share=50, reshow_share=50, common_items=1))
        session.execute(update(PoolItem).where(PoolItem.id == 1).values(for_everyone=True, known_grade=2))
        session.execute(update(PoolItem).where(PoolItem.id == 2).values(is_overlap=True, judgements_wanted=3))
    kim, jo = visit("kim"), visit("jo")
    answers = [kim.get(f"{news}{TOPIC}")]
    for visitor in (kim, jo):
        waiting = held(visitor, news)
        answers += [visitor.get(f"{news}/judge/assignments/{waiting[0]}.json")]
        answers += [visitor.get(f"{news}/judge/assignments/{waiting[0]}/parts/1"), visitor.get(f"{news}/judge/session")]
        answers += [send(visitor, news, grade(waiting[0], id=f"x{waiting[0]}", note="badger")), send(visitor, news)]
        answers += [visitor.get(f"{news}/judge/assignments/{waiting[0]}"), visitor.get(f"{news}{TOPIC}")]
    with database.reading() as session:
        assert set(session.scalars(select(Assignment.purpose))) >= {"first", "test"}
    secrets = ("zebra", "giraffe", "heron", "quagga", "alpha", "beta", "walrus")
    fields = ("purpose", "overlap", "common", "re-shown", "known_grade", "lot", "priority", "taken", "wanted", "rank")
    for answer in answers:
        assert answer.status_code == 200
        # Words of the page itself are no secrets, and neither is what is random.
        told = answer.text if answer.is_json else json.dumps(batch_of(answer))
        told = re.sub(r'"csrf": ?"[^"]*"', "", told)
        assert [one for one in (*secrets, *(f'"{name}"' for name in fields)) if one in told] == [], answer.request.path
    assert set(answers[0].headers.keys()) <= {
        *("Content-Type", "Content-Length", "Vary", "Cache-Control", "Content-Security-Policy", "Set-Cookie"),
        *("X-Content-Type-Options", "Referrer-Policy", "Permissions-Policy"),
        *("Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"),
    }
    shapes = {
        tuple(sorted(one)) for answer in answers if answer.is_json for one in answer.get_json().get("documents", [])
    }
    assert shapes <= {
        ("assignment", "decision", "docno", "html", "language", "parts", "previous", "renderings", "title", "url"),
    }


def test_a_document_that_is_shown_again_looks_like_any_other(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    waiting = held(jo, news)
    first = batch(jo, news)["documents"][0]
    taken(send(jo, news, *[grade(one) for one in waiting]))
    with database.transaction() as session:
        session.execute(update(Collection).values(reshow_share=100))
        session.execute(update(Judgement).values(judged_at=NOW))
    again = [one for one in batch(jo, news)["documents"] if one["docno"] == first["docno"]]
    assert [{**one, "assignment": 0} for one in again] == [{**first, "assignment": 0, "previous": again[0]["previous"]}]
    assert again[0]["assignment"] not in waiting


def test_members_are_needed_to_know_of_a_collection(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        member(session, "sam", Role.ORGANISER)
    assert send(visit("sam"), news).status_code == 403
    assert visit("jo").client.post("/collections/nows/judge/topics/1/acts", json={"acts": []}).status_code == 404
