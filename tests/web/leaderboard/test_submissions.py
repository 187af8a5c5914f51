"""Submissions by page: the rules an organiser sets, the terms a participant accepts, the scores they see."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from build import NOW, SLUG, labels, run, run_text
from csv_cells import unquoted
from kept import Kept
from sqlalchemy import select, update
from visiting import Visit, file, hidden, words

from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.storage import Database, Round, Run
from annotator.workflows.collections import rounds
from annotator.workflows.collections.collection import close_collection, show_collection
from annotator.workflows.runs import submissions
from annotator.workflows.runs.submissions import Deadline, SubmissionChange, take_scores_back

RULES = {"until": "", "terms": "", "most_documents": "1000"}


def set_rules(database: Database, *, until: datetime | None = None, terms: str = "") -> None:
    with database.transaction() as session:
        submissions.change_submissions(session, SLUG, SubmissionChange(Deadline(until), terms))


def test_an_organiser_sets_the_rules_and_sees_the_deadline_as_written_and_in_utc(
    visit: Visit, news: str, database: Database
) -> None:
    ola = visit("ola")
    fields = {"until": "2026-05-01 09:00 Asia/Seoul", "terms": "# Cite\r\n\r\nus", "most_documents": "500"}
    assert ola.post(f"{news}/submissions", **fields).status_code == 303
    page = ola.get(f"{news}/submissions")
    assert "Submission rules saved." in words(page)
    assert 'value="2026-05-01 09:00 Asia/Seoul"' in page.text
    assert "2026-05-01 09:00 Asia/Seoul (2026-05-01 00:00 UTC)" in words(page)
    with database.reading() as session:
        shown = show_collection(session, SLUG)
    assert (shown.terms, shown.most_documents) == ("# Cite\n\nus", 500)
    assert shown.submissions_until == datetime(2026, 5, 1, tzinfo=UTC)
    assert ola.post(f"{news}/submissions", **RULES).status_code == 303
    with database.reading() as session:
        assert show_collection(session, SLUG).submissions_until is None


def test_files_are_shared_and_taken_back_in_a_closed_collection_whose_rules_stay(
    visit: Visit, news: str, database: Database
) -> None:
    ola = visit("ola")
    with database.transaction() as session:
        close_collection(session, SLUG)
    page = ola.get(f"{news}/submissions")
    assert "This collection is closed" in words(page)
    assert "Share the qrels of released scores" in words(page)
    assert "Submission deadline" not in words(page)
    for fields in ({"corpus": "Ask.", "shares_docnos": "y", "shares_qrels": "y"}, {"corpus": "Ask."}):
        assert ola.post(f"{news}/submissions/files", **fields).status_code == 303
        with database.reading() as session:
            after = show_collection(session, SLUG)
        assert (after.corpus, after.shares_docnos, after.shares_qrels) == (
            "Ask.",
            "shares_docnos" in fields,
            "shares_qrels" in fields,
        )
    too_long = ola.post(f"{news}/submissions/files", corpus="x" * 10_001)
    assert (too_long.status_code, "xxx</textarea>" in too_long.text) == (422, True)
    refused = ola.post(f"{news}/submissions", **RULES, shares_qrels="y")
    assert refused.status_code == 409
    assert "is closed: it takes no more changes." in words(refused)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("until", "soon", "“soon” is not a moment such as"),
        ("until", "2026-05-01 09:00 Mars", "“Mars” is not a time zone"),
        ("most_documents", "0", "The most documents a topic is a number from 1 to 100000, not 0."),
        ("most_documents", "many", "Not a valid integer value."),
        ("most_documents", "", "This field is required."),
    ],
)
def test_a_rule_that_cannot_be_is_refused_with_what_was_entered(
    visit: Visit, news: str, database: Database, field: str, value: str, sentence: str
) -> None:
    answer = visit("ola").post(f"{news}/submissions", **{**RULES, "terms": "Cite us.", field: value})
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert "Cite us." in answer.text
    with database.reading() as session:
        assert show_collection(session, SLUG).terms == ""


def test_participants_see_the_rules_for_teams_before_they_send_runs(visit: Visit, news: str) -> None:
    rules = {"tag_start": "{team}-", "most_tag_characters": "20", "plain_tags": "y", "most_runs": "2"}
    assert visit("ola").post(f"{news}/submissions", **RULES, **rules).status_code == 303
    page = visit("ola").get(f"{news}/submissions")
    assert 'value="{team}-"' in page.text
    assert "begin with" not in words(visit("ola").get(f"{news}/runs"))  # they do not bind organisers
    pat = visit("pat")
    shown = words(pat.get(f"{news}/runs"))
    assert "Active runs of your team: 0 of at most 2." in shown
    assert "The tags of new runs begin with “red-”." in shown
    assert "A tag has at most 20 characters. A right tag is “red-run1”." in shown
    answer = pat.post(f"{news}/runs", files=file("gamma.txt", run_text("gamma", {"1": ["a"]})))
    assert answer.status_code == 422
    assert "The tag gamma does not begin with “red-”" in words(answer)
    for tag in ("red-1", "red-2"):
        sent = pat.post(f"{news}/runs", files=file("a.txt", run_text(tag, {"1": ["a"], "2": [tag]})))
        assert sent.status_code == 303
    shown = words(pat.get(f"{news}/runs"))
    assert "Active runs of your team: 2 of at most 2. To send another, withdraw one" in shown
    checked = pat.post(f"{news}/runs/check", files=file("a.txt", run_text("red-3", {"1": ["a"]})))
    assert "This would be active run 3 of your team, which may have 2." in words(checked)
    assert visit("ola").post(f"{news}/submissions", **RULES).status_code == 303
    assert "at most" not in words(pat.get(f"{news}/runs"))


def test_the_page_says_that_the_most_runs_of_a_team_are_those_of_the_round(
    visit: Visit, news: str, database: Database
) -> None:
    assert visit("ola").post(f"{news}/submissions", **RULES, most_runs="1").status_code == 303
    pat = visit("pat")
    assert pat.post(f"{news}/runs", files=file("a.txt", run_text("r1", {"1": ["a"]}))).status_code == 303
    with database.transaction() as session:
        rounds.open_round(session, SLUG, at=NOW)
    assert "Active runs of your team in this round: 1 of at most 1." in words(pat.get(f"{news}/runs"))
    with database.transaction() as session:
        session.execute(update(Round).values(closed_at=NOW))
        rounds.open_round(session, SLUG, at=NOW)
    assert "Active runs of your team in this round: 0 of at most 1." in words(pat.get(f"{news}/runs"))
    assert pat.post(f"{news}/runs/withdraw?tag=r1", confirmed="y").status_code == 303
    run_url = f"{news}/runs/run?tag=r1"
    shown = pat.get(run_url)
    assert "Its round is closed. Only the organisers can restore it." in words(shown)
    assert "Restore the run" not in shown.text
    assert "Restore the run" in visit("ola").get(run_url).text


def test_organisers_choose_what_participants_may_load(visit: Visit, news: str, database: Database) -> None:
    with database.reading() as session:
        before = show_collection(session, SLUG)
    assert (before.corpus, before.shares_docnos, before.shares_qrels) == ("", False, False)
    ola, shared = visit("ola"), {"corpus": "At\r\nhttps://example.org", "shares_docnos": "y", "shares_qrels": "y"}
    assert ola.post(f"{news}/submissions", **RULES, **shared).status_code == 303
    with database.reading() as session:
        after = show_collection(session, SLUG)
    assert (after.corpus, after.shares_docnos, after.shares_qrels) == ("At\nhttps://example.org", True, True)
    page = ola.get(f"{news}/submissions").text
    assert "At\nhttps://example.org</textarea>" in page
    too_long = ola.post(f"{news}/submissions", **RULES, corpus="x" * 10_001)
    assert too_long.status_code == 422
    assert "10000" in words(too_long).replace(",", "")


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("tag_start", "{group}-", "“{group}-” cannot be the beginning of tags"),
        ("most_tag_characters", "200", "The longest tag has 4 to 128 characters here, not 200."),
        ("most_runs", "-1", "The most runs of a team is a number from 1 to 1000, or 0 for no limit, not -1."),
        ("most_runs", "few", "Not a valid integer value."),
    ],
)
def test_a_rule_for_teams_that_cannot_be_is_refused(
    visit: Visit, news: str, field: str, value: str, sentence: str
) -> None:
    answer = visit("ola").post(f"{news}/submissions", **RULES, **{field: value})
    assert answer.status_code == 422
    assert sentence in words(answer)


def test_a_closed_collection_keeps_its_rules_and_still_releases_its_scores(visit: Visit, news: str) -> None:
    ola = visit("ola")
    ola.post(f"{news}/close")
    assert ola.post(f"{news}/submissions", **RULES).status_code == 409
    assert ola.post(f"{news}/release", qrels="live").status_code == 303
    assert "Participants see scores since" in words(ola.get(f"{news}/release"))


def test_a_participant_reads_and_accepts_the_terms_once(visit: Visit, news: str, database: Database) -> None:
    set_rules(database, terms="# Cite us\n\n<script>alert(1)</script>")
    pat, ola = visit("pat"), visit("ola")
    assert "read and accept the terms" in words(pat.get(news))
    page = pat.get(f"{news}/terms")
    assert "<h2>Cite us</h2>" in page.text
    assert "<script>alert" not in page.text
    assert "pat participant red not yet" in words(ola.get(f"{news}/members"))
    assert pat.post(f"{news}/terms", fingerprint=hidden(page, "fingerprint")).status_code == 303
    assert "You accepted these terms on" in words(pat.get(f"{news}/terms"))
    assert "read and accept the terms" not in words(pat.get(news))
    assert "pat participant red not yet" not in words(ola.get(f"{news}/members"))


def test_terms_that_changed_under_the_page_are_shown_anew(visit: Visit, news: str, database: Database) -> None:
    set_rules(database, terms="Cite us.")
    pat = visit("pat")
    read = hidden(pat.get(f"{news}/terms"), "fingerprint")
    set_rules(database, terms="Pay us.")
    answer = pat.post(f"{news}/terms", fingerprint=read)
    assert answer.status_code == 409
    assert "The terms have changed since you opened their page." in words(answer)
    assert "Pay us." in words(answer)
    assert hidden(answer, "fingerprint") != read


def test_an_organiser_sees_the_terms_and_has_nothing_to_accept(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    assert "There are no terms to accept." in words(ola.get(f"{news}/terms"))
    set_rules(database, terms="Cite us.")
    page = words(ola.get(f"{news}/terms"))
    assert "Cite us." in page
    assert "I accept these terms" not in page


def test_a_participant_is_told_the_deadline_and_when_it_has_passed(visit: Visit, news: str, database: Database) -> None:
    pat = visit("pat")
    assert "Submission deadline" not in words(pat.get(news))
    set_rules(database, until=datetime(2999, 5, 1, tzinfo=UTC))
    assert "Submission deadline: 2999-05-01 00:00 UTC" in words(pat.get(news))
    set_rules(database, until=NOW - timedelta(days=400))
    assert "The submission deadline has passed: 2025-01-25 09:00 UTC" in words(pat.get(news))


@pytest.fixture
def scored(news: str, database: Database, kept: Kept) -> str:
    """Red has a run of its own beside alpha and beta, which belong to no team, and blue's; a is relevant."""
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        run(session, "reds", {"1": ["b", "a"]}, team="red")
        run(session, "blues", {"1": ["a", "b"]}, team="blue")
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n")


