"""Machine judges that this site runs: their versions, each a model with a prompt and settings."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.machine_judging.completions import MOST_ALTERNATIVES, ModelRequest
from annotator.evaluation.machine_judging.prompts import (
    BUILT_IN,
    PLAIN,
    JudgedTopic,
    NamedGrade,
    check_prompt,
    cut_text,
    fill_prompt,
)
from annotator.evaluation.machine_judging.tokens import Prices
from annotator.evaluation.runs.rankings import decode_documents
from annotator.storage import MachineJudge, Topic, User
from annotator.storage.agreement.machine_judging import JudgedText, find_version, versions_of
from annotator.storage.agreement.machines import MachineFacts, find_or_add_labeller
from annotator.storage.collections.collection import find_collection, lock_open_collection, scale_of
from annotator.storage.runs.runs import lists_of_runs
from annotator.workflows.agreement.model_requests import ModelAccess
from annotator.workflows.site.host_keys import host_of
from annotator.workflows.site.outgoing import check_address

MOST_SAMPLES = 25
MOST_PARALLEL = 64
GREATEST_TEMPERATURE = 2.0
MOST_TEXT_TOKENS = 1_000_000
MOST_ANSWER_TOKENS = 100_000
LONGEST_MODEL = 200
LONGEST_PROMPT_NAME = 200


@dataclass(frozen=True)
class MachineSettings:
    """What a version of a machine judge asks, and how; the defaults are for one short answer without chance."""

    endpoint: str
    model: str
    prompt_name: str = PLAIN
    prompt: str = BUILT_IN[PLAIN]
    samples: int = 1
    temperature: float = 0.0
    text_tokens: int = 4_000
    answer_tokens: int = 100
    wants_probabilities: bool = False
    parallel: int = 8
    prices: Prices = field(default_factory=Prices)

    def check(self) -> None:
        """Raise `InvalidValueError` for what no request can be made of."""
        if not self.model.strip() or len(self.model) > LONGEST_MODEL:
            raise InvalidValueError("Name the model, in at most %(most)d characters.", most=LONGEST_MODEL)
        if not self.prompt_name.strip() or len(self.prompt_name) > LONGEST_PROMPT_NAME:
            raise InvalidValueError("Name the prompt, in at most %(most)d characters.", most=LONGEST_PROMPT_NAME)
        check_prompt(self.prompt)
        _check_range("samples", self.samples, 1, MOST_SAMPLES)
        _check_range("parallel", self.parallel, 1, MOST_PARALLEL)
        _check_range("text tokens", self.text_tokens, 1, MOST_TEXT_TOKENS)
        _check_range("answer tokens", self.answer_tokens, 1, MOST_ANSWER_TOKENS)
        if not 0 <= self.temperature <= GREATEST_TEMPERATURE:  # also refuses what is no number
            raise InvalidValueError("The temperature is a number from 0 to 2.")
        if self.samples > 1 and self.temperature == 0:
            raise InvalidValueError(
                "Several samples at temperature 0 would be the same answer several times: choose one sample, or a "
                "temperature above 0."
            )
        self.prices.check()


@dataclass(frozen=True)
class MachineVersion:
    """A version of a machine judge; `judge` is the name under which its labels are counted and compared."""

    id: int
    collection_id: int
    name: str
    number: int
    judge: str
    judge_id: int
    settings: MachineSettings
    added_by: str | None
    added_at: datetime

    @property
    def host(self) -> str:
        """Where the texts are sent."""
        return host_of(self.settings.endpoint)


@dataclass(frozen=True)
class PromptParts:
    """What a prompt is filled with beside a document: the topic and the scale."""

    topic: JudgedTopic
    scale: tuple[NamedGrade, ...]

    @property
    def grades(self) -> tuple[int, ...]:
        """The grades of the scale, lowest first."""
        return tuple(grade.value for grade in self.scale)


def add_version(
    session: Session,
    slug: str,
    name: str,
    settings: MachineSettings,
    *,
    access: ModelAccess,
    by_id: int | None,
    at: datetime,
) -> MachineVersion:
    """Add a machine judge, or a further version of it; its labels are those of the judge NAME-vN.

    Raises `InvalidValueError` for settings of which no request can be made, `NotAllowedError` for an endpoint that no
    administrator has named, and `ConflictError` for a version with the same settings, and where NAME-vN is a person or
    a machine with another model or prompt.
    """
    settings.check()
    check_address(settings.endpoint, access.hosts)
    collection = lock_open_collection(session, slug)
    others = [_version(session, *row) for row in versions_of(session, collection.id, name)]
    for other in others:
        if other.settings == settings:
            raise ConflictError(
                "Version %(number)d of “%(name)s” has exactly these settings.", number=other.number, name=name
            )
    number = len(others) + 1
    user = find_or_add_labeller(session, f"{name}-v{number}", MachineFacts(settings.model, settings.prompt), at)
    row = MachineJudge(
        collection_id=collection.id, name=name, version=number, user_id=user.id, added_by_id=by_id, added_at=at
    )
    prices = settings.prices
    row.price_sent, row.price_received, row.currency = prices.sent, prices.received, prices.currency
    for one in fields(settings):
        if one.name != "prices":
            setattr(row, one.name, getattr(settings, one.name))
    session.add(row)
    session.flush()
    return _version(session, row, user.name)


def list_versions(session: Session, slug: str, name: str | None = None) -> list[MachineVersion]:
    """The versions of a collection's machine judges, or of one, by name and number."""
    collection = find_collection(session, slug)
    return [_version(session, *row) for row in versions_of(session, collection.id, name)]


