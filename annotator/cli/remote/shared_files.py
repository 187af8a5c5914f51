"""`annotator --site URL collections files`: what participants of a collection on a site may download."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from annotator.cli.collections.file_loading import load_files, output_option, show_files
from annotator.cli.remote.site import on_site
from annotator.cli.site.tables import format_option
from annotator.client import Site
from annotator.client.site import in_path


class SiteFiles:
    """The files of collections on a site."""

    def __init__(self, site: Site) -> None:
        """Use this site."""
        self._site = site

    def rows(self, slug: str) -> Sequence[Mapping[str, Any]]:
        """The files."""
        return self._site.every(f"/collections/{in_path(slug)}/files")

    def content(self, slug: str, name: str) -> bytes:
        """The bytes of one."""
        return self._site.content(f"/collections/{in_path(slug)}/files/{in_path(name)}")


@click.group("files")
def files() -> None:
    """Files of a collection on a site: list them with checksums, download them."""


@files.command("list")
@click.argument("slug")
@format_option()
@on_site
def show(site: Site, slug: str, format_: str) -> None:
    """List the files that you may download, with lines, bytes and SHA-256: topics, rules, and what organisers share.

    The qrels are those of released scores.
    """
    show_files(SiteFiles(site), slug, format_)


@files.command("export")
@click.argument("slug")
@output_option
@on_site
def export(site: Site, slug: str, output: str) -> None:
    """Download all of these files into a folder, with SHA256SUMS, and check the SHA-256 of each."""
    load_files(SiteFiles(site), slug, output)