def test_a_participant_sees_scores_once_released_and_of_their_own_runs_only(visit: Visit, scored: str) -> None:
    pat, ola = visit("pat"), visit("ola")
    before = words(pat.get(f"{scored}/scores"))
    assert "The organisers have not released the scores yet." in before
    assert "reds" not in before
    assert ola.post(f"{scored}/release", early="y").status_code == 303
    page = pat.get(f"{scored}/scores")
    # a stands second: nDCG 1 / log2(3), AP and RR 1/2, P@10 1/10; both documents are judged.
    assert "reds red 0.6309 0.5000 0.1000 0.5000 100.0 %" in words(page)
    assert "Grades: 2 · topics scored: 1" in words(page)
    assert "policy: majority" in words(page)
    for others in ("blues", "blue", "alpha", "beta", "nist"):
        assert others not in page.text
    ola.post(f"{scored}/release/take-back")
    assert "reds" not in words(pat.get(f"{scored}/scores"))


def test_the_median_and_the_best_of_few_runs_are_not_told(visit: Visit, scored: str, database: Database) -> None:
    # Beside red's run there are three of others, of one team; then five of two teams.
    why = "They need at least 5 runs of others in time, of at least 3 teams."
    for more in ((), ("green", "blue")):
        with database.transaction() as session:
            for place, team in enumerate(more):
                run(session, f"more{place}", {"1": ["d", "a"]}, team=team)
        assert visit("ola").post(f"{scored}/release", early="y", moment="now").status_code == 303
        page = words(visit("pat").get(f"{scored}/scores?m=RR&run=reds"))
        assert why in page
        assert "RR of reds by topic Topic reds 1 0.5000" in page
        assert "Median" not in page
        head, row = unquoted(visit("pat").get(f"{scored}/scores.csv?table=topics&m=RR&run=reds").text).splitlines()
        assert head == "run,measure,topic,value,worst_median_and_best"
        assert row.startswith("reds,RR,1,0.5,")
        assert why in row


