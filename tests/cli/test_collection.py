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
    assert annotator.table("members", "list", "web") == [["ola", "organiser", "-"]]


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
    assert news.table("collections", "list")[0][:6] == ["news", "open", "2", "1", "majority", "News"]
    [sentence] = news.refused("collections", "set", "news", "--scale", "0=No,1=Yes")
    assert sentence.startswith("Relevant-from is a grade of the scale")


def test_a_closed_collection_takes_nothing_until_it_is_open_again(news: CommandLine) -> None:
    write_run("alpha", ["1 a"])
    news.done("collections", "close", "news")
    [sentence] = news.refused("runs", "import", "news", "alpha.run")
    assert sentence == "The collection “news” is closed: it takes no more changes."
    news.done("collections", "close", "news", "--reopen")
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
