"""Which grades a page or file is made from, as its address says."""

from dataclasses import dataclass

from flask import request

from annotator.web.site.context import the_place


@dataclass(frozen=True)
class GradesWanted:
    """One judge's word, or the settled grades by a policy; None is the collection's own policy."""

    policy: str | None
    judge: str | None

    @classmethod
    def of_request(cls) -> "GradesWanted":
        """Read `?policy=` and `?judge=`; a judge goes before a policy. Observers have no choice."""
        if not the_place().organises:
            return cls(None, None)
        judge = request.args.get("judge") or None
        return cls(None if judge else request.args.get("policy") or None, judge)

    @property
    def query(self) -> dict[str, str]:
        """The same as arguments of an address."""
        given = {"policy": self.policy, "judge": self.judge}
        return {name: value for name, value in given.items() if value}