def test_each_topic_stands_beside_the_median_and_the_best_of_runs_in_time(
    visit: Visit, scored: str, database: Database
) -> None:
    pat = visit("pat")
    with database.transaction() as session:
        run(session, "greens", {"1": ["b", "a"]}, team="green")
        run(session, "greys", {"1": ["a"]}, team="grey")
        run(session, "reds2", {"1": ["b"]}, team="red")
        run(session, "reds3", {"1": ["b", "d"]}, team="red")
    assert pat.get(f"{scored}/scores.csv").status_code == 403
    assert visit("ola").post(f"{scored}/release", early="y").status_code == 303
    # RR of topic 1: reds b a 1/2, blues a b 1, alpha a b c 1, beta d b a 1/3, greens 1/2, greys 1, and 0 twice: between
    # 0 0 1/3 1/2 and 1/2 1 1 1 lies 1/2.
    page = pat.get(f"{scored}/scores?m=RR&run=reds")
    assert "RR of reds by topic Topic reds Worst Median Best 1 0.5000 0.0000 0.5000 1.0000" in words(page)
    assert "the best of all 8 runs uploaded before the release, without names" in words(page)
    assert unquoted(pat.get(f"{scored}/scores.csv?table=topics&m=RR&run=reds").text).splitlines()[1:] == [
        "reds,RR,1,0.5,0.0,0.5,1.0"
    ]
    head, *lines = unquoted(pat.get(f"{scored}/scores.csv?table=all").text).splitlines()
    assert head == "run,measure,topic,value,worst,median,best"
    assert "reds,RR,1,0.5,0.0,0.5,1.0" in lines
    measures = len(DEFAULT_MEASURES)
    assert [line.split(",")[0] for line in lines] == ["reds"] * measures + ["reds2"] * measures + ["reds3"] * measures
    whole = unquoted(pat.get(f"{scored}/scores.csv").text)
    assert [line.split(",")[0] for line in whole.splitlines()] == ["run", "reds", "reds2", "reds3"]


