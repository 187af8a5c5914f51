"""Commands that work on a site elsewhere: here one that is served for the tests, by its API alone."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from build import NOW, SLUG, labels, member, run
from calling import token_of
from cli.remote_site import Remote
from click.testing import CliRunner, Result
from csv_cells import unquoted
from sqlalchemy import select, update
from worker.at_work import work

from annotator.api.site import jobs_asked
from annotator.cli import main
from annotator.cli.remote.given import NOUNS
from annotator.client import Site
from annotator.storage import Judgement, Role, Round, Run
from annotator.workflows.collections import collection, rounds
from annotator.workflows.runs import submissions
from annotator.workflows.site import jobs

GAMMA = "1 Q0 a 1 3.0 gamma\n1 Q0 e 2 2.0 gamma\n2 Q0 b 1 2.0 gamma\n"


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without a database."""
    monkeypatch.chdir(tmp_path)


def column(table: str, place: int = 0) -> list[str]:
    return [line.split()[place] for line in table.splitlines()[1:] if line]


def test_a_participant_checks_sends_lists_and_withdraws_a_run(site: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gamma.run").write_text(GAMMA)
    assert column(site.done("pat", "runs", "check", "news", "gamma.run")) == ["gamma"]
    assert site.done("pat", "runs", "list", "news").splitlines()[1:] == []
    uploaded = site("pat", "runs", "import", "news", "gamma.run", "--type", "manual", "--description", "ours")
    assert uploaded.exit_code == 0
    assert "Runs imported: 1." in uploaded.stderr
    assert "ours" in site.done("pat", "runs", "list", "news")
    assert site.done("pat", "runs", "export", "news", "gamma") == GAMMA
    monkeypatch.setattr("annotator.cli.site.options.at_terminal", lambda: True)
    asked = site("pat", "runs", "withdraw", "news", "gamma", given="n\n")
    assert (asked.exit_code, "the run gamma, version 1: 2 topics, 3 retrieved." in asked.stderr) == (1, True)
    site.done("pat", "runs", "withdraw", "news", "gamma", "--yes")
    assert column(site.done("pat", "runs", "list", "news")) == []
    assert column(site.done("pat", "runs", "list", "news", "--all")) == ["gamma"]


def test_a_participant_reads_that_a_run_of_a_closed_round_cannot_be_restored(
    site: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("gamma.run").write_text(GAMMA)
    site.done("pat", "runs", "import", "news", "gamma.run")
    with site.database.transaction() as session:
        rounds.open_round(session, SLUG, at=NOW)
        session.execute(update(Round).values(closed_at=NOW))
    monkeypatch.setattr("annotator.cli.site.options.at_terminal", lambda: True)
    asked = site("pat", "runs", "withdraw", "news", "gamma", given="n\n")
    done = site("pat", "runs", "withdraw", "news", "gamma", "--yes")
    assert [one.exit_code for one in (asked, done)] == [1, 0]
    for one in (asked, done):
        assert "Its round is closed: only organisers can restore it." in one.stderr


@pytest.mark.parametrize("worker_works", [True, False])
def test_large_files_are_waited_for(site: Remote, monkeypatch: pytest.MonkeyPatch, *, worker_works: bool) -> None:
    monkeypatch.setattr(jobs_asked, "MOST_AT_ONCE", 0)
    Path("texts.tsv").write_text("new1\tgiraffe\n")
    Path("bad.jsonl").write_text('{"docno"\n')

    def meanwhile(_seconds: float) -> None:
        """What happens on the site while the command waits."""
        if worker_works:
            work(site.database)
            return
        with site.database.transaction() as session:
            jobs.cancel_job(session, SLUG, 1, at=NOW)

    monkeypatch.setattr("annotator.client.site.pause", meanwhile)
    if not worker_works:
        [told] = site.refused("ola", "documents", "import", "news", "texts.tsv")
        assert told == "The import of “texts.tsv” was called off on the site. Nothing was stored."
        return
    imported = site("ola", "documents", "import", "news", "texts.tsv")
    assert imported.stderr == "Documents: 1 added, 0 given their text, 0 changed, 0 unchanged.\n"
    assert "bad.jsonl:1: " in site.refused("ola", "documents", "import", "news", "bad.jsonl")[0]


def test_problems_of_files_are_told_as_for_a_database_of_ones_own(site: Remote) -> None:
    Path("good.run").write_text(GAMMA)
    Path("bad.run").write_text("1 Q0 a 1 x bad\n9 Q0 a 1 2.0 bad\n")
    lines = site.refused("pat", "runs", "import", "news", "good.run", "bad.run")
    assert [line.split(": ")[0] for line in lines if line.startswith("bad")] == ["bad.run:1", "bad.run:2"]
    assert lines[-1] in {"Nothing was stored. Problems found: 2.", "Problems found: 2."}
    with site.database.reading() as session:
        assert "gamma" not in session.scalars(select(Run.tag)).all()


def test_a_program_draws_and_grades(site: Remote) -> None:
    assert column(site.done("jo", "judge", "list", "news")) == ["1", "2"]
    drawn = [json.loads(line) for line in site.done("jo", "judge", "draw", "news", "1").splitlines()]
    assert len(drawn) == 4
    assert drawn[0]["topic"]["title"] == "first topic"
    site.done("jo", "judge", "grade", "news", str(drawn[0]["assignment"]), "2", "--note", "sure")
    rest = "".join(json.dumps({"assignment": one["assignment"], "grade": 0}) + "\n" for one in drawn[1:])
    for _ in range(2):  # sent again, they are stored once
        assert "Judgements stored: 3." in site("jo", "judge", "import", "news", "-", given=rest).stderr
    with site.database.reading() as session:
        assert session.scalars(select(Judgement.grade).order_by(Judgement.id)).all() == [2, 0, 0, 0]
    assert site.done("jo", "judge", "draw", "news", "1") == ""


def test_a_program_decides_what_is_in_dispute(site: Remote) -> None:
    with site.database.transaction() as session:
        member(session, "ann", Role.ADJUDICATOR)
        labels(session, "one", "1 0 a 1\n")
        labels(session, "two", "1 0 a 0\n")
    assert column(site.done("ann", "judge", "list", "news", "--adjudicate")) == ["1"]
    [drawn] = map(json.loads, site.done("ann", "judge", "draw", "news", "1", "--adjudicate").splitlines())
    decided = site("ann", "judge", "grade", "news", str(drawn["assignment"]), "2", "--adjudicate")
    assert decided.stderr == "Judgements stored: 1.\n"
    assert site.done("ann", "judge", "draw", "news", "1", "--adjudicate") == ""


def test_guidelines_are_read_and_accepted_before_anything_is_drawn(site: Remote) -> None:
    with site.database.transaction() as session:
        collection.set_guidelines(session, SLUG, "Be strict.", made_by_id=None, made_at=NOW)
    assert "accept them" in site.refused("jo", "judge", "draw", "news", "1")[-1]
    assert "accept them" in script(site, "machine_judge", "jo").stderr
    assert site.done("jo", "guidelines", "show", "news") == "Be strict.\n"
    site.done("jo", "guidelines", "accept", "news", "1")
    assert site.done("jo", "judge", "draw", "news", "1")


def test_refused_grades_are_told_and_the_rest_is_stored(site: Remote) -> None:
    [first, second, *_] = [json.loads(line) for line in site.done("jo", "judge", "draw", "news", "1").splitlines()]
    lines = [
        {"assignment": first["assignment"], "grade": 9, "id": "bad"},
        {"assignment": second["assignment"], "grade": 1},
    ]
    said = site.refused("jo", "judge", "import", "news", "-", given="\n".join(map(json.dumps, lines)))
    assert said == [
        "bad: 9 is not a grade of this collection's scale.",
        "Judgements stored: 1.",
        "Judgements refused: 1.",
    ]
    assert "9 is not a grade" in site.refused("jo", "judge", "grade", "news", str(first["assignment"]), "9")[-1]


@pytest.mark.parametrize("given", ["", "1 2\n", "[1]\n", '{"grade": 1}\n'])
def test_a_file_of_grades_that_is_none_is_refused(site: Remote, given: str) -> None:
    assert site.refused("jo", "judge", "import", "news", "-", given=given)


def test_results_are_given_out(site: Remote) -> None:
    for line in site.done("jo", "judge", "draw", "news", "1").splitlines():
        site.done("jo", "judge", "grade", "news", str(json.loads(line)["assignment"]), "1")
    assert site.done("ola", "qrels", "export", "news") == "1 0 a 1\n1 0 b 1\n1 0 c 1\n1 0 d 1\n"
    ratings = site.done("ola", "qrels", "export", "news", "--format", "quepid")
    assert unquoted(ratings).splitlines()[1].endswith(",a,1")
    assert column(site.done("ola", "leaderboard", "show", "news", "-m", "P@1"))[:2] == ["alpha", "beta"]
    assert json.loads(site.done("ola", "leaderboard", "show", "news", "--format", "json"))["grades"] == 4
    assert unquoted(site.done("ola", "leaderboard", "show", "news", "--format", "csv")).startswith("run,")
    assert site.done("ola", "leaderboard", "show", "news", "--format", "trec_eval").startswith("map  ")
    by_run = site.done("ola", "leaderboard", "show", "news", "-m", "P@1", "--sort", "run", "--format", "json")
    assert json.loads(by_run)["sorted_by"] == "run"
    assert "“AP”: it shows P@1." in site.refused("ola", "leaderboard", "show", "news", "-m", "P@1", "--sort", "AP")[0]
    assert site("pat", "leaderboard", "show", "news", "--own", "--sort", "AP").exit_code == 2
    assert site("pat", "leaderboard", "show", "news", "--beside").exit_code == 2
    assert site.refused("pat", "leaderboard", "show", "news", "--own") == [
        "The organisers have not released the scores yet."
    ]
    assert column(site.done("pat", "collections", "list")) == ["news"]


def test_a_team_gets_its_topics_with_the_worst_median_and_best_as_a_file(site: Remote) -> None:
    with site.database.transaction() as session:
        run(session, "ours", {"1": ["b", "a"], "2": ["a"]}, team="red")
        for number, team in enumerate(["blue", "green", "grey", "blue", "green"]):
            run(session, f"theirs{number}", {"1": ["a"]}, team=team)
        labels(session, "jo", "1 0 a 1\n1 0 b 0\n")
        submissions.release_scores(session, SLUG, at=NOW + timedelta(days=1), early=True, qrels="live")
    table = unquoted(site.done("pat", "leaderboard", "show", "news", "--own", "--beside")).splitlines()
    assert table[0] == "run,measure,topic,value,worst,median,best"
    # AP of topic 1: ours b a 1/2, alpha a b c 1, beta d b a 1/3, and 1 five times.
    [line] = [line.split(",") for line in table if line.startswith("ours,AP,1,")]
    assert list(map(float, line[3:])) == pytest.approx([1 / 2, 1 / 3, 1, 1])


def test_the_scores_of_one_round_are_given_out(site: Remote) -> None:
    with site.database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
        rounds.open_round(session, SLUG, at=NOW)
    board = ("leaderboard", "show", "news", "-m", "AP", "--format", "json")
    assert json.loads(site.done("ola", *board))["source"] == "live, every round, whole"
    assert json.loads(site.done("ola", *board, "--round", "1"))["source"] == "live, round 1, residual"
    assert json.loads(site.done("ola", *board, "--round", "1", "--whole"))["source"] == "live, round 1, whole"
    assert site("ola", *board, "--whole").exit_code == 2
    assert site.refused("ola", *board, "--round", "7") == ["There is no round 7 in this collection."]


def test_the_documents_have_the_scripts_as_they_are() -> None:
    page = (Path(__file__).parents[3] / "docs/how-to/api.md").read_text()
    for path in (Path(__file__).parents[2] / "examples").glob("*.py"):
        assert f"```python\n{path.read_text()}```" in page


def test_the_scripts_of_the_documents_do_what_they_say(site: Remote) -> None:
    Path("gamma.run").write_text(GAMMA)
    Path("bad.run").write_text("1 Q0 a\n")
    sent = script(site, "participant", "pat", "gamma.run")
    assert sent.stdout.split()[:2] == ["gamma", "3"]
    refused = script(site, "participant", "pat", "bad.run")
    assert (refused.returncode, "bad.run:1: " in refused.stderr) == (1, True)
    assert [line.split() for line in script(site, "machine_judge", "jo").stdout.splitlines()] == [
        ["1", "4"],
        ["2", "2"],
    ]
    assert script(site, "machine_judge", "jo").stdout == ""


def test_the_participants_script_waits_for_a_large_file(site: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_asked, "MOST_AT_ONCE", 0)
    monkeypatch.setattr(jobs_asked, "SECONDS_BETWEEN_LOOKS", 0)
    Path("gamma.run").write_text(GAMMA)
    Path("bad.run").write_text("1 Q0 a\n")
    ended = Event()

    def keep_working() -> None:
        while not ended.wait(0.05):
            work(site.database)

    with ThreadPoolExecutor(1) as worker:
        worker.submit(keep_working)
        try:
            sent, refused = (script(site, "participant", "pat", name) for name in ("gamma.run", "bad.run"))
        finally:
            ended.set()
    assert sent.stdout.split()[:2] == ["gamma", "3"]
    assert (refused.returncode, "bad.run:1: " in refused.stderr) == (1, True)


def script(site: Remote, name: str, person: str, *files: str) -> subprocess.CompletedProcess[str]:
    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
    return subprocess.run(  # noqa: S603 - our own script
        [sys.executable, path, site.address.rstrip("/"), "news", *files],
        env={**os.environ, "ANNOTATOR_TOKEN": token_of(site.database, person)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_the_site_refuses_is_said_in_its_words(site: Remote) -> None:
    assert site.refused("jo", "runs", "list", "news") == ["Your role in this collection does not open this."]
    assert site.refused("jo", "runs", "list", "nows") == ["There is no collection “nows”."]
    wrong = run_on(site.address, "wrong", "collections", "list")
    assert (wrong.exit_code, wrong.stderr.startswith("Send “Authorization: Bearer TOKEN”")) == (1, True)


def run_on(address: str, token: str, *words: str) -> Result:
    return CliRunner().invoke(main, ["--site", address, "--token", token, *words])


@pytest.mark.parametrize(
    ("address", "token", "said"),
    [
        ("http://127.0.0.1:9", "t", "cannot be reached"),
        ("ftp://127.0.0.1", "t", "is no address of a site"),
        ("https://nowhere.invalid", "", "The site wants a token"),
    ],
)
def test_a_site_that_cannot_be_called_is_said(address: str, token: str, said: str) -> None:
    result = run_on(address, token, "collections", "list")
    assert result.exit_code == 1
    assert said in result.stderr


@pytest.mark.parametrize("words", [["serve"], ["pool", "show", "news"], ["database", "upgrade"]], ids=" ".join)
def test_what_needs_a_database_of_ones_own_is_wrong_usage(words: Sequence[str], outside: None) -> None:
    del outside
    result = run_on("https://example.org", "t", *words)
    assert result.exit_code == 2
    assert f"“{words[0]}” works on a local database" in " ".join(result.stderr.split())


def test_a_site_and_a_database_do_not_go_together() -> None:
    result = CliRunner().invoke(main, ["--site", "https://example.org", "--database", "sqlite://", "runs", "list", "x"])
    assert result.exit_code == 2


def test_commands_on_a_site_need_neither_a_database_nor_numpy() -> None:
    program = "import sys, annotator.cli.remote.commands; print({'sqlalchemy', 'flask', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)  # noqa: S603 - our own words
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("noun", sorted(NOUNS))
def test_each_noun_explains_itself(noun: str) -> None:
    assert run_on("https://example.org", "t", noun, "--help").exit_code == 0


def test_a_run_is_checked_by_the_rules_of_a_site_without_being_sent(
    site: Remote, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path("gamma.run").write_text(GAMMA + "9 Q0 a 1 1.0 gamma\n")
    there = site("pat", "runs", "check", "news", "gamma.run", "--format", "json")
    monkeypatch.setattr(Site, "send", None)  # no file is sent
    rules = f"{site.address}api/v1/collections/news/run-rules"
    here = site("pat", "runs", "check", "--rules", rules, "gamma.run", "--format", "json")
    assert (here.exit_code, json.loads(here.stdout)) == (1, json.loads(there.stdout))
    assert "has no topic 9" in here.stderr
    assert "Docnos are not checked: “news” compares them with its documents. Give them by --docnos." in here.stderr
    usage = site("pat", "runs", "check", "news", "gamma.run", "--docnos", "gamma.run")
    assert (usage.exit_code, "--docnos needs --rules" in usage.stderr) == (2, True)
    Path("rules.json").write_bytes(
        Site(site.address, token_of(site.database, "pat")).content("/collections/news/run-rules")
    )
    Path("docnos.txt").write_text("a\nb\n")
    alone = CliRunner().invoke(main, ["runs", "check", "--rules", "rules.json", "--docnos", "docnos.txt", "gamma.run"])
    assert (alone.exit_code, "has no topic 9" in alone.stderr, "Docnos are" in alone.stderr) == (1, True, False)
    assert list(tmp_path.glob("*.sqlite")) == []


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--rules", "https://annotator.example.org/rules.json", "a.run"], "is no address of rules"),
        (["--rules", "missing.json", "a.run"], "missing.json"),
        (["--rules", "a.run", "a.run"], "The rules are not JSON"),
        (["--rules", "http://127.0.0.1:1/api/v1/collections/news/run-rules", "a.run"], "The site wants a token"),
        (["news"], "Missing argument 'FILE...'"),
    ],
)
def test_rules_that_cannot_be_read_are_refused(outside: None, words: list[str], wrong: str) -> None:
    del outside
    Path("a.run").write_text(GAMMA)
    result = CliRunner().invoke(main, ["runs", "check", *words])
    assert result.exit_code in {1, 2}
    assert wrong in result.stderr or wrong in str(result.exception)