def show_version(session: Session, slug: str, name: str, number: int | None = None) -> MachineVersion:
    """A version of a machine judge, or the newest; raises `NotFoundError`."""
    return _version(session, *find_version(session, find_collection(session, slug).id, name, number))


def version_of_row(session: Session, row: MachineJudge) -> MachineVersion:
    """A version as a value."""
    return _version(session, row, session.scalars(select(User.name).where(User.id == row.user_id)).one())


def settings_table(version: MachineVersion) -> dict[str, object]:
    """Name → value of the settings, for commands and programs."""
    values = asdict(version.settings)
    prices = values.pop("prices")
    return {
        **values,
        "price_sent": prices["sent"],
        "price_received": prices["received"],
        "currency": prices["currency"],
    }


def noted(version: MachineVersion) -> dict[str, object]:
    """What the audit log keeps of a version."""
    return {"model": version.settings.model, "host": version.host, "samples": version.settings.samples}


def prompt_parts(session: Session, collection_id: int, topic_id: int) -> PromptParts | None:
    """The fields of a topic and the scale of its collection; None when the topic is gone."""
    topic = session.get(Topic, topic_id)
    if topic is None:
        return None
    return PromptParts(
        JudgedTopic(topic.number, topic.title, topic.description, topic.narrative),
        tuple(NamedGrade(one.value, one.name, one.description) for one in scale_of(session, collection_id)),
    )


def retrieved_documents(session: Session, collection_id: int, topic_id: int, depth: int) -> list[int]:
    """The ids of the documents that runs in force have for a topic up to a rank, in order."""
    found: set[int] = set()
    for run in lists_of_runs(session, collection_id, [topic_id]):
        found.update(decode_documents(run.lists.get(topic_id, b""))[:depth].tolist())
    return sorted(found)


def requests_for(settings: MachineSettings, parts: PromptParts, text: JudgedText) -> list[ModelRequest]:
    """The requests for a document, one for each sample."""
    body = cut_text(text.body, settings.text_tokens)
    prompt = fill_prompt(settings.prompt, parts.topic, text.title, body, parts.scale)
    alternatives = MOST_ALTERNATIVES if settings.wants_probabilities else 0
    return [
        ModelRequest(
            settings.endpoint,
            settings.model,
            prompt,
            settings.temperature,
            settings.answer_tokens,
            alternatives,
            sample,
        )
        for sample in range(1, settings.samples + 1)
    ]


def named_prompt(name: str) -> str:
    """The text of a built-in prompt; raises `InvalidValueError` for an unknown name."""
    if name not in BUILT_IN:
        raise InvalidValueError(
            "There is no built-in prompt “%(name)s”, but %(known)s.", name=name, known=", ".join(BUILT_IN)
        )
    return BUILT_IN[name]


def built_in_names() -> Sequence[str]:
    """The names of the built-in prompts."""
    return tuple(BUILT_IN)


def _version(session: Session, row: MachineJudge, judge: str) -> MachineVersion:
    values = {one.name: getattr(row, one.name) for one in fields(MachineSettings) if one.name != "prices"}
    prices = Prices(row.price_sent, row.price_received, row.currency)
    added_by = session.scalar(select(User.name).where(User.id == row.added_by_id))
    settings = MachineSettings(**values, prices=prices)
    return MachineVersion(
        row.id, row.collection_id, row.name, row.version, judge, row.user_id, settings, added_by, row.added_at
    )


def _check_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidValueError(
            "%(name)s: a whole number from %(least)d to %(most)d, not %(value)d.",
            name=name,
            least=least,
            most=most,
            value=value,
        )