def test_a_run_sent_after_the_release_changes_no_median_and_no_best(
    visit: Visit, news: str, database: Database
) -> None:
    with database.transaction() as session:
        run(session, "reds", {"1": ["b", "a"]}, team="red")
        labels(session, "nist", "1 0 c 1\n1 0 b 0\n")
    visit("ola").post(f"{news}/release", early="y")
    pat = visit("pat")
    seen = words(pat.get(f"{news}/scores?m=RR"))
    file_before = pat.get(f"{news}/scores.csv").text
    oracle = run_text("oracle", {"1": ["c"]})
    assert pat.post(f"{news}/runs", files=file("oracle.run", oracle)).status_code == 303
    after = words(pat.get(f"{news}/scores?m=RR"))
    table = "RR of reds by topic"
    assert after.split(table)[1] == seen.split(table)[1]
    # The better run of the same team would else take the mark of its best from the other one.
    assert "reds" in file_before
    assert pat.get(f"{news}/scores.csv").text == file_before


def test_the_topics_of_another_teams_run_are_not_shown(visit: Visit, scored: str) -> None:
    visit("ola").post(f"{scored}/release", early="y")
    for tag in ("blues", "alpha", "nothing"):
        answer = visit("pat").get(f"{scored}/scores?run={tag}")
        assert answer.status_code == 404
        assert "There is no run" in words(answer)
    assert visit("pat").get(f"{scored}/scores?by=P@7").status_code == 404


