"""`annotator announcements`: texts for participants or all members, in the database or on the site of --site."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from annotator.cli.remote.either import on_database_or_site
from annotator.cli.site.files import FILE, read_text
from annotator.cli.site.installation import Installation, note
from annotator.cli.site.tables import Row, format_option, show_rows
from annotator.client import Site
from annotator.workflows.collections import announcements
from annotator.workflows.collections.announcements import NewAnnouncement

number_argument = click.argument("number", type=click.IntRange(1, 999_999_999))
everyone_option = click.option(
    "--everyone", is_flag=True, help="Show it to all members: also judges, adjudicators and observers."
)


class StoredAnnouncements:
    """The announcements of collections in the local database."""

    def __init__(self, installation: Installation) -> None:
        """Use the database of the installation."""
        self._database = installation.database

    def rows(self, slug: str) -> Sequence[Row]:
        """All announcements, newest first."""
        found = self._database.read(announcements.list_announcements, slug, participates=True)
        return [
            (one.id, one.published_at, one.changed_at, one.for_everyone, one.title or None, one.question, one.text)
            for one in found
        ]

    def add(self, slug: str, new: NewAnnouncement) -> int:
        """Publish one, and return its number."""
        with self._database.transaction() as session:
            number = announcements.announce(session, slug, new, published_by_id=None, published_at=datetime.now(UTC))
            note(session, "announcements.add", slug, subject=number, details={"everyone": new.for_everyone})
        return number

    def change(self, slug: str, number: int, new: NewAnnouncement) -> None:
        """Replace title, text and readers of one."""
        with self._database.transaction() as session:
            if announcements.change(session, slug, number, new, changed_at=datetime.now(UTC)):
                note(session, "announcements.change", slug, subject=number, details={"everyone": new.for_everyone})

    def remove(self, slug: str, number: int) -> None:
        """Withdraw one."""
        with self._database.transaction() as session:
            announcements.withdraw(session, slug, number)
            note(session, "announcements.remove", slug, subject=number)


class SiteAnnouncements:
    """The announcements of collections on a remote site, through its API."""

    def __init__(self, site: Site) -> None:
        """Use this site."""
        self._site = site

    def rows(self, slug: str) -> Sequence[Row]:
        """The announcements that the owner of the token sees, newest first."""
        names = ("number", "published_at", "changed_at", "for_everyone", "title", "question", "text")
        found = self._site.every(f"/collections/{slug}/announcements")
        return [[one[name] if one[name] != "" else None for name in names] for one in found]

    def add(self, slug: str, new: NewAnnouncement) -> int:
        """Publish one, and return its number."""
        made: dict[str, Any] = self._site.post(f"/collections/{slug}/announcements", vars(new))
        number: int = made["number"]
        return number

    def change(self, slug: str, number: int, new: NewAnnouncement) -> None:
        """Replace title, text and readers of one."""
        self._site.put(f"/collections/{slug}/announcements/{number}", vars(new))

    def remove(self, slug: str, number: int) -> None:
        """Withdraw one."""
        self._site.delete(f"/collections/{slug}/announcements/{number}")


Announcements = StoredAnnouncements | SiteAnnouncements
on_announcements = on_database_or_site(StoredAnnouncements, SiteAnnouncements)


@click.group
def command() -> None:
    """Announcements of the organisers for participants, or for all members."""


@command.command("list")
@click.argument("slug")
@format_option()
@on_announcements
def show(announced: Announcements, slug: str, format_: str) -> None:
    """List the announcements, and the answers that all participants see, newest first."""
    show_rows(
        format_,
        ["NUMBER", "PUBLISHED", "CHANGED", "EVERYONE", "TITLE", "QUESTION", "TEXT"],
        announced.rows(slug),
    )


@command.command("add")
@click.argument("slug")
@click.argument("title")
@click.argument("file", type=FILE)
@everyone_option
@on_announcements
def add(announced: Announcements, slug: str, title: str, file: str, *, everyone: bool) -> None:
    """Publish an announcement whose text, in Markdown, is in FILE; - is standard input.

    Those who want it get an e-mail with the title, if the site sends any.
    """
    number = announced.add(slug, NewAnnouncement(title, read_text(file), for_everyone=everyone))
    click.echo(f"Announcement {number} is published.", err=True)


@command.command("set")
@click.argument("slug")
@number_argument
@click.argument("title")
@click.argument("file", type=FILE)
@everyone_option
@on_announcements
def change(announced: Announcements, slug: str, number: int, title: str, file: str, *, everyone: bool) -> None:
    """Replace the title, the text and the readers of an announcement; no e-mail is sent."""
    announced.change(slug, number, NewAnnouncement(title, read_text(file), for_everyone=everyone))
    click.echo(f"Announcement {number} is changed.", err=True)


@command.command("remove")
@click.argument("slug")
@number_argument
@on_announcements
def remove(announced: Announcements, slug: str, number: int) -> None:
    """Withdraw an announcement; an answer is then shown to the team that asked alone."""
    announced.remove(slug, number)
    click.echo(f"Announcement {number} is withdrawn.", err=True)
