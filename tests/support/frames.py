"""Frames of pandas, polars and pyarrow from the same columns and rows, for tests of what takes any of them."""

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa


def pandas_frame(columns: list[str], rows: list[tuple[Any, ...]]) -> object:
    return pd.DataFrame(rows, columns=columns)


def polars_frame(columns: list[str], rows: list[tuple[Any, ...]]) -> object:
    return pl.DataFrame(rows, schema=columns, orient="row")


def arrow_table(columns: list[str], rows: list[tuple[Any, ...]]) -> object:
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(columns)})


FRAMES = (pandas_frame, polars_frame, arrow_table)
