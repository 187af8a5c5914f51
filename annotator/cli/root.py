"""The root of the command line: the nouns, the global options, and the printing of errors."""

import os
import re
import shlex
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from errno import EDQUOT, EFBIG, EIO, ENOSPC
from importlib import import_module
from pathlib import Path
from signal import SIGINT
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from annotator.cli.described_commands import described, is_enough
from annotator.cli.remote.given import ANYWHERE, GIVEN, ONLY_ON_SITE, SiteGiven, command_on_site
from annotator.cli.remote.given import NOUNS as ON_SITE
from annotator.errors import AnnotatorError, FileRefusedError
from annotator.installed import DISTRIBUTION, how_to_install
from annotator.settings import SETTINGS_FILE, Settings

# user:password@host, or ?password=; a malformed URL is rejected later, when the database is opened.
WITH_PASSWORD = re.compile(r"//[^/:]*:[^/]+@|[?&]password=")
REFUSED = 1
INTERRUPTED = 128 + SIGINT  # as in shells
# Administrators' commands, which warn when a settings file is not safe.
KEEPING_A_SITE = frozenset({"serve", "database", "doctor"})
# Errors of writing when the disk is full or fails.
CANNOT_WRITE = frozenset({EDQUOT, EFBIG, EIO, ENOSPC})


@dataclass(frozen=True)
class Noun:
    """A command: its module, its summary in the list of commands, and its name in the module."""

    module: str
    summary: str
    name: str = "command"  # in the module


