"""Run files checked by the rules of a collection elsewhere, without a database: a file of rules, or their address."""

import click

from annotator.cli.site.files import read_text
from annotator.client import Site
from annotator.client.site import ROOT
from annotator.errors import InvalidValueError
from annotator.evaluation.runs.checking_rules import CheckingRules, ComparedWith
from annotator.evaluation.runs.docno_lists import ReadDocnos
from annotator.workflows.runs.file_checks import read_rules

ADDRESSES = ("https://", "http://")


def rules_at(source: str) -> CheckingRules:
    """The rules in a file, or at an address of the API, which is asked with the token of the command line."""
    if not source.startswith(ADDRESSES):
        return read_rules(read_text(source))
    address, root, path = source.partition(ROOT)
    if not root:
        raise InvalidValueError(
            "“%(address)s” is no address of rules: https://…/api/v1/collections/SLUG/run-rules.", address=source
        )
    token: str | None = click.get_current_context().find_root().params["token"]
    with Site(address, token) as site:
        content = site.content(path)
    try:
        return read_rules(content.decode())
    except UnicodeDecodeError as error:
        raise InvalidValueError("What is at “%(address)s” is not text in UTF-8.", address=source) from error


def warn_about_docnos(rules: CheckingRules, docnos: ReadDocnos | None) -> None:
    """Say on standard error when the collection also compares docnos, with what the rules do not contain."""
    if docnos is None and rules.compared_with is not ComparedWith.NOTHING:
        click.echo(
            f"Docnos are not checked: “{rules.collection}” compares them with its {NAMES[rules.compared_with]}. Give "
            "them by --docnos.",
            err=True,
        )


NAMES = {
    ComparedWith.LIST: "list of valid docnos",
    ComparedWith.FOLDER: "folder of documents",
    ComparedWith.TEXTS: "documents",
}
