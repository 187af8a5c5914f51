"""`annotator collections` and `annotator guidelines`."""

from pathlib import Path

from cli.command_line import CommandLine, write_run

ADD = ("collections", "add", "web", "--title", "Web search", "--scale", "0=No,1=Yes")


def test_a_collection_is_added_with_its_organiser(annotator: CommandLine) -> None:
    annotator.done("users", "add", "ola", given="correct horse\n")
    annotator.done(*ADD, "--judgements", "3", "--consensus", "median", "--organiser", "ola")
    assert annotator.table("collections", "list") == [
        ["web", "open", "1", "3", "median", "Web", "search", "0=No,", "1=Yes"]
    ]
    assert annotator.table("members", "list", "web") == [["ola", "organiser", "-", "-"]]


def test_a_collection_of_an_unknown_organiser_is_not_added(annotator: CommandLine) -> None:
    assert annotator.refused(*ADD, "--organiser", "gus") == ["There is no user “gus”."]
    assert annotator.table("collections", "list") == []


def test_a_collection_is_added_once(annotator: CommandLine) -> None:
    annotator.done(*ADD)
    assert annotator.refused(*ADD) == ["There is a collection “web” already."]


def test_a_scale_that_is_none_is_refused(annotator: CommandLine) -> None:
    [sentence] = annotator.refused("collections", "add", "web", "--title", "Web", "--scale", "yes,no")
    assert "“yes” is not a grade" in sentence


def test_what_is_given_changes_and_the_rest_stays(news: CommandLine) -> None:
    news.done("collections", "set", "news", "--relevant-from", "2", "--title", "News")
    assert news.table("collections", "list")[0][:6] == [
        "news",
        "open",
        "2",
        "1",
        "adjudicated-else-majority-first",
        "News",
    ]
    [sentence] = news.refused("collections", "set", "news", "--scale", "0=No,1=Yes")
    assert sentence.startswith("Relevant-from is a grade of the scale")


def test_the_type_is_a_shared_task_unless_another_is_given_and_can_be_changed(annotator: CommandLine) -> None:
    annotator.done(*ADD)
    assert ["type", "shared-task"] in annotator.table("collections", "show", "web")
    annotator.done("collections", "set", "web", "--type", "comparison")
    assert ["type", "comparison"] in annotator.table("collections", "show", "web")
    annotator.done("collections", "add", "lab", "--title", "Lab", "--scale", "0=No,1=Yes", "--type", "comparison")
    assert ["type", "comparison"] in annotator.table("collections", "show", "lab")
    refused = annotator("collections", "set", "web", "--type", "contest")
    assert refused.exit_code == 2
    assert "'contest' is not one of 'shared-task', 'comparison'" in refused.stderr


def test_a_closed_collection_takes_nothing_until_it_is_open_again(news: CommandLine) -> None:
    write_run("alpha", ["1 a"])
    news.done("collections", "close", "news")
    [sentence] = news.refused("runs", "import", "news", "alpha.run")
    assert sentence == "The collection “news” is closed: it takes no more changes."
    news.done("collections", "reopen", "news")
    news.done("runs", "import", "news", "alpha.run")


def test_guidelines_have_versions_and_come_back_as_they_went_in(news: CommandLine) -> None:
    Path("guidelines.md").write_text("# Read all of it\n", encoding="utf-8")
    assert news.talk("guidelines", "show", "news") == "There are no guidelines yet.\n"
    for number, given in ((1, "guidelines.md"), (1, "guidelines.md"), (2, "-")):
        talk = news.talk("guidelines", "set", "news", given, given="끝까지 읽기\n".encode())
        assert talk == f"Version {number} of the guidelines is in force.\n"
    assert news.done("guidelines", "show", "news") == "끝까지 읽기\n"


def test_empty_guidelines_are_refused(news: CommandLine) -> None:
    assert news.refused("guidelines", "set", "news", "-", given=" \n") == ["Guidelines cannot be empty."]


def test_the_rules_for_submissions_are_set_and_shown(news: CommandLine) -> None:
    Path("terms.md").write_text("Cite the task.\n", encoding="utf-8")
    news.done(
        *("collections", "set", "news", "--submissions-until", "2026-05-01 09:00 Asia/Seoul", "--terms", "terms.md"),
        *("--most-documents", "500", "--judges-search"),
    )
    shown = news.done("collections", "show", "news")
    assert [line for line in shown.splitlines() if line.startswith(("submissions", "most", "judges", "terms"))] == [
        "judges search           yes",
        "judges compare          yes",
        "submissions until       2026-05-01T00:00Z",
        "most documents a topic  500",
        "most runs of a team     -",
        "terms                   Cite the task.",
    ]
    news.done("collections", "set", "news", "--submissions-until", "none", "--terms", "-", given="")
    assert ["submissions", "until", "-"] in news.table("collections", "show", "news")
    assert ["terms", "-"] in news.table("collections", "show", "news")
    assert ["judges", "search", "yes"] in news.table("collections", "show", "news")


def test_what_participants_may_load_is_set_and_shown(news: CommandLine) -> None:
    Path("corpus.txt").write_text("Ask the archive.\n", encoding="utf-8")
    assert ["docnos", "shared", "no"] in news.table("collections", "show", "news")
    news.done("collections", "set", "news", "--corpus", "corpus.txt", "--share-docnos", "--share-qrels")
    shown = news.table("collections", "show", "news")
    expected = [["corpus", "Ask", "the", "archive."], ["docnos", "shared", "yes"], ["qrels", "shared", "yes"]]
    assert all(row in shown for row in expected)
    news.done("collections", "set", "news", "--corpus", "-", "--withhold-qrels", given="")
    shown = news.table("collections", "show", "news")
    assert all(row in shown for row in [["corpus", "-"], ["docnos", "shared", "yes"], ["qrels", "shared", "no"]])


