"""`annotator questionnaire`: questions about runs and their answers, in the database or on the site of --site."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from annotator.cli.remote.either import on_database_or_site
from annotator.cli.site.files import FILE, read_text, write_or_print
from annotator.cli.site.installation import Installation, note, note_export
from annotator.cli.site.options import read_assignments
from annotator.cli.site.tables import format_option, show_rows
from annotator.client import Site
from annotator.client.site import in_path
from annotator.evaluation.runs.questionnaires import RunQuestion
from annotator.workflows.runs import questionnaires
from annotator.workflows.runs.questionnaires import Questionnaire, as_plain, questions_of, read_questionnaire


class StoredQuestionnaire:
    """The questionnaire of a collection in the local database."""

    def __init__(self, installation: Installation) -> None:
        """Use the database of the installation."""
        self._installation, self._database = installation, installation.database

    def show(self, slug: str, task: str | None) -> Sequence[RunQuestion]:
        """The questions asked now about runs of the task, or of none."""
        return self._database.read(questionnaires.show_questionnaire, slug, task).questions

    def replace(self, slug: str, questions: Sequence[RunQuestion], task: str | None) -> Questionnaire:
        """Ask these questions."""
        at = datetime.now(UTC)
        with self._database.transaction() as session:
            made = questionnaires.set_questionnaire(session, slug, questions, made_by_id=None, at=at, task=task)
            if made.is_new:
                details = {"questions": [one.key for one in made.questions], "task": task}
                note(session, "questionnaire.set", slug, subject=made.number, details=details)
        return made

    def export(self, slug: str, *, every: bool) -> bytes:
        """The answers as CSV."""
        write = questionnaires.every_answer_csv if every else questionnaires.answers_csv
        content = self._database.read(write, slug)
        table = "every" if every else "active"
        note_export(self._installation, "questionnaire.export", slug, details={"table": table})
        return content.encode()

    def answers(self, slug: str, tag: str) -> tuple[Mapping[str, str], Sequence[str]]:
        """The answers about a run by key, and the keys of those that are missing."""
        found = self._database.read(questionnaires.show_answers, slug, tag)
        return found.answers, found.missing

    def answer(self, slug: str, tag: str, given: Mapping[str, object]) -> None:
        """Change answers about a run; an empty one is taken back."""
        with self._database.transaction() as session:
            keys = questionnaires.change_answers(session, slug, tag, given, at=datetime.now(UTC))
            note(session, "questionnaire.answer", slug, subject=tag, details={"questions": keys})


class SiteQuestionnaire:
    """The questionnaire of a collection on a remote site, through its API."""

    def __init__(self, site: Site) -> None:
        """Use this site."""
        self._site = site

    def show(self, slug: str, task: str | None) -> Sequence[RunQuestion]:
        """The questions asked now about runs of the task, or of none."""
        return questions_of(self._site.get(f"/collections/{slug}/questionnaire", task=task)["questions"])

    def replace(self, slug: str, questions: Sequence[RunQuestion], task: str | None) -> Questionnaire:
        """Ask these questions."""
        path = f"/collections/{slug}/questionnaire"
        before: int = self._site.get(path, task=task)["number"]
        of_task = "" if task is None else f"?task={in_path(task)}"
        made: dict[str, Any] = self._site.put(f"{path}{of_task}", {"questions": as_plain(questions)})
        return Questionnaire(made["number"], questions_of(made["questions"]), is_new=made["number"] != before)

    def export(self, slug: str, *, every: bool) -> bytes:
        """The answers as CSV."""
        format_ = "every-csv" if every else "csv"
        return self._site.content(f"/collections/{slug}/questionnaire/answers", format=format_)

    def answers(self, slug: str, tag: str) -> tuple[Mapping[str, str], Sequence[str]]:
        """The answers about a run by key, and the keys of those that are missing."""
        found = self._site.get(f"/collections/{slug}/runs/{in_path(tag)}/answers")
        return found["answers"], found["missing"]

    def answer(self, slug: str, tag: str, given: Mapping[str, object]) -> None:
        """Change answers about a run; an empty one is taken back."""
        self._site.patch(f"/collections/{slug}/runs/{in_path(tag)}/answers", {"answers": dict(given)})


Questionnaires = StoredQuestionnaire | SiteQuestionnaire
on_questionnaire = on_database_or_site(StoredQuestionnaire, SiteQuestionnaire)
of_task_option = click.option(
    "--task", metavar="KEY", help="Of this task; one without questions of its own asks what the collection asks."
)


@click.group
def command() -> None:
    """The questionnaire about runs: questions of the organisers, answers of the teams."""


@command.command("show")
@click.argument("slug")
@of_task_option
@format_option()
@on_questionnaire
def show(asked: Questionnaires, slug: str, task: str | None, format_: str) -> None:
    """List the questions that are asked about every run."""
    show_rows(
        format_,
        ["KEY", "KIND", "REQUIRED", "QUESTION", "CHOICES"],
        [
            [one.key, one.kind, one.required, one.text, " | ".join(one.choices) or None]
            for one in asked.show(slug, task)
        ],
    )


@command.command("set")
@click.argument("slug")
@click.argument("file", type=FILE)
@of_task_option
@on_questionnaire
def replace(asked: Questionnaires, slug: str, file: str, task: str | None) -> None:
    """Ask the questions of a file in TOML or JSON from now on.

    Each of its `questions` has a key, a text, and optionally a kind (text, number, choice, yes-no, e-mail), choices and
    required. Answers that were given are kept with their questions.
    """
    made = asked.replace(slug, read_questionnaire(read_text(file)), task)
    present = f"Version {made.number} of the questionnaire is asked." if made.questions else "Nothing is asked."
    click.echo(present if made.is_new else f"Nothing changed. {present}", err=True)


@command.command("export")
@click.argument("slug")
@click.option("--all", "every", is_flag=True, help="Every answer that is kept, with its question, a line each.")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@on_questionnaire
def export(asked: Questionnaires, slug: str, output: str | None, *, every: bool) -> None:
    """Write the answers about the active runs as CSV, with a column for each question."""
    write_or_print(output, asked.export(slug, every=every), private=True)


@command.group("answers")
def answers() -> None:
    """The answers about a run."""


@answers.command("show")
@click.argument("slug")
@click.argument("tag")
@format_option()
@on_questionnaire
def show_answers(asked: Questionnaires, slug: str, tag: str, format_: str) -> None:
    """Show the answers about a run; those that are required and missing are named on standard error."""
    found, missing = asked.answers(slug, tag)
    show_rows(format_, ["KEY", "ANSWER"], [[key, answer] for key, answer in found.items()])
    if missing:
        click.echo(f"Required, and not answered: {', '.join(missing)}.", err=True)


@answers.command("set")
@click.argument("slug")
@click.argument("tag")
@click.argument("given", nargs=-1, required=True, metavar="KEY=ANSWER…")
@on_questionnaire
def set_answers(asked: Questionnaires, slug: str, tag: str, given: Sequence[str]) -> None:
    """Answer questions about a run, such as model=BM25 manual=no; KEY= alone takes an answer back, others are kept."""
    asked.answer(slug, tag, read_assignments(given))
    click.echo(f"Answered about {tag}.", err=True)
