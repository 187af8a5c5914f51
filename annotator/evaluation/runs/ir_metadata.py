"""The header of ir_metadata in a run: YAML in comment lines above the lines of the run."""

import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

START = re.compile(rb"\A(?:#[^\n]*\n|[ \t\r]*\n)*?#[ \t]*ir_metadata\.start[ \t]*\r?\n")
END = re.compile(rb"^#[ \t]*ir_metadata\.end[ \t]*\r?$", re.MULTILINE)
COMMENT = re.compile(rb"^# ?", re.MULTILINE)
MOST_BYTES = 1 << 16
LONGEST_DESCRIPTION = 1_000
BRACKET = re.compile(rb"[][{}]")
DEEPEST = 50  # nested brackets; some thousands take the YAML parser more than a second


@dataclass(frozen=True)
class IrMetadata:
    """What a header says about a run that is stored with it; None where it says nothing."""

    description: str | None = None
    is_automatic: bool | None = None


class BrokenMetadataError(Exception):
    """The header is no YAML, too long, or not closed; `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


def read_ir_metadata(text: bytes) -> IrMetadata | None:
    """The metadata in the header of a run; None without a header. Raises `BrokenMetadataError`.

    `text` is what `unpack` returns. The header stays in the file, which is exported as it was sent.
    """
    started = START.match(text, 0, MOST_BYTES)
    if started is None:
        return None
    line = text.count(b"\n", 0, started.end()) + 1
    ended = END.search(text, started.end(), started.end() + MOST_BYTES)
    if ended is None:
        raise BrokenMetadataError(line - 1, f"no ir_metadata.end within {MOST_BYTES} bytes")
    header = COMMENT.sub(b"", text[started.end() : ended.start()])
    if _is_too_deep(header):
        raise BrokenMetadataError(line, f"more than {DEEPEST} brackets within each other")
    yaml = import_module("yaml")  # a twentieth of a second, which few runs need
    try:
        content = yaml.safe_load(header)
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark.line if error.problem_mark else 0
        raise BrokenMetadataError(line + at, str(error.problem)) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise BrokenMetadataError(line, str(error).partition("\n")[0]) from None
    return _taken(content) if isinstance(content, dict) else IrMetadata()


def _is_too_deep(header: bytes) -> bool:
    depth = 0
    for bracket in BRACKET.finditer(header):
        depth = depth + 1 if bracket[0] in b"[{" else max(0, depth - 1)
        if depth > DEEPEST:
            return True
    return False


def _taken(content: dict[Any, Any]) -> IrMetadata:
    """The description of the method, else the name of the method and the goal of the research."""
    method = _section(content, "method")
    goal = _section(content, "research goal")
    texts = [method.get("description") or method.get("name"), goal.get("description")]
    described = " ".join(" ".join(text.split()) for text in texts if isinstance(text, str))[:LONGEST_DESCRIPTION]
    automatic = method.get("automatic")
    return IrMetadata(described or None, automatic if isinstance(automatic, bool) else None)


def _section(content: dict[Any, Any], name: str) -> dict[Any, Any]:
    found = content.get(name)
    return found if isinstance(found, dict) else {}
