"""Which round's runs an address asks for, and whether what was judged before is taken out."""

from dataclasses import dataclass

from flask import request

from annotator.errors import InvalidValueError

MOST_DIGITS = 9
WHOLE = "n"


@dataclass(frozen=True)
class RoundWanted:
    """`number` None asks for the runs of every round, and `residual` then says nothing."""

    number: int | None = None
    residual: bool = False

    @classmethod
    def of_request(cls) -> "RoundWanted":
        """Read `?round=2&residual=n`; `InvalidValueError` for what is no number."""
        written = request.args.get("round", "").strip()
        if not written:
            return cls()
        if not (written.isdecimal() and written.isascii() and len(written) <= MOST_DIGITS):
            raise InvalidValueError("“%(written)s” is not a round number.", written=written)
        return cls(int(written), request.args.get("residual", "").strip() != WHOLE)

    @property
    def query(self) -> dict[str, object]:
        """The same as arguments of an address."""
        if self.number is None:
            return {}
        return {"round": self.number} if self.residual else {"round": self.number, "residual": WHOLE}

    @classmethod
    def of_form(cls) -> "RoundWanted":
        """What the form of a page shows as chosen: every round where the address names none as it should."""
        try:
            return cls.of_request()
        except InvalidValueError:
            return EVERY_ROUND


EVERY_ROUND = RoundWanted()