NOUNS: Mapping[str, Noun] = {
    "users": Noun("annotator.cli.people.users", "Accounts: add, list, set a new password, sign out."),
    "collections": Noun(
        "annotator.cli.collections.collection", "Collections: add, list, show, change, release scores, close."
    ),
    "members": Noun("annotator.cli.people.members", "Members of a collection and their roles."),
    "invitations": Noun(
        "annotator.cli.people.members", "Invitations: links to a role or a new account.", "invitations_group"
    ),
    "tokens": Noun("annotator.cli.people.users", "Tokens: let programs use the API for an account.", "tokens_group"),
    "mail": Noun("annotator.cli.site.mail", "E-mail of the site: list, send again, try the mail server."),
    "guidelines": Noun("annotator.cli.collections.guidelines", "Guidelines for judges, in Markdown."),
    "training": Noun("annotator.cli.judging.training", "Training: documents with known grades, before real work."),
    "topics": Noun("annotator.cli.topics.topics", "Topics: import, draft, accept, drop; flag the weak ones."),
    "documents": Noun("annotator.cli.documents.documents", "Documents: import texts, list missing ones, search."),
    "runs": Noun("annotator.cli.runs.runs", "Runs: check, import, correct, withdraw, list, export."),
    "rounds": Noun("annotator.cli.collections.rounds", "Rounds of runs: list, close, open the next one."),
    "tasks": Noun("annotator.cli.runs.tasks", "Tasks of a collection, each with topics and rules of its own."),
    "questionnaire": Noun("annotator.cli.runs.questionnaire", "Questions about every run, and the answers of teams."),
    "pool": Noun("annotator.cli.pools.pool", "The pool: build it from the runs, show its progress."),
    "assignments": Noun("annotator.cli.judging.assignments", "Owners of topics: assigned by hand, or balanced."),
    "gold-questions": Noun(
        "annotator.cli.judging.training", "Gold questions: documents with a known grade.", "gold_questions_group"
    ),
    "judge": Noun("annotator.cli.remote.judge", ON_SITE["judge"][2]),
    "judgements": Noun("annotator.cli.judging.judgements", "Judgements: import labels, export all judgements."),
    "questions": Noun(
        "annotator.cli.judging.judgements", "Questions of judges and participants, and the answers.", "questions_group"
    ),
    "clarifications": Noun(
        "annotator.cli.judging.judgements", "Clarifications for all judges of a topic.", "clarifications_group"
    ),
    "announcements": Noun(
        "annotator.cli.collections.announcements", "Announcements for participants, or for all members."
    ),
    "agreement": Noun("annotator.cli.agreement.agreement", "Agreement of the judges beyond chance."),
    "disagreements": Noun("annotator.cli.agreement.disagreements", "Documents on which judges differ, worst first."),
    "judges": Noun(
        "annotator.cli.agreement.judge_quality", "Judges' work: pace, leniency, drift, hours; machine judges."
    ),
    "adjudication": Noun(
        "annotator.cli.agreement.disagreements",
        "Disputed documents and the decisions about them.",
        "adjudication",
    ),
    "qrels": Noun("annotator.cli.qrels.qrels", "Qrels: export the settled grades."),
    "leaderboard": Noun("annotator.cli.leaderboard.leaderboard", "The leaderboard: scores of all runs."),
    "gate": Noun("annotator.cli.leaderboard.gate", "Fail a build when a run scores worse than a baseline."),
    "costs": Noun("annotator.cli.leaderboard.costs", "Costs of each system, beside its scores."),
    "significance": Noun(
        "annotator.cli.leaderboard.significance", "Significance: which runs differ by more than chance."
    ),
    "correlation": Noun(
        "annotator.cli.leaderboard.significance",
        "Rankings by two measures or versions of the qrels.",
        "correlation_group",
    ),
    "clicks": Noun("annotator.clicks.cli.clicks", "Click logs: check them, compare variants of a search."),
    "interleave": Noun(
        "annotator.clicks.cli.clicks_interleaving",
        "Interleave two or more runs into lists for users.",
        "interleave_runs",
    ),
    "report": Noun("annotator.cli.leaderboard.report", "A report of the collection, for an overview paper."),
    "check": Noun("annotator.cli.runs.runs", "Check run files by a file of topics; no database.", "check_files"),
    "compare": Noun("annotator.cli.runs.run_comparison", "Compare two run files by a qrels file; no database."),
    "evaluate": Noun("annotator.cli.leaderboard.evaluate", "Score run files against a qrels file; no database."),
    "measures": Noun(
        "annotator.cli.leaderboard.evaluate",
        "The measures and their definitions.",
        "measures_group",
    ),
    "webhooks": Noun("annotator.cli.collections.webhooks", "Webhooks: send events to other programs."),
    "deletions": Noun("annotator.cli.collections.deletions", "Deletions: list, restore, or purge what was deleted."),
    "jobs": Noun("annotator.cli.site.jobs", "Background jobs: list them, show one, cancel it."),
    "audit": Noun("annotator.cli.collections.audit", "The audit log: who did what, by page, command or program."),
    "database": Noun("annotator.cli.site.database", "The database: upgrade, back up, restore, check, copy."),
    "doctor": Noun("annotator.cli.site.doctor", "Examine this installation, with advice on what is wrong."),
    "serve": Noun("annotator.cli.serving.serve", "Serve the site, with two workers for long jobs."),
    "worker": Noun("annotator.cli.serving.worker", "Run background jobs: large imports, reports."),
    "demo": Noun("annotator.cli.serving.demo", "Create the demonstration and serve it."),
}


# Earlier names of nouns: they still work, and are neither listed nor completed.
FORMER_NAMES = {"test-questions": "gold-questions"}


