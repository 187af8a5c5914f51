"""The site that is judged while things break: two topics, each document of which wants two judgements."""

from pathlib import Path

from build import SECRET_KEY, document_file, member, news, pool, run, topic_file
from cli.command_line import CommandLine

from annotator.settings import Settings, sqlite_url
from annotator.storage import Database, Role
from annotator.storage.site.schema import prepare_schema

JUDGES = ("jo", "kim", "lee", "max")
ORGANISER = "ola"
DOCUMENTS = 300


def judged_site(path: Path) -> Settings:
    """Make it in a new file."""
    settings = Settings(secret_key=SECRET_KEY, database_url=sqlite_url(path))
    database = Database(settings.database_url)
    prepare_schema(database)
    docnos = [f"d{number}" for number in range(DOCUMENTS)]
    with database.transaction() as session:
        news(session, judgements_wanted=2)
        topic_file(session)
        document_file(session, docnos)
        run(session, "alpha", {"1": docnos[: DOCUMENTS // 2], "2": docnos[DOCUMENTS // 2 :]})
        pool(session, depth=DOCUMENTS)
        for name in JUDGES:
            member(session, name)
        member(session, ORGANISER, Role.ORGANISER)
    database.close()
    return settings


def is_in_order(settings: Settings, acknowledged: list[str]) -> None:
    """Ask `annotator database check` about the file, every count and every judgement that was acknowledged."""
    annotator = CommandLine(settings.database_url)
    result = annotator("database", "check", "--strict", "--acknowledged", "-", given="\n".join(acknowledged))
    assert result.exit_code == 0, result.stdout + result.stderr
    assert "In order: " in result.stderr
