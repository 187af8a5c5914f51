"""Completion of slugs and tags in a shell, from the database or the site that the line names."""

from contextlib import closing

import click

from annotator.client import Site
from annotator.errors import AnnotatorError
from annotator.settings import Settings
from annotator.storage import Database
from annotator.storage.site.schema import has_tables, prepare_schema
from annotator.workflows.collections.collection_list import collection_names
from annotator.workflows.runs.runs import list_runs

SLUG, TAG = "SLUG", "TAG"
MOST_NAMES = 1_000
SECONDS_TO_ANSWER = 3.0


def complete_names(kind: str, context: click.Context, begun: str) -> list[str]:
    """The slugs, or the tags of the runs of the collection on the line, that begin with what is typed.

    None when they cannot be read: there is nobody to whom a shell could show a reason.
    """
    root, slug = context.find_root().params, context.params.get("slug")
    if kind == TAG and not slug:
        return []
    try:
        names = _on_site(root, slug if kind == TAG else None) if root.get("site") else _here(root, kind, slug)
    except (AnnotatorError, OSError):
        return []
    return sorted({name for name in names if name.startswith(begun)})


def _here(root: dict[str, str | None], kind: str, slug: str | None) -> list[str]:
    settings = Settings.from_environment(file=root.get("settings_file"))
    with closing(Database(root.get("database_url") or settings.database_url)) as database:
        if not has_tables(database):
            return []
        prepare_schema(database)
        with database.reading() as session:
            if kind == TAG and slug is not None:
                return [sent.tag for sent in list_runs(session, slug)]
            return [name for name, _ in collection_names(session, most=MOST_NAMES)]


def _on_site(root: dict[str, str | None], slug: str | None) -> list[str]:
    with Site(root.get("site") or "", root.get("token"), seconds=SECONDS_TO_ANSWER) as site:
        if slug is not None:
            return [str(one["tag"]) for one in site.runs(slug)]
        return [str(one["slug"]) for one in site.collections()]