def test_scores_are_released_while_runs_are_taken_only_when_ticked(
    visit: Visit, scored: str, database: Database
) -> None:
    pat, ola = visit("pat"), visit("ola")
    answer = ola.post(f"{scored}/release")
    assert answer.status_code == 409
    assert "Runs are accepted at any time, so teams could submit runs" in words(answer)
    assert "Release the scores before the deadline" in words(answer)
    set_rules(database, until=datetime(2999, 5, 1, tzinfo=UTC))
    assert "The submission deadline is 2999-05-01 00:00 UTC: until then, teams" in words(ola.post(f"{scored}/release"))
    assert ola.post(f"{scored}/release", early="y").status_code == 303
    assert pat.post(f"{scored}/runs", files=file("oracle.run", run_text("oracle", {"1": ["a"]}))).status_code == 303
    page = words(pat.get(f"{scored}/scores"))
    assert "reds red 0.6309" in page
    assert "oracle" not in page
    assert "have no scores here: 1." in page


def test_a_participant_is_told_what_comes_and_when(visit: Visit, scored: str) -> None:
    pat, ola = visit("pat"), visit("ola")
    for shown, sentence in (
        ("own", "Then you see here the scores of your team's runs uploaded before that."),
        ("beside", "each topic beside the worst, the median and the best of all runs, without names."),
        ("whole", "Then you see the leaderboard of all runs uploaded before that, with their names"),
    ):
        answer = ola.post(f"{scored}/release", shown=shown, moment="2999-05-01 00:00", early="y")
        assert answer.status_code == 303
        page = words(pat.get(f"{scored}/scores"))
        assert "The scores are not shown yet: they come on 2999-05-01 00:00 UTC" in page
        assert sentence in page
        assert "reds" not in page
        assert pat.get(f"{scored}/scores.csv").status_code == 403
        assert pat.get(f"{scored}/leaderboard").status_code == 403
        assert pat.get(f"{scored}/leaderboard.csv").status_code == 403
    assert "Participants see no scores before 2999-05-01 00:00 UTC" in words(ola.get(f"{scored}/release"))
    assert "Runs are still accepted after the release: these get no scores." in words(ola.get(f"{scored}/release"))
    refused = ola.post(f"{scored}/release", moment="soon", early="y")
    assert refused.status_code == 422
    assert "“soon” is not a moment" in words(refused)


def test_own_scores_alone_stand_beside_nothing(visit: Visit, scored: str) -> None:
    assert visit("ola").post(f"{scored}/release", shown="own", early="y").status_code == 303
    pat = visit("pat")
    page = words(pat.get(f"{scored}/scores?m=RR&run=reds"))
    assert "RR of reds by topic Topic reds 1 0.5000" in page
    assert "Median" not in page
    assert unquoted(pat.get(f"{scored}/scores.csv?table=topics&m=RR&run=reds").text).splitlines() == [
        "run,measure,topic,value",
        "reds,RR,1,0.5",
    ]
    assert pat.get(f"{scored}/leaderboard").status_code == 403


