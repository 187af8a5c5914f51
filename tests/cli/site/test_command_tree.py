"""The rules that hold for all commands: their verbs, where the collection is named, and what options mean."""

from collections import defaultdict
from collections.abc import Iterator

import click
import pytest
from cli.command_line import every_command

VERBS = {"list", "show", "add", "set", "remove", "import", "export"}
# Every other verb, with what it does that none of these says.
OWN_VERBS = {
    "webhooks test": "It sends something, where “check” only looks.",
    "mail retry": "what waits or was given up is sent now",
    "mail test": "sends something, where “check” only looks",
    "users reset-password": "makes a link by which somebody chooses a new password",
    "users reset-second-factor": "the account stays; only its owner turns a second factor on again",
    "users sign-out": "ends sessions; the account stays",
    "collections copy": "begins a collection with the settings of another one",
    "collections close": "a state: nothing is taken any more",
    "collections reopen": "a state: the end of being closed",
    "collections publish": "a folder for everybody, where “export” has all that the site has",
    "collections release": "scores are released to participants",
    "collections withhold": "the end of a release",
    "collections restore": "the end of being deleted",
    "deletions restore": "puts back what was deleted",
    "deletions purge": "removes deleted things for good",
    "topics accept": "a state: a draft is shown and pooled",
    "topics drop": "a state: the topic stays, with a reason, and counts no more",
    "topics restore": "the end of being dropped",
    "documents search": "finds documents by a query",
    "documents index": "makes the search index again",
    "documents source check": "asks the source for some documents; nothing is stored",
    "documents source fetch": "has a worker fetch texts now",
    "documents changed requeue": "has documents judged again",
    "documents changed confirm": "old grades hold for new texts",
    "runs check": "what import would say; nothing is stored",
    "gate": "fails a build when a run scores worse than a baseline",
    "runs fetch": "asks a search engine for every topic",
    "runs sources fetch": "asks the engine of a source",
    "runs compare": "two runs and their tests",
    "runs withdraw": "a state: the run and its file stay",
    "runs restore": "the end of being withdrawn",
    "rounds close": "a state of a round",
    "rounds open": "a state of a round",
    "pool build": "a strategy chooses what is added",
    "pool plan": "what a build would cost",
    "pool simulate": "strategies are tried on known judgements",
    "pool replay": "an adaptive pool is verified",
    "assignments balance": "topics are dealt out by what remains",
    "disagreements decide": "the grade of an adjudicator",
    "questions answer": "an answer to a judge or a participant",
    "questions ask": "a question to the organisers",
    "qrels keep": "the grades of this moment become a version",
    "qrels compare": "two versions of the qrels",
    "clicks check": "what add would say; nothing is stored",
    "clicks compare": "two variants and their tests",
    "clicks link": "a variant stands for a run",
    "judges machine compare": "two versions side by side",
    "judges machine run": "has a worker ask a model",
    "judges machine cancel": "a state: no further request is sent",
    "jobs cancel": "a state: nothing is stored for the job",
    "database upgrade": "the schema of this version",
    "database backup": "a copy as a file",
    "database restore": "a backup takes the place of the database",
    "database check": "whether everything is in order",
    "database copy": "into a database of either kind",
    "judge draw": "the queue gives out documents",
    "judge grade": "a judgement",
    "guidelines accept": "a judge goes by them from now on",
}
# These have no noun: they work on files alone, or are processes.
WITHOUT_NOUN = {"check", "compare", "evaluate", "interleave", "serve", "worker", "demo", "doctor"}
FORMATS = ["table", "csv", "json"]
# Nouns of the site; the others are of a collection, which is named first.
OF_THE_SITE = {"mail", "users", "tokens", "measures", "database", "jobs"}
# What is beside a collection, by command: the collection is made, or is one filter of several.
SLUG_ELSEWHERE = {
    "collections list",
    "collections import",
    "pool strategies list",
    "audit list",
    "deletions list",
    "deletions purge",
}
READS_FILES = {"clicks check", "clicks compare", "clicks positions show", "clicks interleaving show"}
READING = {"list", "show", "check", "compare", "plan", "search", "replay", "simulate"}
# Files with formats of their own, and a text.
OTHER_FORMATS = {"collections export", "judgements export", "qrels export", "guidelines show"}

