"""The context of a request: database, settings, clock, signed-in person and collection."""

from dataclasses import dataclass
from datetime import UTC, datetime

from flask import Flask, current_app, g

from annotator.errors import NotFoundError
from annotator.installed import installed_version
from annotator.settings import Settings
from annotator.storage import Database, Role, ScoresShown
from annotator.storage.people.accounts import Person
from annotator.storage.qrels.qrels_versions import ReleasedVersion
from annotator.workflows.agreement.model_requests import ModelAccess
from annotator.workflows.collections.collection import CollectionView
from annotator.workflows.documents.source_places import Reach, reach_of
from annotator.workflows.runs.engine_requests import EngineAccess

DATABASE = "annotator.database"
SETTINGS = "annotator.settings"
FIND_PERSON = "annotator.find_person"


@dataclass(frozen=True)
class Place:
    """The collection of a page, and the roles of the signed-in person in it."""

    collection: CollectionView
    roles: frozenset[Role]
    team: str | None
    sees: ScoresShown  # the scores visible to a participant

    @property
    def organises(self) -> bool:
        """Whether this person is an organiser of the collection."""
        return Role.ORGANISER in self.roles

    @property
    def judges(self) -> bool:
        """Whether this person is a judge of the collection."""
        return Role.JUDGE in self.roles

    @property
    def adjudicates(self) -> bool:
        """Whether this person is an adjudicator of the collection."""
        return Role.ADJUDICATOR in self.roles

    @property
    def observes(self) -> bool:
        """Whether this person is an observer of the collection."""
        return Role.OBSERVER in self.roles

    @property
    def reads_results(self) -> bool:
        """Whether this person may read the results before a release."""
        return self.organises or self.observes

    @property
    def scored_by(self) -> ReleasedVersion | None:
        """The version of the qrels that released scores are computed from; None before a release or for live grades."""
        return None if self.sees is ScoresShown.NOTHING else self.collection.released_version

    @property
    def participates(self) -> bool:
        """Whether this person is a participant, who submits runs for a team."""
        return Role.PARTICIPANT in self.roles


def install(app: Flask, settings: Settings, database: Database) -> None:
    """Make settings and database available to requests, and person and collection to templates."""
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
    """The current time; the pages use no other clock."""
    return datetime.now(UTC)


def current_person() -> Person | None:
    """The signed-in person, None for a guest; one query per request."""
    if "person" not in g:
        g.person = current_app.extensions[FIND_PERSON]()
    person: Person | None = g.person
    return person


def the_person() -> Person:
    """The signed-in person, on a page that requires signing in."""
    person = current_person()
    if person is None:
        raise NotFoundError("This page is for people who are signed in.")
    return person


def roles_here() -> frozenset[Role]:
    """The roles of the person in the collection of this page; none on a page of the site."""
    place: Place | None = g.get("place")
    return frozenset() if place is None else frozenset(place.roles)


def the_place() -> Place:
    """The collection of a page guarded by `collection_page`."""
    place: Place = g.place
    return place


def model_access() -> ModelAccess:
    """Where this server may send the texts for machine judges, and where the keys are."""
    return ModelAccess(settings().outgoing_hosts, settings().model_keys)


def engine_access() -> EngineAccess:
    """Which search engines this server may ask, and where their keys are."""
    return EngineAccess(settings().outgoing_hosts, settings().search_keys)


def reach() -> Reach:
    """What this server may read documents from."""
    chosen = settings()
    return reach_of(
        database(), hosts=chosen.outgoing_hosts, places=chosen.document_sources, index_folder=chosen.index_folder
    )