class Root(click.Group):
    """The root group; the module of a noun is imported only when a command of it runs, not for help or completion."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The nouns in the order of the workflow, from topics to leaderboard; on a site, those available there."""
        return [name for name in NOUNS if not _is_on_site(ctx) or name in ON_SITE or name in ANYWHERE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of a noun, or its version for remote sites."""
        if cmd_name not in NOUNS:
            return None
        if cmd_name in ONLY_ON_SITE or (_is_on_site(ctx) and cmd_name not in ANYWHERE):
            return command_on_site(cmd_name)
        command: click.Command = getattr(import_module(NOUNS[cmd_name].module), NOUNS[cmd_name].name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command on the line; for help and completion, its description without importing it."""
        args = [FORMER_NAMES.get(args[0], args[0]), *args[1:]]
        noun, *rest = args
        if noun in self.list_commands(ctx):
            command = described(noun, on_site=_is_on_site(ctx), load=lambda: self.get_command(ctx, noun))
            if command is not None and is_enough(ctx, command, rest):
                return noun, command, rest
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the nouns without importing them."""
        summaries = {name: NOUNS[name].summary for name in self.list_commands(ctx)}
        if _is_on_site(ctx):
            summaries |= {name: summary for name, (_, _, summary) in ON_SITE.items()}
        with formatter.section("Commands"):
            formatter.write_dl(list(summaries.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the nouns without importing them, which click would do to skip hidden ones."""
        nouns = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=NOUNS[name].summary) for name in nouns), *options]

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - the signature is click's
        """Run a command; errors go to standard error, one reason per line, with exit status 1."""
        try:
            return super().invoke(ctx)
        except AnnotatorError as refusal:
            for problem in refusal.problems if isinstance(refusal, FileRefusedError) else ():
                click.echo(problem, err=True)
            click.echo(refusal, err=True)
            ctx.exit(REFUSED)
        except ModuleNotFoundError as missing:
            if (missing.name or "").partition(".")[0] in {"", "annotator"}:
                raise
            click.echo(
                f"This command needs the packages of the server, and {missing.name} is not installed here: "
                f"{how_to_install('server')}.",
                err=True,
            )
            ctx.exit(REFUSED)
        except KeyboardInterrupt:
            _end_interrupted(ctx)
        except click.Abort as ended:
            # click raises this at a prompt, also at the end of the input.
            if not isinstance(ended.__context__, KeyboardInterrupt):
                raise
            _end_interrupted(ctx)
        except OSError as error:
            # Errors about a file have its name; without a name it is standard output.
            if error.filename is not None or error.errno not in CANNOT_WRITE:
                raise
            click.echo(f"Standard output cannot be written: {error.strerror}.", err=True)
            # A leftover buffer would fail again when Python exits, with another exit status.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            ctx.exit(REFUSED)


def _end_interrupted(context: click.Context) -> NoReturn:
    click.echo("Interrupted.", err=True)
    context.exit(INTERRUPTED)


def _is_on_site(context: click.Context) -> bool:
    """Whether --site is given; also for the list of commands, which is shown before that option is parsed."""
    return bool(context.params.get("site", os.environ.get("ANNOTATOR_SITE")))


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--database", "database_url", metavar="URL", help="Use this database, not that of ANNOTATOR_DATABASE_URL."
)
@click.option(
    "--settings", "settings_file", metavar="FILE", help="Read this TOML file, not that of ANNOTATOR_SETTINGS."
)
@click.option(
    "--site",
    envvar="ANNOTATOR_SITE",
    metavar="URL",
    help=f"Work on this site, by its API: {', '.join(ON_SITE)}. Also ANNOTATOR_SITE.",
)
@click.option("--token", envvar="ANNOTATOR_TOKEN", metavar="TOKEN", help="Of your account there. Also ANNOTATOR_TOKEN.")
@click.version_option(package_name=DISTRIBUTION)
@click.pass_context
def main(
    context: click.Context, database_url: str | None, settings_file: str | None, site: str | None, token: str | None
) -> None:
    """Pool the runs of many search systems, have people judge the documents, score every run.

    Data go to standard output, talk to standard error. The status is 0 when done, 1 when refused, 2 for wrong usage,
    130 after Ctrl-C.
    """
    if site:
        if database_url:
            raise click.UsageError("A command works on a --site or on a --database.")
        context.meta[GIVEN] = SiteGiven(site, token)
    settings = Settings.from_environment(file=settings_file)
    file = settings_file or os.environ.get(SETTINGS_FILE)
    if file and context.invoked_subcommand in KEEPING_A_SITE:
        warn_if_others_read(file)
    context.obj = replace(settings, database_url=database_url) if database_url else settings


def warn_if_others_read(path: str) -> None:
    """Warn on standard error when a settings file with a secret is readable by other accounts of the machine.

    The file was read before, so it exists and is valid TOML.
    """
    mode = Path(path).stat().st_mode
    # A pipe or the like can be read only once.
    if not stat.S_ISREG(mode) or not mode & stat.S_IROTH:
        return
    held = _secrets(path)
    if held:
        click.echo(
            f"WARNING: every account of this machine can read {click.format_filename(path)}, which holds "
            f"{' and '.join(held)}. Run: chmod 600 {shlex.quote(path)}",
            err=True,
        )


def _secrets(path: str) -> list[str]:
    settings = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    secrets = {
        "the secret key": bool(settings.get("secret_key")),
        "the password of the database": bool(WITH_PASSWORD.search(str(settings.get("database_url", "")))),
    }
    return [name for name, is_held in secrets.items() if is_held]
