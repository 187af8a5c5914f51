"""The round requested in the query string, and whether its scores are residual."""

from dataclasses import dataclass

from flask import request

from annotator.errors import InvalidValueError

MOST_DIGITS = 9
WHOLE = "n"


@dataclass(frozen=True)
class RoundWanted:
    """A requested round; with `number` None, the runs of all rounds, and `residual` has no meaning."""

    number: int | None = None
    residual: bool = False

    @classmethod
    def of_request(cls) -> "RoundWanted":
        """Read `?round=2&residual=n`; `InvalidValueError` for malformed numbers."""
        written = request.args.get("round", "").strip()
        if not written:
            return cls()
        if not (written.isdecimal() and written.isascii() and len(written) <= MOST_DIGITS):
            raise InvalidValueError("“%(written)s” is not a round number.", written=written)
        return cls(int(written), request.args.get("residual", "").strip() != WHOLE)

    @property
    def query(self) -> dict[str, object]:
        """The choice as query string arguments."""
        if self.number is None:
            return {}
        return {"round": self.number} if self.residual else {"round": self.number, "residual": WHOLE}

    @classmethod
    def of_form(cls) -> "RoundWanted":
        """The choice to show in the form of a page: all rounds if the query string is invalid."""
        try:
            return cls.of_request()
        except InvalidValueError:
            return EVERY_ROUND


EVERY_ROUND = RoundWanted()
