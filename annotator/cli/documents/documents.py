"""`annotator documents`: import, list and search the documents to judge."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from annotator.cli.collections import deletions
from annotator.cli.documents import docno_lists, sources
from annotator.cli.site.files import FILE
from annotator.cli.site.input_files import from_option, given_files, input_format_option
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.options import dry_run_option, show_outcome
from annotator.cli.site.progress import steps_shown, watched
from annotator.cli.site.tables import JSON, Cell, format_option, show_rows, show_values
from annotator.errors import BusyError
from annotator.evaluation.formats.input_formats import Holds
from annotator.workflows.documents import documents, search, search_adding, source_search
from annotator.workflows.documents.search import FoundDocument

some_documents = click.argument("docnos", nargs=-1, metavar="[DOCNO...]")


@click.group
def command() -> None:
    """Documents: import, show and search texts, list missing and changed ones; the source of texts."""


@command.command("import")
@click.argument("slug")
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE...]")
@click.option(
    "--field", "fields", multiple=True, metavar="OURS=THEIRS", help="A key of the JSONL, such as body=text; repeatable."
)
@input_format_option(Holds.DOCUMENTS)
@from_option
@dry_run_option
@on_installation
def import_files(
    installation: Installation,
    slug: str,
    files: Sequence[str],
    fields: Sequence[str],
    input_format: str | None,
    sources: Sequence[str],
    *,
    dry_run: bool,
) -> None:
    """Import documents: JSON, TREC SGML, DOCNO<TAB>TITLE<TAB>BODY, CSV with a heading or Parquet, also compressed.

    A folder is one of BEIR or of Hugging Face's datasets.
    An existing document takes the new text.
    """
    mapping = documents.parse_fields(fields)
    limit = installation.settings.unpacked_limit
    read = given_files(files, Holds.DOCUMENTS, input_format=input_format, sources=sources, unpacked_limit=limit)
    with watched(read) as given:
        parsed = documents.read_documents(given, fields=mapping, unpacked_limit=limit)
    with installation.database.transaction(keep=not dry_run) as session:
        done = documents.import_documents(session, slug, parsed, at=datetime.now(UTC), index_at_once=False)
        note(session, "documents.import", slug, subject=", ".join((*files, *sources)), details=vars(done))
    counts = (
        f"Documents: {done.added} added, {done.filled} given their text, {done.changed} changed, "
        f"{done.unchanged} unchanged."
    )
    show_outcome(counts, dry_run=dry_run)
    if dry_run:
        return
    _index_rest(installation, done.added + done.filled + done.changed)


@command.group("missing")
def missing() -> None:
    """Pooled documents without a text."""


@missing.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_missing(installation: Installation, slug: str, format_: str) -> None:
    """List the pooled documents that have no text yet."""
    rows = installation.database.read(documents.missing_documents, slug)
    show_rows(format_, ["DOCNO"], [[row.docno] for row in rows])
    click.echo(f"Documents of the pool without text: {len(rows)}.", err=True)


@command.group("changed")
def changed() -> None:
    """Documents whose text has changed since they were judged: list them, keep their grades or judge them again."""


@changed.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_changed(installation: Installation, slug: str, format_: str) -> None:
    """List the documents whose text has changed since they were judged, one judgement per line."""
    found = installation.database.read(documents.changed_documents, slug)
    show_rows(
        format_,
        ["TOPIC", "DOCNO", "CHANGED", "JUDGE", "GRADE", "CANNOT JUDGE", "JUDGED"],
        [
            [said.topic, one.docno, one.text_changed_at, said.judge, said.grade, said.cannot_judge, said.judged_at]
            for one in found
            for said in one.judgements
        ],
    )
    click.echo(f"Documents whose text has changed since they were judged: {len(found)}.", err=True)


@changed.command("requeue")
@click.argument("slug")
@some_documents
@on_installation
def requeue(installation: Installation, slug: str, docnos: Sequence[str]) -> None:
    """Judge changed documents again, all or those named; their old grades no longer count but stay in the history."""
    with installation.database.transaction() as session:
        count = documents.requeue_changed(session, slug, docnos or None, at=datetime.now(UTC))
        note(session, "documents.requeue", slug, details={"documents": count})
    click.echo(f"Documents of topics put back to be judged again: {count}.", err=True)


@changed.command("confirm")
@click.argument("slug")
@some_documents
@on_installation
def confirm(installation: Installation, slug: str, docnos: Sequence[str]) -> None:
    """Keep the grades of changed documents for their new text, of all or those named."""
    with installation.database.transaction() as session:
        count = documents.let_changed_stand(session, slug, docnos or None)
        note(session, "documents.let-stand", slug, details={"documents": count})
    click.echo(f"Documents of topics whose grades stand: {count}.", err=True)


@command.command("search")
@click.argument("slug")
@click.argument("query")
@click.option("--for-topic", "topic", metavar="NUMBER", help="The topic; documents that are in its pool are marked.")
@click.option(
    "--most", default=20, show_default=True, type=click.IntRange(1, 1_000), help="The maximum number of results."
)
@click.option("--add-to-pool", "add", is_flag=True, help="Add the results to the pool of the topic.")
@click.option("--searcher", "name", metavar="NAME", help="The name of the searcher; kept with each added document.")
@format_option()
@on_installation
def find(
    installation: Installation,
    slug: str,
    query: str,
    topic: str | None,
    most: int,
    format_: str,
    *,
    add: bool,
    name: str | None,
) -> None:
    """Search the texts: all words are required; AND OR NOT "phrase" prefix* ( ) are supported.

    A source that offers search is asked instead. Korean, Chinese and Japanese words are also found inside longer words.
    """
    if topic is None and (add or name is not None):
        raise click.UsageError("--add-to-pool and --searcher need the --for-topic that the documents are for.")
    reach, database = sources.reach(installation), installation.database
    from_source = source_search.ask_source(database, slug, query, reach=reach, first=0, most=most)
    with database.reading() as session:
        found = search.find_documents(session, slug, query, topic=topic, most=most, from_source=from_source)
        not_indexed = search.count_not_indexed(session, slug)
    show_rows(format_, ["DOCNO", "POOLED", "TITLE"], [_line(hit, topic) for hit in found.hits])
    click.echo(f"Documents found: {found.total}, shown: {len(found.hits)}.", err=True)
    if found.more:
        click.echo("More documents match: add words to narrow the search.", err=True)
    if not_indexed:
        click.echo(f"Documents that no search finds yet, because they are not indexed: {not_indexed}.", err=True)
    if add and topic is not None and found.hits:
        _add(installation, slug, topic, query, [hit.docno for hit in found.hits], name)


@command.command("show")
@click.argument("slug")
@click.argument("docno")
@format_option()
@on_installation
def show(installation: Installation, slug: str, docno: str, format_: str) -> None:
    """Show a document: its title, language and address, and its text."""
    document = source_search.open_document(installation.database, slug, docno, reach=sources.reach(installation))
    text = document.body if format_ == JSON else document.body.splitlines()
    values = {"docno": document.docno, "title": document.title, "language": document.language, "url": document.url}
    show_values(format_, ("FIELD", "VALUE"), {**values, "text": text})


@command.command("index")
@click.argument("slug")
@on_installation
def index(installation: Installation, slug: str) -> None:
    """Rebuild the search index of a collection; imports keep it up to date by themselves."""
    with installation.database.transaction() as session:
        count = documents.index_collection(session, slug)
    _index_rest(installation, count)
    click.echo(f"Documents indexed: {count}.", err=True)


def _index_rest(installation: Installation, count: int) -> None:
    """Index what is not indexed yet; when something else writes to the index, a worker goes on with it."""
    try:
        with steps_shown("Indexing", count) as show:
            for indexed in search.index_rest(installation.database):
                show(indexed)
    except BusyError as busy:
        click.echo(f"warning: {busy}", err=True)


def _line(hit: FoundDocument, topic: str | None) -> list[Cell]:
    return [hit.docno, hit.pooled if topic is not None else None, "".join(part.text for part in hit.title)]


def _add(
    installation: Installation, slug: str, topic: str, query: str, docnos: Sequence[str], name: str | None
) -> None:
    with installation.database.reading() as session:
        actor_id = search_adding.searcher_id(session, name) if name is not None else None
    at, reach = datetime.now(UTC), sources.reach(installation)
    from_source = source_search.fetch_found(installation.database, slug, docnos, reach=reach, at=at)
    with installation.database.transaction() as session:
        added = search_adding.add_found(
            session, slug, topic=topic, docnos=docnos, query=query, actor_id=actor_id, at=at, from_source=from_source
        )
        note(session, "pool.add", slug, subject=topic, details={"query": query, "added": added.added})
    click.echo(
        f"Version {added.version} of the pool: {added.added} added, {added.already_pooled} already pooled.", err=True
    )


command.add_command(docno_lists.ids_group)
command.add_command(sources.source_group)
command.add_command(deletions.remove_documents, "remove")
