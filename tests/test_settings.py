"""Settings: read once, told apart by name when they are wrong, and handed on unchanged."""

import pytest

from annotator.errors import InvalidValueError
from annotator.settings import DEFAULT_DATABASE_URL, MEBIBYTE, Settings


def test_without_variables_the_defaults_hold() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings()
    assert (settings.database_url, settings.secret_key) == (DEFAULT_DATABASE_URL, "")


def test_another_process_reads_the_same_settings() -> None:
    settings = Settings("key", "sqlite:///x", 5 * MEBIBYTE, 7 * MEBIBYTE, secure_cookies=True)
    assert Settings.from_environment(settings.to_environment()) == settings


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ANNOTATOR_UPLOAD_LIMIT_MB", "many"),
        ("ANNOTATOR_UPLOAD_LIMIT_MB", "0"),
        ("ANNOTATOR_UNPACKED_LIMIT_MB", "-1"),
        ("ANNOTATOR_UNPACKED_LIMIT_MB", "1.5"),
        ("ANNOTATOR_SECURE_COOKIES", "yes"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_name(name: str, text: str) -> None:
    with pytest.raises(InvalidValueError, match=f"{name}.*“{text}”"):
        Settings.from_environment({name: text})


def test_the_secret_key_is_not_shown_with_the_settings() -> None:
    assert "hush" not in repr(Settings(secret_key="hush"))
