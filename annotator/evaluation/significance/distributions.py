"""The distribution functions of SciPy, which is loaded when the first value is computed.

To load it takes a tenth of a second or more of the processor, and most processes and commands compute none.
"""

from functools import cache
from importlib import import_module
from typing import Any

from annotator.errors import InvalidValueError


@cache
def special() -> Any:  # noqa: ANN401 - SciPy ships no types
    """SciPy's special functions: `special().stdtrit(degrees, 0.975)`.

    Raises `InvalidValueError` where SciPy is not installed, as where only the library is.
    """
    try:
        return import_module("scipy.special")
    except ModuleNotFoundError:
        raise InvalidValueError(
            "Intervals and tests of significance need SciPy, which is not installed here: pip install scipy."
        ) from None
