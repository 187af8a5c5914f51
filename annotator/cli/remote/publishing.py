"""`annotator --site URL collections publish`: a finished collection of a site as a folder to publish."""

import io
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import click

from annotator.cli.collections.kit_options import KitOptions, describes_kit, is_zip, refuse_output
from annotator.cli.remote.site import on_site
from annotator.cli.site.files import read_file, write_folder, write_together, written_whole
from annotator.client import Site
from annotator.client.site import in_path
from annotator.errors import NotFoundError
from annotator.files import InputFile


@click.command("publish")
@click.argument("slug")
@describes_kit
@on_site
def publish(site: Site, slug: str, options: KitOptions) -> None:
    """Have the site write a finished collection as a folder to publish; its worker does it, and the command waits.

    It has what `collections publish` writes from a database. With --check the kit is sent to the site, which compares
    it with what it would write now, and lists what differs.
    """
    if options.check:
        found = site.check_kit(slug, _kit_as_zip(options.output))
        click.echo(f"{options.output} is what the database gives: {found['files']} files.", err=True)
        return
    refuse_output(options)
    content = site.kit(
        slug,
        version=options.version,
        veiled=options.veiled,
        allowed=list(options.allowed),
        texts=options.with_texts,
        measures=list(options.measures),
        authors=list(options.authors),
        licence=options.licence,
        address=options.address,
    )
    _write(options.output, content)
    if options.mapping is not None:
        names = site.content(f"/collections/{in_path(slug)}/kit/pseudonyms")
        write_together({options.mapping: names}, private=True)


def _write(output: str, content: bytes) -> None:
    if is_zip(output):
        with written_whole(output) as file:
            file.write(content)
    else:
        write_folder(output, io.BytesIO(content), may_be_empty=True)
    with ZipFile(io.BytesIO(content)) as archive:
        click.echo(f"{output} has {len(archive.namelist())} files.", err=True)


def _kit_as_zip(output: str) -> InputFile:
    """The zip file, or the folder as one."""
    folder = Path(output)
    if not folder.is_dir():
        return read_file(output)
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        if not paths:
            raise NotFoundError("“%(folder)s” has no files.", folder=click.format_filename(output))
        for path in paths:
            archive.write(path, path.relative_to(folder).as_posix())
    return InputFile(f"{folder.resolve().name}.zip", packed.getvalue())
