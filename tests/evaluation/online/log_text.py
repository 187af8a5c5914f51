"""Click logs as tests write and read them."""

import csv
import io
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from annotator.clicks.evaluation.logs.click_format import read_click_log
from annotator.clicks.evaluation.logs.click_log import ClickLog
from annotator.clicks.evaluation.logs.column_mapping import FIELDS, USUAL_MAPPING, LogMapping
from annotator.errors import FileRefusedError

HEADING = ",".join(FIELDS)
# Kim is shown two results, clicks the second a second and a half later and stays for half a minute.
KIM = f"""{HEADING}
2026-05-01T12:00:00Z,kim,s1,red shoes,A,1,1,d1,impression,
2026-05-01T12:00:00Z,kim,s1,red shoes,A,1,2,d2,impression,
2026-05-01T12:00:01.5Z,kim,s1,red shoes,A,1,2,d2,click,
2026-05-01T12:00:01.5Z,kim,s1,red shoes,A,1,2,d2,dwell,30.5
2026-05-01T12:01:00Z,kim,s1,red shoes,A,1,,,rating,4
2026-05-01T12:02:00Z,kim,s1,,A,,,,conversion,
"""
NOON = 1_777_636_800_000_000  # 2026-05-01T12:00:00Z: 20,574 days of 86,400 seconds, and half a day


def read(text: str | bytes, mapping: LogMapping = USUAL_MAPPING, name: str = "log.csv") -> ClickLog:
    return read_click_log([(name, text.encode() if isinstance(text, str) else text)], mapping)


def said(log: ClickLog) -> Mapping[str, Any]:
    """Everything about a log as plain values."""
    arrays = {name: value.tolist() for name, value in vars(log).items() if isinstance(value, np.ndarray)}
    arrays["value"] = [None if math.isnan(value) else value for value in arrays["value"]]
    return {**vars(log), **arrays}


def problems_of(text: str | bytes, mapping: LogMapping = USUAL_MAPPING) -> list[tuple[int | None, str]]:
    with pytest.raises(FileRefusedError) as refusal:
        read(text, mapping)
    return [(problem.line, str(problem.sentence)) for problem in refusal.value.problems]


def line_of(**fields: str) -> str:
    """A heading and one line that says just this, beside being an impression."""
    fields = {"event": "impression", **fields}
    return f"{','.join(fields)}\n{','.join(fields.values())}\n"


def as_json_lines(text: str) -> str:
    rows = csv.DictReader(io.StringIO(text))
    return "".join(json.dumps({key: value for key, value in row.items() if value}) + "\n" for row in rows)
