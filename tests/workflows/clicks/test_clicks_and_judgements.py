"""Clicks beside judgements, from what is stored: variants, pairs, the queries that differ, and the pool."""

import json

import pytest
from build import NOW, SLUG, document_file, labels, news, pool, pooled_news, run, topic_file
from clicking import interleaving_text, log_text, stored_log, studied
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.clicks.evaluation.interleaving.interleaving_scores import from_json, to_json
from annotator.clicks.evaluation.judgements.log_evidence import evidence_of_interleaving
from annotator.clicks.evaluation.judgements.together import Says, Verdict
from annotator.clicks.evaluation.judgements.together_report import Standing
from annotator.clicks.workflows.click_logs import LogKind, link_variants
from annotator.clicks.workflows.clicks_and_judgements import ClickedPool, TogetherRequest, pool_clicked, together_report
from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Collection, CollectionState, Contribution, Pool, Showing, Topic, TopicState
from annotator.workflows.runs.runs import withdraw_run

P1 = TogetherRequest("P@1")


@pytest.fixture
def judged(session: Session) -> Session:
    """Runs 1 → a b c and d b a, 2 → a and e; judges say that of topic 1 beta's first document alone is relevant."""
    pooled_news(session)
    labels(session, "nist", "1 0 a 0\n1 0 d 2\n2 0 a 1\n2 0 e 1\n")
    return session


def five_topics(session: Session, better: str) -> None:
    """Five topics on which the run `better` is ahead by P@1, and by P@2 on all but the last."""
    news(session)
    topic_file(session, "".join(f"{number}\ttopic {number}\n" for number in range(1, 6)))
    worse = "beta" if better == "alpha" else "alpha"
    numbers = [str(number) for number in range(1, 6)]
    run(session, better, {number: ["good", "fine" if number != "5" else "bad"] for number in numbers})
    run(session, worse, {number: ["bad", "worse"] for number in numbers})
    pool(session)
    lines = [f"{number} 0 {docno} {grade}\n" for number in numbers for docno, grade in (("good", 1), ("bad", 0))]
    labels(session, "nist", "".join(lines) + "1 0 fine 1\n2 0 fine 1\n")


def test_variants_stand_with_the_means_of_their_runs(judged: Session) -> None:
    stored_log(judged, log_text())
    stored_log(judged, interleaving_text(), "Lists", LogKind.INTERLEAVING)
    report = together_report(judged, SLUG, P1)
    # P@1: alpha 0 and 1, beta 1 and 1; of 44 lists alpha won 30 and tied 4: 32 / 44 - 1 / 2.
    told = [(one.log, one.tag, one.judged, one.views, one.clicked_first, one.delta) for one in report.variants]
    assert told == [
        ("Lists", "alpha", 0.5, 44, None, pytest.approx(32 / 44 - 0.5)),
        ("Lists", "beta", 1.0, 44, None, pytest.approx(0.5 - 32 / 44)),
        ("March", "alpha", 0.5, 40, 0.5, None),
        ("March", "beta", 1.0, 40, 0.25, None),
    ]
    assert (report.measure, report.state.grades, report.logs, report.asked) == ("P@1", 4, ("Lists", "March"), "Lists")


def test_the_documents_of_an_interleaving_have_their_clicks(judged: Session) -> None:
    # Users of lists also click what neither run has at its top.
    text = interleaving_text().replace(",1,1,a,", ",1,1,elsewhere,")
    stored_log(judged, text, "Lists", LogKind.INTERLEAVING)
    [query] = together_report(judged, SLUG, P1).queries
    clicks = {one.docno: (one.clicks, one.ranks) for one in query.documents}
    # 30 lists were won by alpha, whose picks were clicked, 10 by beta, and on 4 both picks were.
    assert clicks["elsewhere"] == (34, (None, None))
    assert clicks["d"][0] == 14


def test_results_that_earlier_versions_stored_have_no_clicks_of_documents(judged: Session) -> None:
    found = studied(judged, interleaving_text(), "Lists", LogKind.INTERLEAVING).findings
    assert found.interleaving is not None
    stored = to_json(found.interleaving)
    assert from_json(json.loads(json.dumps(stored))) == found.interleaving
    assert found.interleaving.queries[0].clicked == (("a", 34), ("d", 14))
    for query in stored["queries"]:
        del query["clicked"]
    earlier = from_json(stored)
    assert [one.clicked for one in earlier.queries] == [()]
    assert evidence_of_interleaving(earlier).queries[0].clicks == {}


@pytest.mark.parametrize(("better", "expected"), [("alpha", Verdict.AGREE), ("beta", Verdict.OPPOSE)])
def test_users_and_judges_agree_or_oppose_each_other(session: Session, better: str, expected: Verdict) -> None:
    five_topics(session, better)
    # 200 against 100 of 400 clicked the top result.
    stored_log(session, log_text(users=400))
    # P@2: the better run has 1, 1, .5, .5, .5 where the other has 0, 0, 0, 0, 0 with “bad” in its list.
    [pair] = together_report(session, SLUG, TogetherRequest("P@2")).pairs
    assert (pair.first, pair.second, pair.clicks[0].difference.says) == ("alpha", "beta", Says.FIRST)
    assert abs(pair.judged.value or 0) == pytest.approx(3.5 / 5)
    assert pair.verdict is expected
    assert (pair.users_prefer, pair.judges_prefer) == ("alpha", better)


