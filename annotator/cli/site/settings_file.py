"""A warning when others can read a settings file with secrets."""

import re
import shlex
import stat
import tomllib
from pathlib import Path

import click

# user:password@host, or ?password=; a URL that is malformed is refused later, when the database is opened.
WITH_PASSWORD = re.compile(r"//[^/:]*:[^/]+@|[?&]password=")


def warn_if_others_read(path: str) -> None:
    """Warn on standard error when every account of this machine can read the file and it holds a secret.

    The file was read before, so that it is there and is TOML.
    """
    mode = Path(path).stat().st_mode
    # What is no file, such as a pipe, was read once and is gone.
    if not stat.S_ISREG(mode) or not mode & stat.S_IROTH:
        return
    held = _secrets(path)
    if held:
        click.echo(
            f"WARNING: every account of this machine can read {click.format_filename(path)}, which holds "
            f"{' and '.join(held)}. Run: chmod 600 {shlex.quote(path)}",
            err=True,
        )


def _secrets(path: str) -> list[str]:
    settings = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    secrets = {
        "the secret key": bool(settings.get("secret_key")),
        "the password of the database": bool(WITH_PASSWORD.search(str(settings.get("database_url", "")))),
    }
    return [name for name, is_held in secrets.items() if is_held]
