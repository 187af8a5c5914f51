"""`--dry-run`, the same for every import: everything is checked and counted, and nothing is stored."""

import click

dry_run_option = click.option("--dry-run", is_flag=True, help="Check and count everything, and store nothing.")


def show_outcome(counts: str, *, dry_run: bool) -> None:
    """Print what an import came to, or would come to, on standard error."""
    click.echo(f"Nothing was stored. The import would give: {counts}" if dry_run else counts, err=True)
