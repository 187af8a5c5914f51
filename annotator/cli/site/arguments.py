"""The check that the arguments of a command are text; without a database, for commands on a site as well."""

import click


def refuse_what_is_no_text(context: click.Context) -> None:
    """Raise `BadParameter` for an argument that is not valid Unicode, in which Python keeps lone surrogates."""
    for parameter in context.command.params:
        given = context.params.get(parameter.name or "")
        texts = [given] if isinstance(given, str) else given
        if parameter.type is click.STRING and not all(map(_is_text, texts or ())):
            raise click.BadParameter("It is not text in UTF-8.", context, parameter)


def _is_text(word: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in word)
