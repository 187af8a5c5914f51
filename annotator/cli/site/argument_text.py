"""The words after a command: which are paths, as the system has them, and which must be text that can be stored."""

import click

# A path need not be text. What is wrong with the file is said when it is read or written.
FILE = click.Path(readable=False)


def refuse_what_is_no_text(context: click.Context) -> None:
    """Raise `BadParameter` for a text that is not Unicode: Python hands its stray bytes on as lone surrogates."""
    for parameter in context.command.params:
        given = context.params.get(parameter.name or "")
        texts = [given] if isinstance(given, str) else given
        if parameter.type is click.STRING and not all(map(_is_text, texts or ())):
            raise click.BadParameter("It is not text in UTF-8.", context, parameter)


def _is_text(word: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in word)
