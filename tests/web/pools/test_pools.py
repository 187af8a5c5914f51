"""The pages of the pool: the form shows what a strategy takes, the plan what it would cost, the pool what it is."""

import re

import pytest
from adaptive import AdaptiveJudge, adaptive_news
from build import NOW, SLUG, labels, member, run
from build import news as empty_news
from sampled_news import DOCNOS, sampled_news
from visiting import Visit, words

from annotator.storage import Database, Role
from annotator.workflows.pools import pools
from annotator.workflows.runs.runs import withdraw_run


def fields(text: str) -> set[str]:
    """The fields of the form that describes a pool."""
    form = re.search(r'<form method="get".*?</form>', text, re.DOTALL)
    assert form is not None
    return set(re.findall(r'<(?:input|select)[^>]* name="([^"]+)"', form[0]))


EVERY = {"strategy", "priority", "per_team", "runs", "showing", "seed"}


@pytest.mark.parametrize("page", ["pool", "pool/plan"])
@pytest.mark.parametrize(
    ("strategy", "taken"),
    [
        ("depth", {"depth", "depth_of"}),
        ("rrf", {"amount", "amount_of", "depth", "ties"}),
        ("maxmean", {"amount", "amount_of", "depth", "ties", "start_depth", "update"}),
        ("cal", {"amount", "amount_of", "until", "depth", "start_depth", "candidates", "batch"}),
        ("stratified", {"strata"}),
        ("sample", {"amount", "machine", "depth", "certainty_depth", "bands", "allocation"}),
    ],
)
def test_only_what_a_strategy_takes_is_asked_for(
    visit: Visit, news: str, page: str, strategy: str, taken: set[str]
) -> None:
    answer = visit("ola").get(f"{news}/{page}?strategy={strategy}")
    assert answer.status_code == 200
    # Building asks for no hours.
    planned = {"hours", *(("half_width", "difference") if strategy == "sample" else ())}
    assert fields(answer.text) == EVERY | taken | (planned if page == "pool/plan" else set())


def test_a_sample_is_drawn_with_a_machine_by_the_form(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        sampled_news(session, labelled=DOCNOS[:20])
        member(session, "ola", Role.ORGANISER)
    ola = visit("ola")
    asked = {"strategy": "sample", "amount": "34", "certainty_depth": "2", "depth": "30", "allocation": "equal"}
    page = ola.get("/collections/news/pool?strategy=sample")
    assert '<option value="llm">llm</option>' in page.text
    assert 'value="1000"' in page.text
    built = ola.post("/collections/news/pool", machine="llm", showing="random", confirmed="y", **asked)
    assert built.status_code == 303
    told = words(ola.get("/collections/news/pool"))
    assert "The machine “llm” has no grade for 24 of the 64 documents that could be drawn." in told
    assert "sample for estimates documents in total 34; machine llm; depth 30; judged whole to depth 2" in told
    plan = ola.get("/collections/news/pool/plan?strategy=sample&amount=40&machine=llm&depth=30&half_width=0.1")
    assert "Documents for ±0.1" in words(plan)
    regions = re.findall(r'role="region"[^>]* aria-label="([^"]+)"', plan.text)
    assert len(regions) == len(set(regions)) > 3
    assert "0.60, assumed until thirty documents are judged." in words(plan)
    refused = ola.post("/collections/news/pool", machine="who", showing="random", confirmed="y", **asked)
    assert (refused.status_code, "There is no user “who”." in words(refused)) == (422, True)


def test_a_strategy_is_explained_by_its_sentence(visit: Visit, news: str) -> None:
    page = words(visit("ola").get(f"{news}/pool?strategy=rrf"))
    assert "First the documents that many runs rank high: reciprocal rank fusion. More about it" in page


def test_a_pool_is_built_by_another_strategy(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "gamma", {"1": ["f", "g"], "2": ["f"]})
    ola = visit("ola")
    answer = ola.post(
        f"{news}/pool", strategy="rrf", amount="5", amount_of="per_topic", showing="selection", confirmed="y"
    )
    assert answer.status_code == 303
    page = words(ola.get(f"{news}/pool"))
    # Of topic 1 all but c, which alone stands at a third rank.
    assert "Added to the pool: 3. Already in the pool: 5. Version 2 is now active." in page
    assert "2 reciprocal rank fusion documents of each topic 5; ties rrf Runs: 3" in page
    assert "as chosen 1 3" in page
    answer = ola.post(f"{news}/pool", strategy="rrf", amount="5", amount_of="per_topic", seed="9")
    assert "No new documents: version 2 stays active" in words(ola.get(answer.location))


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"strategy": "rrf"}, "The strategy rrf needs a budget"),
        ({"strategy": "rrrf", "amount": "4"}, "There is no strategy “rrrf”; the nearest names are: rrf"),
        ({"depth": "3", "depth_of": "alpha"}, "Write tags and depths such as bm25=20, dense=5."),
        ({"depth": "3", "depth_of": "delta=3"}, "A depth is given for “delta”, which is no run of this pool."),
        ({"strategy": "stratified", "strata": "2-3:1"}, "The stratum “2-3:1” must begin at rank 1"),
        ({"depth": "3", "showing": "backwards"}, "Not a valid choice."),
    ],
)
def test_what_cannot_be_built_is_refused_in_a_sentence(
    visit: Visit, news: str, sent: dict[str, str], sentence: str
) -> None:
    answer = visit("ola").post(f"{news}/pool", **sent)
    assert answer.status_code == 422
    assert sentence in words(answer)


