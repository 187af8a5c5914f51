"""Requests to search engines and what they answer; the shapes of answers are those of the engines' documents."""

import json
from dataclasses import replace

import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.runs.search_engines import (
    Dialect,
    EngineError,
    EngineHit,
    HitPaths,
    SearchEngine,
    document_of,
    hits_in,
    parse_answer,
    reason_in,
    run_of,
)

ADDRESS = "https://search.example.org/news/_search"
OPENSEARCH = SearchEngine(ADDRESS, '{"query": {"match": {"body": "{query}"}}}', depth=3)
SOLR = SearchEngine("https://search.example.org/solr/news/select", "q={query}&defType=edismax", Dialect.SOLR, depth=3)
OTHER = SearchEngine("https://search.example.org/find", "q={query}&n={depth}", Dialect.JSON, depth=3)


def test_a_query_is_escaped_in_a_body_of_json() -> None:
    request = OPENSEARCH.request('say "no" \\ {depth}')
    assert (request.method, request.address) == ("POST", ADDRESS)
    assert json.loads(request.body) == {
        "query": {"match": {"body": 'say "no" \\ {depth}'}},
        "size": 3,
        "_source": False,
    }


def test_texts_and_an_own_size_are_asked_for() -> None:
    engine = replace(OPENSEARCH, query='{"size": {depth}, "from": 0, "query": "{query}"}', with_texts=True)
    assert json.loads(engine.request("cats").body) == {"size": 3, "from": 0, "query": "cats"}
    by_field = replace(OPENSEARCH, paths=HitPaths(docno="_source.id"))
    assert "_source" not in json.loads(by_field.request("cats").body)


@pytest.mark.parametrize("path", ["_source.rank", "$._source.rank", '["_source"].rank'])
def test_the_source_is_asked_for_where_a_score_is_in_it(path: str) -> None:
    assert "_source" not in json.loads(replace(OPENSEARCH, paths=HitPaths(score=path)).request("cats").body)
    other = replace(OPENSEARCH, paths=HitPaths(score="fields.rank[0]")).request("cats").body
    assert json.loads(other)["_source"] is False


def test_a_query_is_encoded_in_parameters() -> None:
    assert SOLR.request("cats & dogs").address == (
        f"{SOLR.endpoint}?q=cats%20%26%20dogs&defType=edismax&rows=3&wt=json&fl=id%2Cscore"
    )
    assert "fl=%2A%2Cscore" in replace(SOLR, with_texts=True).request("a").address
    assert "fl=%2A%2Cscore" in replace(SOLR, paths=HitPaths(score="rank")).request("a").address
    assert "fl=docno" in replace(SOLR, query="q={query}&fl=docno", paths=HitPaths(docno="docno")).request("a").address
    assert OTHER.request("a/b?").address == f"{OTHER.endpoint}?q=a%2Fb%3F&n=3"
    by_path = SearchEngine("https://search.example.org/{query}?key=1", "n={depth}", Dialect.JSON, depth=3)
    assert by_path.request("a/b").address == "https://search.example.org/a%2Fb?key=1&n=3"
    assert replace(by_path, query="").request("a").address == "https://search.example.org/a?key=1"
    assert (by_path.address, by_path.host) == ("https://search.example.org/{query}", "search.example.org")
    lucene = replace(OPENSEARCH, query="q=body:{query}")
    assert lucene.request("a b").address == f"{ADDRESS}?q=body%3Aa%20b&size=3"


