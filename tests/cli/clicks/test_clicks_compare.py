"""`annotator clicks compare` and `clicks positions show`: two variants by their clicks, from files."""

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from csv_cells import unquoted

HEADING = "time,user,session,query,variant,page,position,docno,event,value"


def lines_of(variant: str, users: int, clicking: int) -> list[str]:
    """A page of two results for each user, an hour after the other; some click on the top and stay."""
    lines = []
    for number in range(users):
        at = f"2026-05-{1 + number // 24:02}T{number % 24:02}:00"
        said = f"{variant}{number},{variant}s{number},q,{variant},1"
        lines += [f"{at}:00Z,{said},{rank},d{rank},impression," for rank in (1, 2)]
        if number < clicking:
            lines += [f"{at}:05Z,{said},1,d1,click,", f"{at}:05Z,{said},1,d1,dwell,31"]
    return lines


@pytest.fixture
def annotator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line where no database can be opened, beside a log of 40 users of `old` and 40 of `new`."""
    monkeypatch.chdir(tmp_path)
    lines = [HEADING, *lines_of("old", 40, 10), *lines_of("new", 40, 20)]
    Path("log.csv").write_text("\n".join(lines) + "\n")
    return CommandLine("sqlite:////nowhere/to/be/found.sqlite")


COMPARE = ("clicks", "compare", "log.csv", "--variants", "old", "new")


def rows_of(text: str) -> dict[str, dict[str, str]]:
    return {row["measure"]: row for row in csv.DictReader(io.StringIO(text))}


def test_measures_are_shown_with_differences_and_tests(annotator: CommandLine) -> None:
    # 10 of 40 and 20 of 40: z = .25 / √(.375 · .625 · 2/40) = 2.3094, p .0209; the interval .25 ± 1.96 · .10458.
    # Clicks a page are 0 or 1 too, but no share: the variance of each mean is .25 · .75/39 and .5 · .5/39.
    rows = rows_of(annotator.done(*COMPARE, "--format", "csv"))
    top = rows["CTR@1"]
    assert (top["first"], top["second"], top["second_minus_first"], top["method"]) == (
        "0.25",
        "0.5",
        "0.25",
        "two-proportion z",
    )
    assert float(top["z"]) == pytest.approx(2.3094, abs=5e-5)
    assert float(top["p"]) == pytest.approx(0.0209, abs=5e-5)
    assert [float(top["low"]), float(top["high"])] == pytest.approx([0.0450, 0.4550], abs=5e-5)
    assert float(rows["clicks_per_page"]["z"]) == pytest.approx(0.25 / ((0.1875 + 0.25) / 39) ** 0.5)
    assert (rows["mean_rating"]["p"], rows["mean_rating"]["reason"]) == ("", "Not available: the log has no rating.")


def test_checks_come_first_then_variants_then_measures(annotator: CommandLine) -> None:
    checks, variants, measures = annotator.done(*COMPARE).split("\n\n")
    assert checks.splitlines()[1].startswith("split")
    assert [line.split() for line in variants.splitlines()[1:]] == [
        ["old", "40", "40", "100", "40", "80", "10", "0"],
        ["new", "40", "40", "120", "40", "80", "20", "0"],
    ]
    # Of the five p the smallest, of clicks a page, is 2 Φ(-2.3604) = .01825, and five times that .0913; none is below.
    assert measures.splitlines()[1].split() == [
        *(
            "CTR@1",
            "0.2500",
            "0.5000",
            "0.2500",
            "1.0000",
            "0.0450",
            "0.4550",
            "0.0209",
            "0.0913",
            "two-proportion",
            "z",
        )
    ]


def test_what_it_was_made_from_is_said_on_standard_error(annotator: CommandLine) -> None:
    talk = annotator.talk(*COMPARE).splitlines()
    assert talk[0].startswith(
        "Not decided: CTR@1 of new less that of old is +0.25, which is +100.0 % of the value of old"
    )
    assert talk[1:3] == [
        "Every difference is new less old.",
        "From 2026-05-01T00:00:00+00:00 to 2026-05-02T15:00:00+00:00, 220 lines.",
    ]
    assert "mean_rating: Not available: the log has no rating." in talk


def test_what_does_not_count_is_said_with_its_reason(annotator: CommandLine) -> None:
    lines = Path("log.csv").read_text().splitlines()
    shown = [f"2026-05-01T00:00:00Z,other,o,rare{number},old,1,1,d1,impression," for number in range(1001)]
    others = ["2026-05-01T00:00:00Z,u,s,q,third,1,1,d1,impression,", "2026-05-01T00:00:00Z,u,s,x,old,1,1,d9,click,"]
    Path("log.csv").write_text("\n".join([*lines[:2], *lines[1:], *others, *shown]) + "\n")
    talk = annotator.talk(*COMPARE).splitlines()
    assert "Events of other variants, or of none: 1." in talk
    assert "Left out: duplicate, 1." in talk
    assert "Left out: click without impression, 1." in talk
    assert "Queries that are asked less often and left out of the tables: 2." in talk


def test_without_times_the_span_is_not_said(annotator: CommandLine) -> None:
    lines = [line.partition(",")[2] for line in Path("log.csv").read_text().splitlines()]
    Path("log.csv").write_text("\n".join(lines) + "\n")
    assert not any(line.startswith("From ") for line in annotator.talk(*COMPARE).splitlines())


def test_without_names_the_two_variants_there_are_are_compared(annotator: CommandLine) -> None:
    assert "Every difference is old less new." in annotator.talk("clicks", "compare", "log.csv")


def test_json_has_everything(annotator: CommandLine) -> None:
    told = json.loads(annotator.done(*COMPARE, "--format", "json"))
    assert [one["name"] for one in told["variants"]] == ["old", "new"]
    assert told["measures"][0]["difference"] == 0.25
    assert told["conclusion"].startswith("Not decided: ")
    assert {one["day"] for one in told["days"]} == {"2026-05-01", "2026-05-02"}
    assert told["queries"][0]["clicked"] == [["d1", 10]]


@pytest.mark.parametrize("part", ["checks", "variants", "days", "positions", "queries", "documents"])
def test_each_table_can_be_asked_for(annotator: CommandLine, part: str) -> None:
    rows = list(csv.reader(io.StringIO(annotator.done(*COMPARE, "--by", part, "--format", "csv"))))
    assert len(rows) > 1
    assert len(annotator.table(*COMPARE, "--by", part)) == len(rows) - 1


def test_users_are_drawn_anew_when_asked_for(annotator: CommandLine) -> None:
    once, again = (annotator.done(*COMPARE, "--bootstrap", "--format", "csv") for _ in range(2))
    top = rows_of(once)["CTR@1"]
    assert (top["method"], top["z"]) == ("bootstrap by user", "")
    assert float(top["p"]) < 0.05
    assert once == again
    assert once != annotator.done(*COMPARE, "--bootstrap", "--seed", "7", "--format", "csv")
    assert "The bootstrap draws by seed 7." in annotator.talk(*COMPARE, "--bootstrap", "--seed", "7")


def test_what_users_do_later_is_counted_within_the_days(annotator: CommandLine) -> None:
    rows = rows_of(annotator.done(*COMPARE, "--return-days", "1", "--format", "csv"))
    assert (rows["return_rate"]["first"], rows["return_rate"]["entries_first"]) == ("0.0", "16")
    rows = rows_of(annotator.done(*COMPARE, "--format", "csv"))
    assert rows["return_rate"]["reason"].startswith("Not available: no user was first seen long enough")


def test_the_split_and_the_difference_to_be_found_can_be_given(annotator: CommandLine) -> None:
    checks = annotator.done(*COMPARE, "--by", "checks", "--split", "0.9", "--difference", "0.5")
    assert "the first variant has 50.00 % of them where 90.00 % were expected, which chance does not do" in checks
    assert "Enough users: a difference of 0.5 in CTR@1 takes 15 of each variant" in checks


def test_who_is_shown_more_than_people_read_can_be_left_out(annotator: CommandLine) -> None:
    bot = [f"2026-05-01T00:00:{second:02}Z,bot,b,q{second},old,1,1,d1,impression," for second in range(6)]
    with Path("log.csv").open("a") as log:
        log.write("\n".join(bot) + "\n")
    options = ("--pages-an-hour", "5", "--by", "variants")
    assert annotator.table(*COMPARE, *options)[0][:2] == ["old", "41"]
    assert annotator.table(*COMPARE, *options, "--without-bots")[0][:2] == ["old", "40"]


def test_a_log_of_lines_with_clicks_by_file_is_compared_by_a_mapping(annotator: CommandLine) -> None:
    # As the Open Bandit sample is, men: 46 clicks of 10,000 and 69; here of 1,000 each 46 and 69.
    for name, clicks in (("random", 46), ("bts", 69)):
        lines = [
            f"2019-11-24 00:00:00+00:00,{number % 7},{1 + number % 3},{int(number < clicks)}" for number in range(1000)
        ]
        Path(f"{name}.csv.gz").write_bytes(
            gzip.compress("\n".join(["timestamp,item_id,position,click", *lines]).encode())
        )
    mapping = (
        "--variant-from-name",
        "--click-column",
        "click",
        "--column",
        "time=timestamp",
        "--column",
        "docno=item_id",
    )
    words = ("clicks", "compare", "random.csv.gz", "bts.csv.gz", "--variants", "random", "bts", *mapping)
    rows = rows_of(annotator.done(*words, "--format", "csv"))
    assert (rows["first_page_CTR"]["first"], rows["first_page_CTR"]["second"]) == ("0.046", "0.069")
    # Pooled .0575: z = .023 / √(.0575 · .9425 · 2/1000).
    assert float(rows["first_page_CTR"]["z"]) == pytest.approx(0.023 / (0.0575 * 0.9425 * 0.002) ** 0.5)
    assert rows["return_rate"]["reason"] == "Not available: the log does not say which user an event is of."


def test_clicks_are_counted_by_position_for_every_variant(annotator: CommandLine) -> None:
    assert annotator.table("clicks", "positions", "show", "log.csv") == [
        ["new", "1", "40", "20", "0.5000"],
        ["new", "2", "40", "0", "0.0000"],
        ["old", "1", "40", "10", "0.2500"],
        ["old", "2", "40", "0", "0.0000"],
    ]
    told = json.loads(annotator.done("clicks", "positions", "show", "log.csv", "--format", "json"))
    assert told[0] == {"variant": "new", "position": 1, "shown": 40, "clicked": 20, "ctr": 0.5}
    assert unquoted(annotator.done("clicks", "positions", "show", "log.csv", "--format", "csv")).splitlines()[0] == (
        "variant,position,shown,clicked,ctr"
    )


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("log.csv", "--variants", "old", "newer"), "The log has no variant “newer”; it has new, old."),
        (("log.csv", "--variants", "old", "old"), "The variant “old” cannot be compared with itself."),
        (("one.csv",), "The log has one variant only, “old”, so there is none to compare it with."),
        (("log.csv", "--return-days", "0"), "Users may take 1 to 365 days to come back."),
        (("log.csv", "--split", "1"), "The share of the first variant is above 0 and below 1."),
        (("log.csv", "--difference", "-1"), "The difference to be found must be above 0."),
        (("log.csv", "--pages-an-hour", "0"), "The most pages within an hour are 1 or more."),
    ],
)
def test_what_cannot_be_compared_is_refused(annotator: CommandLine, words: tuple[str, ...], refusal: str) -> None:
    Path("one.csv").write_text("\n".join([HEADING, *lines_of("old", 4, 1)]) + "\n")
    assert annotator.refused("clicks", "compare", *words) == [refusal]


def test_bad_lines_are_told_with_their_numbers(annotator: CommandLine) -> None:
    with Path("log.csv").open("a") as log:
        log.write("2026-05-01T00:00:00Z,u,s,q,old,1,0,d1,impression,\n")
    refused = annotator.refused(*COMPARE)
    assert refused[0].startswith("log.csv:222: ")
    assert refused[-1].startswith("The log was not read. Problems found: 1.")