def test_a_plan_shows_the_pool_its_cost_and_who_brings_what(visit: Visit, news: str) -> None:
    page = visit("ola").get(f"{news}/pool/plan?depth=2&hours=0.05&depth_of=alpha%3D3")
    said = words(page)
    # Alpha's three and two of beta's: a b c d; and a and e.
    assert "The pool at depth 2" in said
    figures = dict(re.findall(r'data-figure="(\w+)">([^<]*)<', page.text))
    # Six documents that want two judgements of thirty seconds are six minutes.
    assert figures == {"size": "6", "added": "0", "hours": "0.1"}
    assert "Judgements per document: 2." in said
    # Three minutes are enough for three documents.
    assert 'data-marked="2" data-reference="3.0"' in page.text


def test_a_plan_that_makes_no_sense_is_refused(visit: Visit, news: str) -> None:
    ola = visit("ola")
    for query, sentence in (
        ("depth=0", "The depth must be a whole number"),
        ("depth=ten", "Write a whole number."),
        ("hours=abc", "Write a number, such as 2.5."),
        ("depth=3&hours=-1", "The hours for judging must be 0 or more"),
        ("strategy=none&amount=3", "There is no strategy “none”"),
    ):
        answer = ola.get(f"{news}/pool/plan?{query}")
        assert answer.status_code == 422
        assert sentence in words(answer)
        assert "data-chart" not in answer.text


