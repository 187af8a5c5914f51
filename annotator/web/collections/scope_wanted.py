"""The round and the task requested in the query string, and whether the scores of a round are residual."""

from dataclasses import dataclass

from flask import request

from annotator.errors import InvalidValueError

MOST_DIGITS = 9
WHOLE = "n"


@dataclass(frozen=True)
class ScopeWanted:
    """A requested round and task; None for those of all, and without a round `residual` has no meaning."""

    round: int | None = None
    residual: bool = False
    task: str | None = None  # the key

    @classmethod
    def of_request(cls) -> "ScopeWanted":
        """Read `?round=2&residual=n&task=KEY`; `InvalidValueError` for malformed numbers."""
        task = _task()
        written = request.args.get("round", "").strip()
        if not written:
            return cls(task=task)
        if not (written.isdecimal() and written.isascii() and len(written) <= MOST_DIGITS):
            raise InvalidValueError("“%(written)s” is not a round number.", written=written)
        return cls(int(written), request.args.get("residual", "").strip() != WHOLE, task)

    @classmethod
    def of_task(cls) -> "ScopeWanted":
        """Read `?task=KEY` alone, for pages that have every round."""
        return cls(task=_task())

    @property
    def query(self) -> dict[str, object]:
        """The choice as query string arguments."""
        task: dict[str, object] = {} if self.task is None else {"task": self.task}
        if self.round is None:
            return task
        return {**task, "round": self.round, **({} if self.residual else {"residual": WHOLE})}

    @classmethod
    def of_form(cls) -> "ScopeWanted":
        """The choice to show in the form of a page: all rounds if the query string is invalid."""
        try:
            return cls.of_request()
        except InvalidValueError:
            return cls(task=_task())


def _task() -> str | None:
    return request.args.get("task", "").strip() or None


EVERY_RUN = ScopeWanted()