def test_the_whole_leaderboard_has_names_and_neither_judges_nor_late_runs(
    visit: Visit, scored: str, database: Database
) -> None:
    ola, pat = visit("ola"), visit("pat")
    assert ola.post(f"{scored}/release", shown="whole", early="y").status_code == 303
    before = pat.get(f"{scored}/leaderboard?m=RR&letters=y")
    # By RR: alpha and blues 1, reds 1/2, beta 1/3.
    tags = re.findall(r'<th scope="row" data-name="(\w+)"', before.text)
    assert tags == ["alpha", "blues", "reds", "beta"]
    assert "nist" not in before.text
    assert pat.post(f"{scored}/runs", files=file("oracle.run", run_text("oracle", {"1": ["a"]}))).status_code == 303
    assert words(pat.get(f"{scored}/leaderboard?m=RR&letters=y")) == words(before)
    assert "oracle" in ola.get(f"{scored}/leaderboard?m=RR").text
    # Neither one judge's grades, nor another policy, nor what is known of documents.
    other = pat.get(f"{scored}/leaderboard?m=RR&letters=y&judge=nist&policy=lowest&qrels=1")
    assert words(other) == words(before)
    for address in ("leaderboard/run?tag=reds", "leaderboard/topic?number=1", "significance", "quality", "pool/holes"):
        assert pat.get(f"{scored}/{address}").status_code == 403
    rows = unquoted(pat.get(f"{scored}/leaderboard.csv?m=RR").text).splitlines()
    assert [row.split(",")[0] for row in rows] == ["run", "alpha", "blues", "reds", "beta"]
    assert pat.get(f"{scored}/leaderboard?m=nonsense").status_code == 422
    with database.transaction() as session:
        take_scores_back(session, SLUG)
    assert pat.get(f"{scored}/leaderboard").status_code == 403


def test_to_store_what_is_seen_again_moves_no_moment(visit: Visit, scored: str, database: Database) -> None:
    ola = visit("ola")
    assert ola.post(f"{scored}/release", early="y").status_code == 303
    with database.reading() as session:
        first = show_collection(session, SLUG).scores_released_at
    assert first is not None
    minute = f"{first:%Y-%m-%d %H:%M} UTC"
    assert ola.post(f"{scored}/release", shown="own", moment=minute).status_code == 303
    with database.reading() as session:
        assert show_collection(session, SLUG).scores_released_at == first


def test_released_scores_without_grades_or_runs_say_so(visit: Visit, news: str, database: Database) -> None:
    visit("ola").post(f"{news}/release", early="y", qrels="live")
    pat = visit("pat")
    assert "Nothing is judged yet" in words(pat.get(f"{news}/scores"))
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n")
    assert "Your team has no run that is scored." in words(pat.get(f"{news}/scores"))
    assert pat.get(f"{news}/leaderboard").status_code == 403


def test_judges_search_where_the_organiser_allows_it(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    fields = {
        "title": "News search",
        "kind": "shared-task",
        "scale": "0=Not relevant\n1=Relevant\n2=Highly relevant",
        "relevant_from": "1",
        "judgements_wanted": "2",
        "consensus_policy": "majority",
    }
    for given, stored in (({"judges_search": "y"}, True), ({}, False)):
        assert ola.post(f"{news}/settings", **fields, **given).status_code == 303
        assert (' checked id="judges_search"' in ola.get(f"{news}/settings").text) == stored
        with database.reading() as session:
            assert show_collection(session, SLUG).judges_search == stored


def test_a_team_whose_only_run_came_too_late_has_a_table_without_rows(
    visit: Visit, scored: str, database: Database
) -> None:
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=NOW + timedelta(days=1), early=True)
        session.scalars(select(Run).where(Run.tag == "reds")).one().uploaded_at = NOW + timedelta(days=2)
    answer = visit("pat").get(f"{scored}/scores.csv")
    assert answer.status_code == 200
    assert len(answer.text.splitlines()) == 1


def test_when_every_run_came_too_late_there_is_nothing_to_score(visit: Visit, scored: str, database: Database) -> None:
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=NOW - timedelta(days=1), early=True)
    assert visit("pat").get(f"{scored}/scores.csv").status_code == 409
    assert "There is no run to score yet." in words(visit("pat").get(f"{scored}/scores"))


def test_organisers_see_which_teams_have_one_beginning_of_tags(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "one", {"1": ["a"]}, team="가나")
        run(session, "two", {"1": ["a"]}, team="다라")
    ola = visit("ola")
    assert "Tags of several teams" not in words(ola.get(f"{news}/submissions"))
    ola.post(f"{news}/submissions", **RULES, tag_start="{team}-", plain_tags="y")
    assert "Tags of several teams begin with “__-”: 가나, 다라." in words(ola.get(f"{news}/submissions"))
