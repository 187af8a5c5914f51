"""`annotator clicks interleaving show`: the clicks on interleaved lists, scored from files."""

import csv
import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine, write_run

HEADING = "user,session,query,variant,position,docno,event\n"
# Jo prefers alpha, Kim beta, Lee clicks one of each, and Max nothing.
TEAMS = HEADING + "".join(
    f"{user},1,1,{team},{position},{docno},{event}\n"
    for user, clicked in (("jo", "a"), ("kim", "cd"), ("lee", "ac"), ("max", ""))
    for position, (docno, team) in enumerate(zip("acbd", ("alpha", "beta", "alpha", "beta"), strict=True), start=1)
    for event in ("impression", *(["click"] if docno in clicked else []))
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line where no database can be opened, beside a log in which variants are teams."""
    monkeypatch.chdir(tmp_path)
    Path("teams.csv").write_text(TEAMS)
    return CommandLine("sqlite:////nowhere/to/be/found.sqlite")


def shown_by_lists(method: str, clicked: str) -> str:
    """The log of a user for each list of the file, who clicks these documents, with what the lists are told by."""
    rows = [line.split("\t") for line in Path("lists.tsv").read_text().splitlines() if not line.startswith("#")][1:]
    events = [
        f"{method}{number},{number},{topic},{number},{position},{docno},{event}\n"
        for topic, number, position, docno, *_ in rows
        for event in ("impression", *(["click"] if docno in clicked else []))
    ]
    return HEADING + "".join(events)


def test_wins_ties_and_delta_are_shown(files: CommandLine) -> None:
    # One win each and a tie: Δ 0. Halves 1/2, -1/2, 0 of three users have variance 1/4, over 3 it is 1/12; its root
    # .288675 times 4.302653 is more than Δ can be.
    assert files.table("clicks", "interleaving", "show", "teams.csv") == [
        ["alpha", "beta", "1", "1", "1", "0.0000", "0.0000", "-0.5000", "0.5000", "1.0000", "1.0000", "no"]
    ]
    assert files.talk("clicks", "interleaving", "show", "teams.csv").splitlines() == [
        "Lists with a click that counts: 3 of 4 shown, of 3 users.",
        "p is by: exact binomial, one list per user.",
    ]


def test_csv_is_exact_and_json_has_everything(files: CommandLine) -> None:
    command = ("clicks", "interleaving", "show", "teams.csv", "--bootstrap", "--seed", "2")
    [row] = csv.DictReader(files.done(*command, "--format", "csv").splitlines())
    assert (row["first"], row["wins_first"], row["ties"], row["delta_of_first"]) == ("alpha", "1", "1", "0.0")
    told = json.loads(files.done(*command, "--format", "json"))
    assert told["clicks"] == [2, 3]
    assert (told["shown"], told["lists"], told["seed"]) == (4, 3, 2)
    assert told["pairs"][0]["bootstrap"]["p"] == 1
    assert str(told["pairs"][0]["bootstrap"]["low"]) == row["bootstrap_low"]
    assert "The bootstrap draws users by seed 2." in files.talk(*command)


def test_other_tables_are_shown_when_asked_for(files: CommandLine) -> None:
    assert files.table("clicks", "interleaving", "show", "teams.csv", "--by", "queries") == [
        ["1", "alpha", "beta", "1", "1", "1", "0.0000"]
    ]
    assert files.table("clicks", "interleaving", "show", "teams.csv", "--by", "variants") == [
        ["alpha", "2"],
        ["beta", "3"],
    ]


def test_the_second_can_be_named_first(files: CommandLine) -> None:
    [row] = files.table("clicks", "interleaving", "show", "teams.csv", "--variants", "beta", "alpha")
    assert row[:2] == ["beta", "alpha"]


@pytest.mark.parametrize(
    ("method", "clicked", "wins"),
    [
        # Of the four documents alpha picked a and b, beta c and d, in all four lists.
        ("team-draft", "ab", ["4", "0", "0"]),
        ("team-draft", "abc", ["4", "0", "0"]),
        ("team-draft", "bd", ["0", "0", "4"]),
        # The lowest is b or d, second of its run: k is 2, so alpha has a and b, beta c.
        ("balanced", "abc", ["4", "0", "0"]),
        ("balanced", "c", ["0", "4", "0"]),
    ],
)
def test_by_the_file_of_lists_each_click_is_found_its_run(
    files: CommandLine, method: str, clicked: str, wins: list[str]
) -> None:
    write_run("alpha", ["1 a", "1 b"])
    write_run("beta", ["1 c", "1 d"])
    files.done(
        "interleave", "alpha.run", "beta.run", "--method", method, "--count", "4", "--seed", "1", "-o", "lists.tsv"
    )
    Path("log.csv").write_text(shown_by_lists(method, clicked))
    [row] = files.table("clicks", "interleaving", "show", "log.csv", "--lists", "lists.tsv")
    assert row[:5] == ["alpha", "beta", *wins]
    talk = files.talk("clicks", "interleaving", "show", "log.csv", "--lists", "lists.tsv").splitlines()
    assert talk[0] == "Lists with a click that counts: 4 of 4 shown, of 4 users."


def test_what_does_not_count_is_told_by_reason(files: CommandLine) -> None:
    Path("more.csv").write_text(
        HEADING + "jo,1,1,alpha,1,a,click\njo,1,1,alpha,1,a,click\nkim,1,1,,3,x,click\nlee,1,1,beta,1,c,click\n"
    )
    talk = files.talk("clicks", "interleaving", "show", "more.csv").splitlines()
    assert talk == [
        "Lists with a click that counts: 2, of 2 users.",
        "Clicks that count for no run: again on the same result, 1.",
        "Clicks that count for no run: on a result that counts for no run, 1.",
        "p is by: exact binomial, one list per user.",
    ]


def test_why_a_number_is_missing_is_told(files: CommandLine) -> None:
    Path("tie.csv").write_text(HEADING + "jo,1,1,alpha,1,a,click\njo,1,1,beta,2,c,click\n")
    assert files.table("clicks", "interleaving", "show", "tie.csv") == [
        ["alpha", "beta", "0", "0", "1", "0.0000", "0.0000", "-", "-", "-", "-", "no"]
    ]
    talk = files.talk("clicks", "interleaving", "show", "tie.csv")
    assert "alpha and beta: No interval: all lists are of one user or session" in talk
    assert "alpha and beta: Not tested: neither run won a list" in talk


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["none.csv"], "The log has no click, so no run can have won."),
        (["one.csv"], "The log has one variant only, alpha;"),
        (["nobody.csv"], "The log says of no click in which session or by which user it was"),
        (["teams.csv", "--variants", "alpha", "gamma"], "The log has no variant “gamma”; it has: alpha, beta."),
        (["teams.csv", "--lists", "bad.tsv"], "Nothing was scored. Problems found: 1."),
        (["teams.csv", "--lists", "lists.tsv"], "No click of the log is on a list of the file."),
        (
            ["teams.csv", "--lists", "lists.tsv", "--variants", "alpha", "beta"],
            "With a file of lists, the runs are those",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(files: CommandLine, words: list[str], sentence: str) -> None:
    Path("none.csv").write_text(HEADING + "jo,1,1,alpha,1,a,impression\n")
    Path("one.csv").write_text(HEADING + "jo,1,1,alpha,1,a,click\n")
    Path("nobody.csv").write_text("query,variant,docno,event\n1,alpha,a,click\n1,beta,b,click\n")
    Path("bad.tsv").write_text("topic\tlist\n")
    Path("lists.tsv").write_text("topic\tlist\tposition\tdocno\tteam\talpha\tbeta\n1\t1\t1\ta\talpha\t1\t-\n")
    assert any(line.startswith(sentence) for line in files.refused("clicks", "interleaving", "show", *words))