def test_the_rules_for_teams_are_set_and_shown(news: CommandLine) -> None:
    rules = ("--most-runs", "5", "--tag-start", "{team}-", "--longest-tag", "20", "--plain-tags")
    news.done("collections", "set", "news", *rules)
    shown = news.done("collections", "show", "news").splitlines()
    assert [line for line in shown if "tag" in line or "most runs" in line] == [
        "tags begin with         {team}-",
        "longest tag             20",
        "plain tags              yes",
        "most runs of a team     5",
    ]
    refused = news.refused("collections", "set", "news", "--longest-tag", "5")
    assert refused == ["The longest tag has 6 to 128 characters here, not 5."]
    news.done("collections", "set", "news", "--most-runs", "0", "--tag-start", "", "--longest-tag", "128", "--any-tags")
    assert "most runs of a team     -" in news.done("collections", "show", "news")


def test_rules_that_cannot_be_are_refused_and_nothing_else_changes(news: CommandLine) -> None:
    for option, value, sentence in (
        ("--submissions-until", "soon", "“soon” is not a moment such as"),
        ("--most-documents", "0", "The most documents a topic is a number from 1 to 100000, not 0."),
        ("--terms", "nowhere.md", "nowhere.md: The file cannot be read"),
    ):
        refused = news.refused("collections", "set", "news", "--title", "Other", option, value)
        assert refused[0].startswith(sentence)
    assert ["title", "News", "search"] in news.table("collections", "show", "news")
    assert news("collections", "set", "news").exit_code == 2


def test_scores_are_released_and_taken_back(news: CommandLine) -> None:
    assert ["scores", "released", "-"] in news.table("collections", "show", "news")
    assert news.refused("collections", "release", "news", "--live")[0].startswith("Runs are accepted at any time")
    assert (
        news.talk("collections", "release", "news", "--early", "--live")
        == "Participants of news see the scores of their runs, beside the worst, the median and the best of all, "
        "computed from the grades of the moment (live).\n"
    )
    assert ["scores", "released", "-"] not in news.table("collections", "show", "news")
    assert news.talk("collections", "withhold", "news") == "Participants of news see no scores.\n"
    assert ["scores", "released", "-"] in news.table("collections", "show", "news")


def test_how_much_of_the_scores_is_seen_and_from_when_is_decided(news: CommandLine) -> None:
    release, live = ("collections", "release", "news"), ", computed from the grades of the moment (live).\n"
    later = "2999-05-01 09:00 +09:00"
    refused = news.refused(*release, "--from", later, "--show", "own", "--live")
    assert refused[0].startswith("Runs are accepted at any time")
    assert (
        news.talk(*release, "--from", later, "--show", "own", "--early", "--live")
        == f"Participants of news see the scores of their runs from 2999-05-01 00:00 UTC on{live}"
    )
    # What is not given stays.
    assert news.talk(*release, "--show", "whole").endswith(f"names from 2999-05-01 00:00 UTC on{live}")
    assert ["scores", "shown", "whole"] in news.table("collections", "show", "news")
    assert (
        news.talk(*release, "--from", "now", "--early")
        == f"Participants of news see the whole leaderboard with names{live}"
    )
    assert news.talk(*release, "--show", "nothing") == "Participants of news see no scores.\n"
    assert news.refused(*release, "--from", "none", "--live")[0].startswith("“none” is not a moment such as")
    assert news.refused(*release, "--from", "soon", "--live")[0].startswith("“soon” is not a moment such as")


def test_scores_are_released_by_a_version_that_is_kept_when_it_is_asked_for(news: CommandLine) -> None:
    release = ("collections", "release", "news", "--early")
    [sentence] = news.refused(*release)
    assert sentence.startswith("Nothing is judged yet, so there are no qrels to keep for the released scores.")
    Path("a.qrels").write_text("1 0 a 1\n", encoding="utf-8")
    news.done("judgements", "import", "news", "a.qrels", "--judge", "nist", "--add-to-pool")
    said = news.talk(*release, "--from", "2999-05-01 00:00")
    assert "from 2999-05-01 00:00 UTC on, computed from version 1 of the qrels, kept 20" in said
    assert [row[0] for row in news.table("qrels", "list", "news")] == ["1"]
    Path("b.qrels").write_text("1 0 b 1\n", encoding="utf-8")
    news.done("judgements", "import", "news", "b.qrels", "--judge", "nist", "--add-to-pool")
    assert "computed from version 1 of the qrels" in news.talk(*release, "--show", "own")
    assert "computed from version 2 of the qrels" in news.talk(*release, "--qrels", "new")
    assert "computed from version 1 of the qrels" in news.talk(*release, "--qrels", "1")
    shown = news.table("collections", "show", "news")
    assert ["scores", "computed", "from", "version", "1"] in [row[:5] for row in shown]
    news.done("collections", "copy", "news", "next")
    copied = news.table("collections", "show", "next")
    assert ["scores", "released", "-"] in copied
    assert ["scores", "computed", "from", "version"] not in [row[:4] for row in copied]
    assert news.refused(*release, "--qrels", "7") == ["There is no version 7 of these qrels."]
    assert "computed from the grades of the moment (live)" in news.talk(*release, "--live")
    assert news(*release, "--live", "--qrels", "1").exit_code == 2
