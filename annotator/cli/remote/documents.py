"""`annotator --site URL documents`: send the texts to judge."""

from collections.abc import Sequence

import click

from annotator.cli.remote.site import Site, on_site
from annotator.cli.site.files import FILE, read_files
from annotator.cli.site.options import dry_run_option, show_outcome

COUNTS = ("added", "filled", "changed", "unchanged")


@click.group
def command() -> None:
    """Documents on a site: import texts."""


@command.command("import")
@click.argument("slug")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option(
    "--field", "fields", multiple=True, metavar="OURS=THEIRS", help="A key of the JSONL, such as body=text; repeatable."
)
@dry_run_option
@on_site
def import_files(site: Site, slug: str, files: Sequence[str], fields: Sequence[str], *, dry_run: bool) -> None:
    """Import documents, one file after the other: JSONL, TREC SGML or DOCNO<TAB>TITLE<TAB>BODY, plain or gzip.

    The site's worker reads large files; the command waits for it. Sending a file again changes nothing.
    """
    done = dict.fromkeys(COUNTS, 0)
    for file in read_files(files):
        stored = site.send(f"/collections/{slug}/documents", file, fields=" ".join(fields), dry_run=dry_run)
        done = {name: count + stored[name] for name, count in done.items()}
    counts = (
        f"Documents: {done['added']} added, {done['filled']} given their text, {done['changed']} changed, "
        f"{done['unchanged']} unchanged."
    )
    show_outcome(counts, dry_run=dry_run)
