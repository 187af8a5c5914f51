"""What a request can reach: the database, the clock, who is asking, and which collection it is about."""

from dataclasses import dataclass
from datetime import UTC, datetime

from flask import Flask, current_app, g

from annotator.errors import NotFoundError
from annotator.installed import installed_version
from annotator.settings import Settings
from annotator.storage import Database, Role, ScoresShown
from annotator.storage.people.accounts import Person
from annotator.storage.qrels.qrels_versions import ReleasedVersion
from annotator.workflows.collections.collection import CollectionView

DATABASE = "annotator.database"
SETTINGS = "annotator.settings"
FIND_PERSON = "annotator.find_person"


@dataclass(frozen=True)
class Place:
    """The collection a page is about, and what the person asking may do in it."""

    collection: CollectionView
    roles: frozenset[Role]
    team: str | None
    sees: ScoresShown  # of the scores, as a participant

    @property
    def organises(self) -> bool:
        """Whether this person runs the collection."""
        return Role.ORGANISER in self.roles

    @property
    def judges(self) -> bool:
        """Whether this person judges here."""
        return Role.JUDGE in self.roles

    @property
    def adjudicates(self) -> bool:
        """Whether this person decides here where judges differ."""
        return Role.ADJUDICATOR in self.roles

    @property
    def observes(self) -> bool:
        """Whether this person is here to read the results."""
        return Role.OBSERVER in self.roles

    @property
    def reads_results(self) -> bool:
        """Whether this person may read the results, whatever is released."""
        return self.organises or self.observes

    @property
    def scored_by(self) -> ReleasedVersion | None:
        """The version of the qrels that released scores are computed from; None before the release, and for live."""
        return None if self.sees is ScoresShown.NOTHING else self.collection.released_version

    @property
    def participates(self) -> bool:
        """Whether this person sends runs for a team."""
        return Role.PARTICIPANT in self.roles


def install(app: Flask, settings: Settings, database: Database) -> None:
    """Put within reach what every request needs, and tell the templates who is asking, and where."""
    app.extensions[DATABASE] = database
    app.extensions[SETTINGS] = settings
    app.jinja_env.globals["installed_version"] = installed_version()
    app.context_processor(lambda: {"person": current_person(), "place": g.get("place")})


def database() -> Database:
    """The database of this application."""
    found: Database = current_app.extensions[DATABASE]
    return found


def settings() -> Settings:
    """The settings of this application."""
    found: Settings = current_app.extensions[SETTINGS]
    return found


def now() -> datetime:
    """The present moment; the only clock of the pages."""
    return datetime.now(UTC)


def current_person() -> Person | None:
    """Who is signed in, None for a guest; the database is asked once in a request."""
    if "person" not in g:
        g.person = current_app.extensions[FIND_PERSON]()
    person: Person | None = g.person
    return person


def the_person() -> Person:
    """Who is signed in, on a page that nobody else reaches."""
    person = current_person()
    if person is None:
        raise NotFoundError("This page is for people who are signed in.")
    return person


def the_place() -> Place:
    """The collection of a page that `collection_page` guards."""
    place: Place = g.place
    return place
