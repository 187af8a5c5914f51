"""The command line on a site, as a test calls it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from calling import token_of
from cli.command_line import CommandLine
from click.testing import CliRunner, Result
from visiting import shared_application, with_database
from werkzeug.serving import make_server

from annotator.cli import main
from annotator.storage import Database


class Remote:
    """`annotator` on a site with the token of somebody."""

    def __init__(self, address: str, database: Database) -> None:
        """Keep where it is, and where its tokens are made."""
        self.address = address
        self.database = database

    def __call__(self, name: str, *words: str, given: str | None = None) -> Result:
        """Run a command as this person."""
        site = {"ANNOTATOR_SITE": self.address, "ANNOTATOR_TOKEN": token_of(self.database, name)}
        return CliRunner().invoke(main, words, input=given, env=site, catch_exceptions=False)

    def done(self, name: str, *words: str, given: str | None = None) -> str:
        """Run a command that must succeed; its standard output."""
        result = self(name, *words, given=given)
        assert result.exit_code == 0, result.output
        return result.stdout

    def refused(self, name: str, *words: str, given: str | None = None) -> list[str]:
        """Run a command that must be refused; the lines of its standard error."""
        result = self(name, *words, given=given)
        assert result.exit_code == 1, result.output
        return result.stderr.splitlines()

    def alike(self, name: str, *words: str) -> str:
        """Run a command on the site and on its database, and compare what both print; the standard output."""
        here = CommandLine(str(self.database.engine.url))(*words)
        there = self(name, *words)
        assert (there.exit_code, there.stdout, there.stderr) == (here.exit_code, here.stdout, here.stderr)
        return there.stdout


@contextmanager
def served(database: Database) -> Iterator[Remote]:
    """The site over a database, while the block lasts."""
    server = make_server("127.0.0.1", 0, with_database(shared_application(), database))
    # How long it takes to end is how seldom it looks whether it shall.
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield Remote(f"http://127.0.0.1:{server.server_port}/", database)
    server.shutdown()
    thread.join()
    server.server_close()