def test_a_pair_is_one_whichever_variant_a_log_has_first(judged: Session) -> None:
    stored_log(judged, log_text())
    other = stored_log(judged, log_text(variants={"alpha": "new", "beta": "old"}), "April")
    assert list(other.runs) == ["new", "old"]
    link_variants(judged, SLUG, "April", {"new": "beta", "old": "alpha"})
    [pair] = together_report(judged, SLUG, P1).pairs
    assert [(one.log, one.difference.value) for one in pair.clicks] == [("April", 0.25), ("March", -0.25)]


def test_a_query_stands_with_its_documents(judged: Session) -> None:
    stored_log(judged, log_text(query="First topic"))
    [query] = together_report(judged, SLUG, P1).queries
    assert (query.beside.topic, query.title, query.beside.views) == ("1", "first topic", (40, 40))
    # Users prefer alpha by .25, judges beta by 1.
    assert (query.beside.shares, query.beside.judged, query.beside.apart) == ((0.5, 0.25), (0.0, 1.0), 1.25)
    assert [(one.docno, one.clicks, one.ranks, one.standing, one.grade) for one in query.documents] == [
        ("a", 50, (1, 3), Standing.JUDGED, 0),
        ("x", 20, (None, None), Standing.UNKNOWN, None),
        ("d", 10, (None, 1), Standing.JUDGED, 2),
        ("b", 0, (2, 2), Standing.POOLED, None),
        ("c", 0, (3, None), Standing.POOLED, None),
    ]


def test_what_is_not_judged_not_linked_or_withdrawn_is_left_out(judged: Session) -> None:
    stored_log(judged, log_text(query="no topic"))
    assert together_report(judged, SLUG, P1).queries == ()
    judged.execute(update(Topic).where(Topic.number == "1").values(state=TopicState.DROPPED))
    stored_log(judged, log_text(), "April")
    assert together_report(judged, SLUG, P1).queries == ()
    withdraw_run(judged, SLUG, "beta", at=NOW)
    report = together_report(judged, SLUG, P1)
    assert (report.pairs, report.asked, report.queries) == ((), None, ())
    assert [one.tag for one in report.variants] == ["alpha", None, "alpha", None]


def test_without_judgements_the_clicks_stand_alone(session: Session) -> None:
    pooled_news(session)
    stored_log(session, log_text())
    report = together_report(session, SLUG)
    assert [(one.judged, one.clicked_first) for one in report.variants] == [(None, 0.5), (None, 0.25)]
    assert [(pair.judged.value, pair.verdict) for pair in report.pairs] == [(None, Verdict.UNKNOWN)]
    assert report.queries == ()


def test_what_cannot_be_told_is_refused(judged: Session) -> None:
    with pytest.raises(ConflictError, match="There is no click log in this collection yet"):
        together_report(judged, SLUG)
    stored_log(judged, log_text())
    with pytest.raises(NotFoundError, match="There is no click log “April”"):
        together_report(judged, SLUG, TogetherRequest(log="April"))
    for measure in ("nonsense", "NumRet"):
        with pytest.raises(InvalidValueError):
            together_report(judged, SLUG, TogetherRequest(measure))


def test_clicked_documents_become_a_version_of_the_pool_once(judged: Session) -> None:
    document_file(judged, ["x"])
    stored_log(judged, log_text())
    clicked = together_report(judged, SLUG, P1).to_pool
    assert clicked == (("1", "x"),)
    wanted = [*clicked, ("1", "a"), ("1", "nobody knows it")]
    done = pool_clicked(judged, SLUG, log="March", clicked=wanted, built_by_id=None, built_at=NOW)
    assert done == ClickedPool(2, added=1, already_pooled=1, unknown=1)
    version = judged.scalars(select(Pool).order_by(Pool.version.desc())).first()
    assert version is not None
    assert (version.strategy, version.parameters) == ("clicks", {"file": "March", "topics": 1})
    assert version.showing == Showing.RANDOM
    contributions = judged.scalars(select(Contribution.imported_from).where(Contribution.pool_id == version.id))
    assert contributions.all() == ["March"]
    assert together_report(judged, SLUG, P1).to_pool == ()
    again = pool_clicked(judged, SLUG, log="March", clicked=clicked, built_by_id=None, built_at=NOW)
    assert again == ClickedPool(2, added=0, already_pooled=1, unknown=0)


def test_a_pool_takes_clicks_of_known_topics_and_logs_while_it_is_open(judged: Session) -> None:
    stored_log(judged, log_text())
    with pytest.raises(NotFoundError, match="There is no topic “9”"):
        pool_clicked(judged, SLUG, log="March", clicked=[("9", "a")], built_by_id=None, built_at=NOW)
    with pytest.raises(NotFoundError, match="There is no click log “April”"):
        pool_clicked(judged, SLUG, log="April", clicked=[("1", "a")], built_by_id=None, built_at=NOW)
    judged.execute(update(Collection).values(state=CollectionState.CLOSED))
    with pytest.raises(ConflictError, match="closed"):
        pool_clicked(judged, SLUG, log="March", clicked=[("1", "a")], built_by_id=None, built_at=NOW)