COMMANDS = every_command()
ON_SITE = every_command(on_site=True)
BOTH = [*COMMANDS.items(), *ON_SITE.items()]


def options_of(command: click.Command) -> Iterator[click.Option]:
    return (one for one in command.params if isinstance(one, click.Option))


def long_names(option: click.Option) -> list[str]:
    return [name for name in (*option.opts, *option.secondary_opts) if name.startswith("--")]


def test_every_command_ends_in_a_verb() -> None:
    verbs = {words: words.split()[-1] for words, _ in BOTH if words not in WITHOUT_NOUN}
    assert {words for words, verb in verbs.items() if verb not in VERBS and words not in OWN_VERBS} == set()


def test_no_verb_of_its_own_is_listed_for_nothing() -> None:
    assert set(OWN_VERBS) <= {words for words, _ in BOTH}
    assert all(OWN_VERBS.values())


def test_the_collection_comes_first() -> None:
    wrong = {
        words
        for words, command in BOTH
        if words.split()[0] not in OF_THE_SITE
        and words not in WITHOUT_NOUN | SLUG_ELSEWHERE | READS_FILES
        and (
            not command.params or next(one.name for one in command.params if isinstance(one, click.Argument)) != "slug"
        )
    }
    assert wrong == set()


def test_every_option_has_a_help_text() -> None:
    wrong = {(words, *option.opts) for words, command in BOTH for option in options_of(command) if not option.help}
    assert wrong == set()


def test_everything_that_is_read_has_the_same_formats() -> None:
    wrong = {
        words: choices
        for words, command in BOTH
        if words not in OTHER_FORMATS
        and ((choices := formats_of(command)) or words.split()[-1] in READING)
        and choices[: len(FORMATS)] != FORMATS
    }
    assert wrong == {}


def formats_of(command: click.Command) -> list[str]:
    """The choices of `--format`, none when there is no such option."""
    types = [one.type for one in options_of(command) if "--format" in one.opts]
    return [str(choice) for type_ in types if isinstance(type_, click.Choice) for choice in type_.choices]


def test_an_option_takes_the_same_kind_of_thing_everywhere() -> None:
    kinds: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for words, command in BOTH:
        for option in options_of(command):
            for name in long_names(option):
                kinds[name][kind_of(option)].append(words)
    several = {name: dict(found) for name, found in kinds.items() if len(found) > 1}
    # A judge is a machine, or named to draw a sample by its labels.
    assert set(several.pop("--machine")) == {"NAME", "flag"}
    # Scores are released from a moment on; what is imported comes from a source.
    assert set(several.pop("--from")) == {"WHEN", "ir_datasets:NAME"}
    # Logs end at a moment, the choices of a pool by a stopping rule.
    assert set(several.pop("--until")) == {"WHEN", "RULE"}
    assert several == {}


@pytest.mark.parametrize("name", ["-m", "--topic"])
def test_it_is_repeatable_everywhere(name: str) -> None:
    once = {words for words, command in BOTH for one in options_of(command) if name in one.opts and not one.multiple}
    assert once == set()


def test_by_chooses_a_table_of_the_report_everywhere() -> None:
    tables = {words: one for words, command in BOTH for one in options_of(command) if "--by" in one.opts}
    assert {words for words, one in tables.items() if not isinstance(one.type, click.Choice)} == set()
    assert {
        words for words, one in tables.items() if not (one.help or "").startswith("One table of the report")
    } == set()
    assert len(tables) > 1


def kind_of(option: click.Option) -> str:
    if option.is_flag:
        return "flag"
    if isinstance(option.type, click.Choice):
        return "choice"
    return option.metavar or option.type.name


@pytest.mark.parametrize("name", ["judge", "check", "compare", "evaluate", "interleave", "measures", "clicks"])
def test_what_needs_no_database_is_listed_with_and_without_a_site(name: str) -> None:
    assert any(words.split()[0] == name for words in COMMANDS)
    assert any(words.split()[0] == name for words in ON_SITE)
