"""The words for what is stored as a code: roles, reasons, policies, strategies."""

from collections.abc import Mapping

from annotator.storage import CannotJudge, Role
from annotator.web.language import lazy_gettext

ROLES: Mapping[Role, str] = {
    Role.ORGANISER: lazy_gettext("organiser"),
    Role.JUDGE: lazy_gettext("judge"),
    Role.PARTICIPANT: lazy_gettext("participant"),
}

CANNOT_JUDGE: Mapping[CannotJudge, str] = {
    CannotJudge.BROKEN: lazy_gettext("It is broken or unreadable"),
    CannotJudge.LANGUAGE: lazy_gettext("I do not read its language"),
    CannotJudge.NO_TEXT: lazy_gettext("It has no text"),
    CannotJudge.OTHER: lazy_gettext("Another reason (say it in the note)"),
}

POLICIES: Mapping[str, str] = {
    "majority": lazy_gettext("majority"),
    "median": lazy_gettext("median"),
    "lowest": lazy_gettext("lowest"),
    "highest": lazy_gettext("highest"),
}

STRATEGIES: Mapping[str, str] = {
    "depth": lazy_gettext("depth-k union of runs"),
    "import": lazy_gettext("import of labels"),
}
