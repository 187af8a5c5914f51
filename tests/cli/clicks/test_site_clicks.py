"""`annotator --site URL clicks`: what it stores and shows is what the command on the site's own database does."""

from pathlib import Path

import pytest
from build import document_file, labels
from cli.remote_site import Remote, served
from clicking import interleaving_text, log_text
from kept import Kept
from worker.at_work import work

from annotator.api.site import jobs_asked
from annotator.storage import Database

FORMATS = ["table", "csv", "json"]


@pytest.fixture
def studied(site: Remote, kept: Kept) -> Remote:
    """Judges prefer beta; a log of alpha and beta, of whose top document x is not pooled, and one of lists."""
    Path("log.csv").write_text(log_text())
    Path("lists.csv").write_text(interleaving_text())
    kept.fill(site.database, add_logs)
    return site


def add_logs(database: Database) -> None:
    with database.transaction() as session:
        document_file(session, ["x"])
        labels(session, "nist", "1 0 d 2\n1 0 a 0\n2 0 e 1\n2 0 a 0\n")
    with served(database) as site:
        site.done("ola", "clicks", "add", "news", "lists.csv", "--name", "Lists", "--interleaving")
        site.done("ola", "clicks", "add", "news", "log.csv", "--name", "March/April")


def test_a_log_is_added_with_what_it_is_read_by(site: Remote) -> None:
    Path("log.csv").write_text(log_text(variants={"beta": "new"}).replace("user", "visitor", 1))
    words = (
        "clicks",
        "add",
        "news",
        "log.csv",
        "--column",
        "user=visitor",
        "--variants",
        "alpha",
        "new",
        "--name",
        "M",
    )
    assert site("ola", *words).stderr.splitlines() == [
        "Added the click log M: 320 lines, 0 left out.",
        "alpha stands for the run alpha.",
        "new stands for no run.",
    ]
    assert site.alike("ola", *words) == ""  # the name is taken
    Path("bad.csv").write_text("nothing\n")
    assert "bad.csv" in site.refused("ola", "clicks", "add", "news", "bad.csv", "--name", "Bad")[0]


def test_files_of_one_log_and_their_lists_are_sent_together(site: Remote) -> None:
    log = interleaving_text(3, 1, 0).replace(",alpha,", ",1,").replace(",beta,", ",1,")
    Path("log.csv").write_text(log)
    Path("lists.tsv").write_text(
        "topic\tlist\tposition\tdocno\tteam\talpha\tbeta\n1\t1\t1\ta\talpha\t1\t3\n1\t1\t2\td\tbeta\t-\t1\n"
    )
    site.done("ola", "clicks", "add", "news", "log.csv", "--name", "Lists", "--lists", "lists.tsv")
    assert "interleaving" in site.alike("ola", "clicks", "list", "news")


def test_a_large_log_is_waited_for(site: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_asked, "MOST_AT_ONCE", 0)
    monkeypatch.setattr("annotator.client.site.pause", lambda _seconds: work(site.database))
    Path("log.csv").write_text(log_text())
    site.done("ola", "clicks", "add", "news", "log.csv", "--name", "March")
    assert "March" in site.alike("ola", "clicks", "list", "news")


@pytest.mark.parametrize("format_", FORMATS)
def test_logs_are_listed_and_shown_as_on_the_database_of_the_site(studied: Remote, format_: str) -> None:
    assert "March/April" in studied.alike("ola", "clicks", "list", "news", "--format", format_)
    for name in ("March/April", "Lists"):
        assert "alpha" in studied.alike("ola", "clicks", "show", "news", name, "--by", "variants", "--format", format_)
        assert studied.alike("ola", "clicks", "show", "news", name, "--format", format_)
    assert studied.alike("ola", "clicks", "show", "news", "Lists", "--by", "days", "--format", "csv") == ""


def test_variants_are_linked_and_logs_removed(studied: Remote) -> None:
    studied.done("ola", "clicks", "link", "news", "March/April", "alpha=", "beta=alpha")
    studied.alike("ola", "clicks", "list", "news", "--format", "json")
    studied.done("ola", "clicks", "remove", "news", "March/April")
    assert "March" not in studied.alike("ola", "clicks", "list", "news")
    for words in (["remove"], ["link", "alpha="], ["link", "alpha"], ["show"]):
        verb, *links = words
        assert studied.alike("ola", "clicks", verb, "news", "March/April", *links) == ""


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    "words", [[], ["-m", "P@1", "-m", "AP", "--log", "March/April"], ["--by", "documents"]], ids=" ".join
)
def test_clicks_stand_beside_judgements(studied: Remote, words: list[str], format_: str) -> None:
    assert studied.alike("ola", "clicks", "together", "show", "news", *words, "--format", format_)


def test_clicked_documents_go_into_the_pool(studied: Remote) -> None:
    words = ("clicks", "together", "show", "news", "--log", "March/April", "--add-to-pool")
    assert "Version 2 of the pool: 1 added." in studied("ola", *words).stderr
    assert studied.alike("ola", *words)


def test_click_logs_are_for_organisers(studied: Remote) -> None:
    for words in (
        ["list", "news"],
        ["show", "news", "Lists"],
        ["remove", "news", "Lists"],
        ["together", "show", "news"],
    ):
        assert studied.refused("pat", "clicks", *words) == ["Your role in this collection does not open this."]
