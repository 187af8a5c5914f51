"""What can be set from outside, read once from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from annotator.errors import InvalidValueError

DEFAULT_DATABASE_URL = "sqlite:///annotator.sqlite"
MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Settings:
    """Everything an installation may choose; sizes in bytes."""

    secret_key: str = field(default="", repr=False)
    database_url: str = DEFAULT_DATABASE_URL
    upload_limit: int = 256 * MEBIBYTE
    unpacked_limit: int = 1024 * MEBIBYTE
    secure_cookies: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """Read `ANNOTATOR_…` variables; a wrong one raises `InvalidValueError` with its name."""
        given = os.environ if environment is None else environment
        return cls(
            secret_key=given.get("ANNOTATOR_SECRET_KEY", ""),
            database_url=given.get("ANNOTATOR_DATABASE_URL", DEFAULT_DATABASE_URL),
            upload_limit=_mebibytes(given, "ANNOTATOR_UPLOAD_LIMIT_MB", 256),
            unpacked_limit=_mebibytes(given, "ANNOTATOR_UNPACKED_LIMIT_MB", 1024),
            secure_cookies=_switch(given, "ANNOTATOR_SECURE_COOKIES"),
        )

    def to_environment(self) -> dict[str, str]:
        """The variables that make another process read the same settings."""
        return {
            "ANNOTATOR_SECRET_KEY": self.secret_key,
            "ANNOTATOR_DATABASE_URL": self.database_url,
            "ANNOTATOR_UPLOAD_LIMIT_MB": str(self.upload_limit // MEBIBYTE),
            "ANNOTATOR_UNPACKED_LIMIT_MB": str(self.unpacked_limit // MEBIBYTE),
            "ANNOTATOR_SECURE_COOKIES": "1" if self.secure_cookies else "0",
        }


def sqlite_url(path: Path) -> str:
    """The database URL of an SQLite file."""
    return f"sqlite:///{path}"


def _mebibytes(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name, str(default))
    if not text.isdecimal() or int(text) == 0:
        raise InvalidValueError(
            "The setting %(name)s is a whole number of mebibytes above 0, not “%(text)s”.", name=name, text=text
        )
    return int(text) * MEBIBYTE


def _switch(given: Mapping[str, str], name: str) -> bool:
    text = given.get(name, "0")
    if text not in {"0", "1"}:
        raise InvalidValueError("The setting %(name)s is 0 or 1, not “%(text)s”.", name=name, text=text)
    return text == "1"
