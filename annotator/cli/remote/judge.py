"""`annotator --site URL judge`: draw documents and submit grades, for a judge that is a program."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import click

from annotator.cli.remote.site import on_site
from annotator.cli.site.files import FILE, read_text
from annotator.cli.site.tables import format_option, show_rows
from annotator.client import Site, SiteError
from annotator.errors import InvalidValueError, Problems

AT_ONCE = 100


@dataclass(frozen=True)
class Work:
    """The addresses of a kind of work, below the collection, and the columns of its list of topics."""

    topics: str
    documents: str
    judgements: str
    columns: tuple[str, ...]


JUDGING = Work("judging", "judging/documents", "judgements", ("number", "judged", "waiting", "put_off", "title"))
ADJUDICATION = Work(
    *("adjudicating", "adjudicating/documents", "adjudicating/decisions"),
    columns=("number", "decided", "waiting", "put_off", "title"),
)
adjudicate_option = click.option(
    "--adjudicate",
    "adjudicates",
    is_flag=True,
    help="Work as an adjudicator: on documents in dispute, with decisions instead of judgements.",
)


@click.group
def command() -> None:
    """Judge on a site by a program: list topics with documents to judge, draw documents, grade them.

    `annotator guidelines` on a site shows the guidelines and accepts them. With --adjudicate, the documents are those
    in dispute.
    """


@command.command("list")
@click.argument("slug")
@adjudicate_option
@format_option()
@on_site
def list_topics(site: Site, slug: str, format_: str, *, adjudicates: bool) -> None:
    """List the topics that have documents for you."""
    work = _work(adjudicates=adjudicates)
    show_rows(
        format_,
        [name.upper().replace("_", " ") for name in work.columns],
        [[row[name] for name in work.columns] for row in site.every(f"/collections/{slug}/{work.topics}")],
    )


@command.command("draw")
@click.argument("slug")
@click.argument("topic")
@adjudicate_option
@on_site
def draw(site: Site, slug: str, topic: str, *, adjudicates: bool) -> None:
    """Draw documents of a topic, at most eight, and print each as a JSON object on a line, with its topic.

    The output is empty if no documents are waiting. Documents are reserved for 30 minutes from your last call; asking
    again before judging returns the same ones.
    """
    drawn = site.post(f"/collections/{slug}/{_work(adjudicates=adjudicates).documents}", {"topic": topic})
    for document in drawn["documents"]:
        click.echo(json.dumps({**document, "topic": drawn["topic"]}, ensure_ascii=False).encode())


@command.command("grade")
@click.argument("slug")
@click.argument("assignment", type=click.IntRange(0))
@click.argument("grade", type=int)
@click.option("--note", default="", metavar="TEXT", help="The reason of the grade.")
@adjudicate_option
@on_site
def grade_one(site: Site, slug: str, assignment: int, grade: int, note: str, *, adjudicates: bool) -> None:
    """Grade a document that you drew, by its assignment number."""
    _store(site, slug, _work(adjudicates=adjudicates), [{"assignment": assignment, "grade": grade, "note": note}])


@command.command("import")
@click.argument("slug")
@click.argument("file", type=FILE)
@adjudicate_option
@on_site
def import_grades(site: Site, slug: str, file: str, *, adjudicates: bool) -> None:
    """Grade documents from JSON lines, such as {"assignment": 7, "grade": 1}; a line that is sent twice is stored once.

    A line may also have "note", "seconds" and "evidence", "cannot_judge" instead of a grade, and an "id" of your own.
    """
    _store(site, slug, _work(adjudicates=adjudicates), _lines(file, read_text(file)))


@click.group
def guidelines() -> None:
    """Guidelines for judges of a collection on a site."""


@guidelines.command("show")
@click.argument("slug")
@on_site
def show_guidelines(site: Site, slug: str) -> None:
    """Print the guidelines and their version; you can draw documents once you have accepted the newest."""
    found = site.get(f"/collections/{slug}/guidelines")
    click.echo(found["text"].encode())
    click.echo(f"Version {found['number']} of the guidelines.", err=True)


@guidelines.command("accept")
@click.argument("slug")
@click.argument("version", type=click.IntRange(1))
@on_site
def accept_guidelines(site: Site, slug: str, version: int) -> None:
    """Accept a version of the guidelines that you have read."""
    site.post(f"/collections/{slug}/guidelines/acceptances", {"number": version})
    click.echo(f"Accepted version {version} of the guidelines.", err=True)


def _work(*, adjudicates: bool) -> Work:
    return ADJUDICATION if adjudicates else JUDGING


def _lines(name: str, text: str) -> list[dict[str, Any]]:
    problems, found = Problems(), []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            one = json.loads(line)
        except (ValueError, RecursionError):
            one = None
        if isinstance(one, dict) and "assignment" in one:
            found.append(one)
        else:
            problems.add(name, number, "This is no JSON object with an “assignment”.")
    problems.refuse_if_any()
    if not found:
        raise InvalidValueError("The file “%(file)s” has no judgement.", file=name)
    return found


def _store(site: Site, slug: str, work: Work, judgements: list[dict[str, Any]]) -> None:
    """Submit judgements by the hundred; rejected ones are reported, the others stored."""
    stored, refused = 0, []
    for first in range(0, len(judgements), AT_ONCE):
        some = [{"id": _id_of(one), **one} for one in judgements[first : first + AT_ONCE]]
        try:
            answer = site.post(f"/collections/{slug}/{work.judgements}", {"judgements": some})
        except SiteError as refusal:
            click.echo(f"Judgements stored: {stored}.", err=True)
            raise refusal from None
        stored += len(answer["acknowledged"])
        refused += [f"{one['id']}: {one['detail']}" for one in answer["refused"]]
    for line in refused:
        click.echo(line, err=True)
    click.echo(f"Judgements stored: {stored}.", err=True)
    if refused:
        raise SiteError("Judgements refused: %(count)d.", count=len(refused))


def _id_of(judgement: dict[str, Any]) -> str:
    """An id derived from the judgement, so that repeated submissions are recognised."""
    words = json.dumps(judgement, sort_keys=True).encode()
    return f"command-{hashlib.sha256(words).hexdigest()[:32]}"