@pytest.mark.parametrize(
    ("engine", "sentence"),
    [
        (replace(OPENSEARCH, depth=0), "The depth is a whole number from 1 to 10000."),
        (replace(OPENSEARCH, depth=10_001), "The depth is a whole number from 1 to 10000."),
        (replace(OPENSEARCH, query="q=cats"), "The template needs {query}"),
        (
            replace(OPENSEARCH, query='{"a": {query}}'),
            "begins with a brace, but is not JSON with {query} within quotes",
        ),
        (replace(OPENSEARCH, query='{"a": "{query}"'), "begins with a brace, but is not JSON"),
        (replace(OPENSEARCH, query="{query}"), "begins with a brace, but is not JSON"),
        (replace(SOLR, query="{!x}{query}"), "begins with a brace, but is not JSON"),
        (replace(SOLR, query="just {query}"), "neither a JSON object nor parameters"),
        (replace(OPENSEARCH, endpoint="https://a.org/news/_delete_by_query"), "ends with /_search"),
        (replace(OPENSEARCH, endpoint="https://{query}.org/_search"), "no braces before the path"),
        (replace(OPENSEARCH, paths=HitPaths(hits="a..b")), "is not a path into JSON"),
        (replace(OPENSEARCH, query="q={query}&a=" + "x" * 20_000), "has more than 20000 characters"),
        (replace(OPENSEARCH, query='{"q": "{query} \\ud800"}'), "has a character that is not text"),
        (replace(OTHER, query="q={query}&a=\udc80"), "has a character that is not text"),
        (replace(OTHER, endpoint="https://a.org/\udc80"), "has a character that is not text"),
        (replace(OPENSEARCH, endpoint="https://a.org/news/_delete_by_query#/_search"), "The address has a #"),
        (replace(OTHER, endpoint="https://a.org/find#{query}", query=""), "The address has a #"),
    ],
)
def test_what_cannot_be_asked_is_refused(engine: SearchEngine, sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        engine.check()
    assert sentence in str(refused.value)


def test_an_engine_that_can_be_asked_gives_its_address() -> None:
    assert OPENSEARCH.check() == ADDRESS
    assert SOLR.check().startswith(SOLR.endpoint)


def test_paths_are_parsed() -> None:
    assert HitPaths.parse(["docno = _source.id", "body=_source.text"]) == HitPaths(
        docno="_source.id", body="_source.text"
    )
    for wrong in ("docno", "docno=", "who=a"):
        with pytest.raises(InvalidValueError, match="OURS=PATH"):
            HitPaths.parse([wrong])
    with pytest.raises(InvalidValueError, match="not a path into JSON"):
        HitPaths.parse(["docno=a..b"])


def answered(*hits: object) -> dict[str, object]:
    return {"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": list(hits)}}


def test_hits_of_each_dialect_are_read() -> None:
    found = answered(
        {"_id": "a", "_score": 2, "_source": {"title": " A\nb", "body": "Text."}}, {"_id": 7, "_score": 1.5}
    )
    assert hits_in(found, OPENSEARCH) == [EngineHit("a", 2.0), EngineHit("7", 1.5)]
    assert hits_in(found, replace(OPENSEARCH, depth=1)) == [EngineHit("a", 2.0)]
    assert hits_in(found, replace(OPENSEARCH, with_texts=True))[0] == EngineHit("a", 2.0, "A b", "Text.")
    solr = {"responseHeader": {}, "response": {"docs": [{"id": "a", "score": 1, "body": ["One.", "Two."], "t": ["T"]}]}}
    texts = replace(SOLR, with_texts=True, paths=HitPaths(title="t"))
    assert hits_in(solr, texts) == [EngineHit("a", 1.0, "T", "One.\nTwo.")]
    assert hits_in([{"docid": "a"}, {"docid": "b"}], OTHER) == [EngineHit("a", None), EngineHit("b", None)]
    assert hits_in({"results": []}, OTHER) == []
    odd = replace(OTHER, with_texts=True, paths=HitPaths("x[0].list", "n", "s", "t", "b[*].c"))
    answer = {"x": [{"list": [{"n": "a", "s": 3, "b": [{"c": "One\x00."}, {"c": "Two."}]}]}]}
    assert hits_in(answer, odd) == [EngineHit("a", 3.0, "", "One\N{REPLACEMENT CHARACTER}.\n\nTwo.")]
    assert hits_in(["a"], replace(OTHER, paths=HitPaths(docno="$"), with_texts=True)) == [EngineHit("a", None)]