def test_a_plan_without_runs_says_what_is_missing(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        for tag in ("alpha", "beta"):
            withdraw_run(session, SLUG, tag, at=NOW)
    answer = visit("ola").get(f"{news}/pool/plan")
    assert answer.status_code == 200
    assert "There is no run to pool yet." in words(answer)


def test_the_pool_is_saved_as_lines_and_withdrawn_runs_are_marked(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    answer = ola.get(f"{news}/pool.txt")
    assert (answer.text, answer.mimetype) == ("1 a\n1 b\n1 c\n1 d\n2 a\n2 e\n", "text/plain")
    with database.transaction() as session:
        withdraw_run(session, SLUG, "beta", at=NOW)
    assert "beta withdrawn 4 2" in words(ola.get(f"{news}/pool"))


def test_an_adaptive_pool_tells_how_far_it_has_chosen_and_why(visit: Visit, database: Database) -> None:
    jo, _ = adaptive_news(database, "mtf", {"budget": 4, "start_depth": 1})
    with database.transaction() as session:
        member(session, "ola", Role.ORGANISER)
    AdaptiveJudge(database, jo).work(most=5)
    page = words(visit("ola").get(f"/collections/{SLUG}/pool"))
    assert "move-to-front, version 1: 4 of 4 choices made." in page
    assert "no other run has fewer." in page


def test_what_search_and_imports_pooled_is_among_the_versions(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 new 1\n", add_to_pool=True)
    assert "2 import of labels" in words(visit("ola").get(f"{news}/pool"))


def test_a_collection_without_anything_has_the_pages_too(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        empty_news(session)
        member(session, "ola", Role.ORGANISER)
    ola = visit("ola")
    for page in ("pool", "pool?strategy=none", "pool/plan", "pool.txt"):
        assert ola.get(f"/collections/{SLUG}/{page}").status_code == 200


@pytest.mark.parametrize(
    ("query", "heading", "enough"),
    [
        ("depth=2", "The pool at depth 2", "That is enough up to depth 3."),
        ("strategy=rrf&amount=2&amount_of=budget", "with 2 documents in total", "up to 4 documents in total."),
        ("strategy=rrf&amount=2&amount_of=per_topic", "2 documents for each topic", "4 documents for each topic."),
    ],
)
def test_amounts_are_said_in_whole_sentences(visit: Visit, news: str, query: str, heading: str, enough: str) -> None:
    page = words(visit("ola").get(f"{news}/pool/plan?{query}&hours=9"))
    assert heading in page
    assert "Hours for judging: 9. That is enough up to " in page
    assert enough in page
    none = words(visit("ola").get(f"{news}/pool/plan?{query}&hours=0"))
    assert "Hours for judging: 0. That is enough for none of these pools." in none


def test_whoever_builds_an_adaptive_pool_learns_how_many_documents_are_to_come(
    visit: Visit, database: Database
) -> None:
    jo, _ = adaptive_news(database, "mtf", {"budget": 4, "start_depth": 1})
    with database.transaction() as session:
        member(session, "ola", Role.ORGANISER)
    AdaptiveJudge(database, jo).work()
    ola, pool = visit("ola"), f"/collections/{SLUG}/pool"
    query = "strategy=mtf&amount=6&amount_of=budget&start_depth=1"
    plan = words(ola.get(f"{pool}/plan?{query}"))
    assert "Of these, chosen adaptively 2" in plan
    assert "Documents that it has chosen before: 4. They count towards the number." in plan
    sent = {"strategy": "mtf", "amount": "6", "amount_of": "budget", "start_depth": "1", "showing": "random"}
    assert "Of these, chosen adaptively 2" in words(ola.post(pool, **sent))
    answer = ola.post(pool, **sent, confirmed="y")
    page = words(ola.get(answer.location))
    assert "Documents still to be chosen adaptively: 2." in page
    assert "move-to-front, version 2: 4 of 6 choices made." in page


def test_the_plan_of_a_strategy_that_needs_a_machine_waits_until_one_is_chosen(visit: Visit, news: str) -> None:
    ola = visit("ola")
    page = ola.get(f"{news}/pool/plan?strategy=lara")
    assert page.status_code == 200
    assert "No machine judge has labels in this collection yet." in words(page)
    built = ola.post(f"{news}/pool", strategy="lara", amount="5", amount_of="per_topic")
    assert "The strategy lara needs the name of a machine judge." in words(built)


def test_a_classifier_that_cannot_be_trained_here_is_announced(
    visit: Visit, news: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "Active learning needs scikit-learn, which is not installed here"
    ola = visit("ola")
    assert sentence not in words(ola.get(f"{news}/pool/plan?strategy=cal"))
    monkeypatch.setattr(pools, "can_learn", lambda: False)
    assert sentence in words(ola.get(f"{news}/pool/plan?strategy=cal"))


def test_a_pool_goes_on_until_a_stopping_rule(visit: Visit, news: str) -> None:
    ola = visit("ola")
    both = words(ola.get(f"{news}/pool/plan?strategy=cal&amount=5&amount_of=budget&until=knee"))
    assert "The strategy cal needs exactly one of these: a budget in total (budget)" in both
    plan = words(ola.get(f"{news}/pool/plan?strategy=cal&until=in-a-row(in_a_row%3D7)"))
    assert "These numbers are upper bounds: the rule in-a-row(in_a_row=7) ends the choices of a topic earlier." in plan
    wrong = ola.post(f"{news}/pool", strategy="cal", amount="", until="elbow", confirmed="y")
    assert (wrong.status_code, "There is no stopping rule “elbow”" in words(wrong)) == (422, True)
    missing = ola.post(f"{news}/pool", strategy="cal", amount="", until="target-set", confirmed="y")
    assert (missing.status_code, "needs a random sample that is drawn before" in words(missing)) == (409, True)
    built = ola.post(f"{news}/pool", strategy="cal", amount="", until="in-a-row(in_a_row=7)", confirmed="y")
    assert built.status_code == 303
    page = words(ola.get(f"{news}/pool"))
    assert "0 choices made, of each topic until the rule in-a-row(in_a_row=7) says stop. Topics stopped: 0 of" in page
    stopping = words(ola.get(f"{news}/pool/stopping"))
    assert "goes on with each topic until the rule in-a-row(in_a_row=7) says stop; you can take that back." in stopping
