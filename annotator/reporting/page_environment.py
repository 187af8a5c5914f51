"""Jinja with the templates of pages that are files, in their language."""

from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from annotator.installed import asset_folder
from annotator.reporting.words import Words


@cache
def page_environment(language: str) -> Environment:
    """The Jinja environment with the templates of the pages, autoescaping and translations."""
    environment = Environment(
        loader=FileSystemLoader(asset_folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["_"] = Words(language).gettext
    return environment