@pytest.mark.parametrize(
    ("answer", "sentence", "may_pass"),
    [
        ({"hits": {}}, "The answer has no list of hits at hits.hits.", False),
        ([], "The answer has no list of hits at hits.hits.", False),
        ({"timed_out": True, "hits": {"hits": []}}, "The search ran out of time, and its hits are not complete.", True),
        ({"responseHeader": {"partialResults": True}}, "The search ran out of time", True),
        ({"_shards": {"failed": 2}, "hits": {"hits": []}}, "The hits are not complete: shards that failed: 2.", True),
        (answered({"_score": 1}), "Hit 1 has no docno at _id.", False),
        (answered("a"), "Hit 1 has no docno at _id.", False),
        (answered({"_id": "a b"}), "Hit 1 has the docno 'a b', which is too long or has blanks", False),
        (answered({"_id": "x" * 300}), "which is too long or has blanks", False),
        (answered({"_id": "a"}, {"_id": "b"}, {"_id": "a"}), "has the document a twice, as hits 1 and 3.", False),
        (
            answered({"_id": "a", "_score": 1}, {"_id": "b"}),
            "Hit 2 has no score at _score, but others have one.",
            False,
        ),
        (answered({"_id": "a", "_score": "1"}), "Hit 1 has the score '1', which is not a finite number.", False),
        (answered({"_id": "a", "_score": True}), "Hit 1 has the score True", False),
        (answered({"_id": "a", "_score": 10**400}), "which is not a finite number.", False),
        (answered({"_id": "a", "_score": float("nan")}), "Hit 1 has the score nan", False),
    ],
)
def test_what_is_wrong_with_an_answer_is_said(answer: object, sentence: str, *, may_pass: bool) -> None:
    with pytest.raises(EngineError) as wrong:
        hits_in(answer, OPENSEARCH)
    assert sentence in str(wrong.value)
    assert wrong.value.may_pass is may_pass


def test_a_score_that_is_nowhere_at_its_path_is_not_invented() -> None:
    named = replace(OTHER, paths=HitPaths(score="doc.points"))
    with pytest.raises(EngineError, match=r"^No hit has a score at doc\.points\.$"):
        hits_in([{"id": "a", "doc": {"score": 0.3}}, {"id": "b", "doc": {"score": 0.9}}], named)
    assert hits_in([], named) == []


def test_an_answer_that_lacks_hits_names_the_usual_keys() -> None:
    with pytest.raises(EngineError, match="no list of hits at hits, results"):
        hits_in({}, OTHER)
    with pytest.raises(EngineError, match="Hit 1 has no docno at docno, pid, id"):
        hits_in([{}], OTHER)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b" ", "The engine answered nothing."),
        (b"<html>", "The engine answered HTML or XML, not JSON."),
        (b"Hello", "The engine answered something that is not JSON."),
        (b"[" * 99_999, "The engine answered something that is not JSON."),
    ],
)
def test_what_is_not_json_is_said(content: bytes, sentence: str) -> None:
    with pytest.raises(EngineError) as wrong:
        parse_answer(content)
    assert str(wrong.value) == sentence
    assert parse_answer(b"[1]") == [1]


def test_the_reason_of_an_error_is_found() -> None:
    assert reason_in(b'{"error": {"type": "x", "reason": "no such\\n index"}, "status": 404}') == "no such index"
    assert reason_in(b'{"error": {"msg": "undefined field", "code": 400}}') == "undefined field"
    assert reason_in(b'{"error": "Too many"}') == "Too many"
    for other in (b"", b"[]", b'{"error": {}}', b'{"error": null}', b"{}"):
        assert reason_in(other) == ""


def test_a_reason_is_cut_without_its_secrets_and_can_be_stored() -> None:
    long = json.dumps({"error": "x" * 290 + " Basic c2VjcmV0OnNlY3JldA=="}).encode()
    found = reason_in(long, ["Basic c2VjcmV0OnNlY3JldA==", "c2VjcmV0OnNlY3JldA=="])
    assert found == "x" * 290 + " …"
    assert len(reason_in(long)) == 300
    assert reason_in(b'{"error": "two  words"}', ["two  words"]) == "…"
    assert reason_in(b'{"error": "a\\ud800b\\u0000c"}') == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"


def test_a_run_has_scores_or_follows_the_order_of_hits() -> None:
    scored, ordered = [EngineHit("a", 1e-07), EngineHit("b", -2.5)], [EngineHit("c", None), EngineHit("d", None)]
    assert run_of("bm25", {"1": scored, "2": [], "3": ordered}).decode().splitlines() == [
        "1 Q0 a 1 1e-07 bm25",
        "1 Q0 b 2 -2.5 bm25",
        "3 Q0 c 1 1.0 bm25",
        "3 Q0 d 2 0.0 bm25",
    ]


def test_a_document_is_made_of_a_hit() -> None:
    document = document_of(EngineHit("a", 1.0, "A", "Text."))
    assert (document.docno, document.title, document.body, document.url) == ("a", "A", "Text.", None)
