"""Settings: read once, told apart by name when they are wrong, and handed on unchanged."""

import re
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.errors import InvalidValueError
from annotator.settings import (
    DEFAULT_DATABASE_URL,
    MEBIBYTE,
    Settings,
    refuse_incomplete_mail,
    refuse_incomplete_provider,
    refuse_same_port,
    refuse_weak_key,
)


def test_without_variables_the_defaults_hold() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings()
    assert (settings.database_url, settings.secret_key) == (DEFAULT_DATABASE_URL, "")


def test_another_process_reads_the_same_settings() -> None:
    settings = Settings(
        secret_key="key",
        database_url="sqlite:///x",
        replica_url="postgresql+psycopg://replica/x",
        upload_limit=5 * MEBIBYTE,
        unpacked_limit=7 * MEBIBYTE,
        secure_cookies=True,
        host="0.0.0.0",  # noqa: S104 - only handed on
        port=9000,
        workers=4,
        sender_seconds=30,
        page_threads=3,
        topic_limit=500,
        connections_per_address=0,
        api_requests_per_minute=100,
        proxies=2,
        hsts_days=365,
        log_format="json",
        metrics_port=9100,
        site_hosts=("pool.example.org",),
        outgoing_hosts=("hooks.example.org", "::1"),
        model_keys=("models.example.org=/run/secrets/key", "::1=env:MODEL_KEY"),
        search_keys=("search.example.org=/run/secrets/key",),
        site_address="https://pool.example.org",
        mail_host="mail.example.org",
        mail_port=465,
        mail_tls="tls",
        mail_name="pool",
        mail_password="/run/secrets/mail",
        mail_from="pool@example.org",
        mail_kinds=("invitations", "jobs"),
        mail_per_hour=60,
        document_sources=("/corpora", "ir_datasets:vaswani"),
        index_folder="/indexes",
        search_folder="/search",
        deletion_days=7,
        oidc_issuer="https://id.example.org/realms/staff",
        oidc_client_id="annotator",
        oidc_client_secret="of the client",
        oidc_name="대학교",
        require_second_factor=True,
        demonstration=True,
    )
    unlike = Settings()
    assert not [field for field in vars(unlike) if getattr(settings, field) == getattr(unlike, field)]
    assert Settings.from_environment(settings.to_environment()) == settings


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ANNOTATOR_UPLOAD_LIMIT_MB", "many"),
        ("ANNOTATOR_UPLOAD_LIMIT_MB", "0"),
        ("ANNOTATOR_UNPACKED_LIMIT_MB", "-1"),
        ("ANNOTATOR_UNPACKED_LIMIT_MB", "1.5"),
        ("ANNOTATOR_SECURE_COOKIES", "yes"),
        ("ANNOTATOR_REQUIRE_SECOND_FACTOR", "organisers"),
        ("ANNOTATOR_PORT", "0"),
        ("ANNOTATOR_PORT", "70000"),
        ("ANNOTATOR_WORKERS", ""),
        ("ANNOTATOR_SENDER_SECONDS", "0"),
        ("ANNOTATOR_PROXIES", "-1"),
        ("ANNOTATOR_HSTS_DAYS", "a year"),
        ("ANNOTATOR_LOG_FORMAT", "xml"),
        ("ANNOTATOR_METRICS_PORT", "http"),
        ("ANNOTATOR_SITE_HOSTS", "http://news.example.org/"),
        ("ANNOTATOR_SITE_HOSTS", "news.example.org/pool"),
        ("ANNOTATOR_SITE_HOSTS", "news.example.org:8000"),
        ("ANNOTATOR_SITE_HOSTS", "*.example.org"),
        ("ANNOTATOR_DOCUMENT_SOURCES", "corpora"),
        ("ANNOTATOR_OIDC_ISSUER", "id.example.org"),
        ("ANNOTATOR_OIDC_ISSUER", "http://id.example.org/"),
        ("ANNOTATOR_OIDC_ISSUER", "https://"),
        ("ANNOTATOR_OIDC_ISSUER", "https://[x"),
        ("ANNOTATOR_OIDC_ISSUER", "https://id.example.org:x/"),
        ("ANNOTATOR_OIDC_ISSUER", "https://id.example.org/?realm=staff"),
        ("ANNOTATOR_OIDC_ISSUER", "https://id.example.org/#staff"),
        ("ANNOTATOR_OIDC_ISSUER", "https://ola:x@id.example.org/"),
        ("ANNOTATOR_OIDC_ISSUER", "https://id.example.org/a b"),
        ("ANNOTATOR_OIDC_ISSUER", "https://id.example.org/é"),
        ("ANNOTATOR_SITE_ADDRESS", "pool.example.org"),
        ("ANNOTATOR_SITE_ADDRESS", "https://pool.example.org/a b"),
        ("ANNOTATOR_MAIL_PORT", "smtp"),
        ("ANNOTATOR_MAIL_TLS", "ssl"),
        ("ANNOTATOR_MAIL_FROM", "pool"),
        ("ANNOTATOR_MAIL_FROM", "Pool <pool@example.org>"),
        ("ANNOTATOR_MAIL_KINDS", "spam"),
        ("ANNOTATOR_MAIL_PER_HOUR", "0"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_name(name: str, text: str) -> None:
    with pytest.raises(InvalidValueError, match=f"{name}.*“{re.escape(text)}”"):
        Settings.from_environment({name: text})


@pytest.mark.parametrize("name", ["ANNOTATOR_DATABASE_URL", "ANNOTATOR_HOST"])
def test_a_setting_without_which_nothing_goes_is_not_empty(name: str) -> None:
    with pytest.raises(InvalidValueError, match=f"{name} is empty"):
        Settings.from_environment({name: " "})


@pytest.mark.parametrize("name", ["ANNOTATOR_PORT", "ANNOTATOR_UPLOAD_LIMIT_MB"])
def test_a_number_that_python_does_not_read_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(InvalidValueError, match=rf"{name}.*“9{{100}}…”"):
        Settings.from_environment({name: "9" * 5_000})


@pytest.mark.parametrize(
    "issuer",
    ["", "https://id.example.org", "https://id.example.org:8443/a/", "http://127.0.0.1:8080/", "http://localhost"],
)
def test_an_issuer_is_an_address_with_https_or_of_this_machine(issuer: str) -> None:
    assert Settings.from_environment({"ANNOTATOR_OIDC_ISSUER": issuer}).oidc_issuer == issuer


@pytest.mark.parametrize("name", ["ANNOTATOR_OIDC_CLIENT_ID", "ANNOTATOR_OIDC_CLIENT_SECRET"])
@pytest.mark.parametrize("text", ["secret\n", "sécret", " secret"])
def test_what_a_client_cannot_send_is_refused_and_not_shown(name: str, text: str) -> None:
    with pytest.raises(InvalidValueError, match=f"The setting {name} has ASCII characters alone") as refused:
        Settings.from_environment({name: text})
    assert text.strip() not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (Settings(oidc_issuer="https://id.example.org"), "ANNOTATOR_OIDC_CLIENT_ID is missing.*https://id.example.org"),
        (Settings(oidc_client_id="annotator"), "ANNOTATOR_OIDC_ISSUER is missing"),
        (Settings(oidc_client_secret="hush"), "ANNOTATOR_OIDC_ISSUER is missing"),
        (Settings(oidc_name="University"), "ANNOTATOR_OIDC_ISSUER is missing"),
    ],
)
def test_half_of_the_settings_of_a_provider_is_refused(settings: Settings, missing: str) -> None:
    with pytest.raises(InvalidValueError, match=missing):
        refuse_incomplete_provider(settings)


def test_a_provider_needs_issuer_and_client_id_alone() -> None:
    refuse_incomplete_provider(Settings())
    refuse_incomplete_provider(Settings(oidc_issuer="https://id.example.org", oidc_client_id="annotator"))


def test_the_figures_need_a_port_of_their_own() -> None:
    refuse_same_port(Settings(port=8000, metrics_port=8001))
    with pytest.raises(InvalidValueError, match="ANNOTATOR_PORT and ANNOTATOR_METRICS_PORT are both 8000"):
        refuse_same_port(Settings(port=8000, metrics_port=8000))


@pytest.mark.parametrize("place", ["sk-0123456789", "key.txt", "env:A B"])
def test_a_key_of_models_is_named_and_never_written_or_shown(place: str) -> None:
    with pytest.raises(InvalidValueError, match="ANNOTATOR_MODEL_KEYS has HOST=FILE") as refused:
        Settings.from_environment({"ANNOTATOR_MODEL_KEYS": f"models.example.org={place}"})
    assert place not in str(refused.value)
    with pytest.raises(InvalidValueError, match="ANNOTATOR_MODEL_KEYS has names alone"):
        Settings.from_environment({"ANNOTATOR_MODEL_KEYS": "https://models.example.org/v1=/key"})


def test_a_password_of_the_mail_server_is_named_and_never_written() -> None:
    with pytest.raises(InvalidValueError, match="ANNOTATOR_MAIL_PASSWORD names a file") as refused:
        Settings.from_environment({"ANNOTATOR_MAIL_PASSWORD": "hush hush"})
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    ("missing", "name"),
    [
        ({"site_address": ""}, "ANNOTATOR_SITE_ADDRESS"),
        ({"mail_from": ""}, "ANNOTATOR_MAIL_FROM"),
        ({"mail_name": "pool"}, "ANNOTATOR_MAIL_PASSWORD"),
    ],
)
def test_a_mail_server_without_what_a_mail_needs_is_refused_by_the_name(missing: dict[str, Any], name: str) -> None:
    whole = Settings(mail_host="localhost", mail_from="pool@example.org", site_address="https://pool.example.org")
    refuse_incomplete_mail(whole)
    refuse_incomplete_mail(Settings())
    with pytest.raises(InvalidValueError, match=f"The setting {name} is missing"):
        refuse_incomplete_mail(replace(whole, **missing))


def test_no_email_goes_to_another_machine_without_encryption() -> None:
    here = Settings(
        mail_host="localhost",
        mail_from="pool@example.org",
        site_address="https://pool.example.org",
        mail_tls="none",
    )
    refuse_incomplete_mail(here)
    away = replace(here, mail_host="mail.example.org")
    for settings in (away, replace(away, mail_name="pool", mail_password="env:MAIL")):
        with pytest.raises(InvalidValueError, match=r"to the other machine “mail\.example\.org” without encryption"):
            refuse_incomplete_mail(settings)


def test_the_secret_key_is_not_shown_with_the_settings() -> None:
    assert "hush" not in repr(Settings(secret_key="hush", oidc_client_secret="hush"))


def test_a_setting_that_does_not_exist_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidValueError, match=r"There is no setting ANNOTATOR_SECURE_COOKIE\. There are: .*cookies"):
        Settings.from_environment({"ANNOTATOR_SECURE_COOKIE": "1"})


def test_what_others_are_told_is_no_setting_of_the_server() -> None:
    assert Settings.from_environment({"ANNOTATOR_THOROUGH": "1", "PATH": "/bin"}) == Settings()


def test_behind_a_proxy_cookies_travel_by_https_unless_it_is_said_otherwise() -> None:
    assert Settings.from_environment({"ANNOTATOR_PROXIES": "1"}).secure_cookies
    assert not Settings.from_environment({"ANNOTATOR_PROXIES": "1", "ANNOTATOR_SECURE_COOKIES": "0"}).secure_cookies


def test_a_file_says_the_same_and_the_environment_has_the_last_word(tmp_path: Path) -> None:
    file = tmp_path / "annotator.toml"
    file.write_text(
        'secret_key = "key"\nport = 9000\nsecure_cookies = true\nupload_limit_mb = 5\nlog_format = "json"\n'
    )
    said = Settings(secret_key="key", port=9000, secure_cookies=True, upload_limit=5 * MEBIBYTE, log_format="json")
    assert Settings.from_environment({}, file=str(file)) == said
    assert Settings.from_environment({"ANNOTATOR_SETTINGS": str(file)}) == said
    environment = {"ANNOTATOR_SETTINGS": str(file), "ANNOTATOR_PORT": "9001"}
    assert Settings.from_environment(environment) == replace(said, port=9001)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('secret = "key"', "There is no setting secret. There are: secret_key, "),
        ("port = 'http'", "The setting port is a whole number from 1 to 65535, not “http”."),
        ("[server]\nport = 1", "There is no setting server. "),
        ("port = 8795.0", "The setting port cannot be of the type that the settings file gives it: 8795.0."),
        ("workers = true", "The setting workers cannot be of the type"),
        ("secure_cookies = 1979-05-27", "The setting secure_cookies cannot be of the type"),
        ("database_url = ['sqlite:///x']", "The setting database_url cannot be of the type"),
        ("site_hosts = ['a.org', {x=1}]", "The setting site_hosts cannot be of the type"),
        ("[port]\nx = 1", "The setting port cannot be of the type"),
        ("port 1", "The settings in {file} cannot be read: Expected '=' after a key"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_by_its_name(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "annotator.toml"
    file.write_text(text)
    with pytest.raises(InvalidValueError) as refusal:
        Settings.from_environment({}, file=str(file))
    assert str(refusal.value).startswith(told.format(file=file))


def test_names_of_a_site_are_a_list_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "annotator.toml"
    file.write_text("site_hosts = ['a.org', '.b-c.org']\nsecure_cookies = 1")
    said = Settings(site_hosts=("a.org", ".b-c.org"), secure_cookies=True)
    assert Settings.from_environment({}, file=str(file)) == said


def test_a_file_that_is_not_there_is_told_of() -> None:
    with pytest.raises(
        InvalidValueError, match=r"The settings in /no/such\.toml cannot be read: No such file or directory\.$"
    ):
        Settings.from_environment({"ANNOTATOR_SETTINGS": "/no/such.toml"})


@pytest.mark.parametrize("key", ["short", "x" * 64, "0123456" * 9, "f" * 31 + "e"])
def test_a_key_that_could_be_guessed_is_refused(key: str) -> None:
    with pytest.raises(InvalidValueError, match="ANNOTATOR_SECRET_KEY can be guessed: it needs at least 32 characters"):
        refuse_weak_key(Settings(secret_key=key))


def test_a_random_key_is_taken() -> None:
    for key in (secrets.token_hex(16), secrets.token_hex(32), secrets.token_urlsafe(32)):
        refuse_weak_key(Settings(secret_key=key))


def test_the_names_of_a_site_are_parted_by_commas() -> None:
    settings = Settings.from_environment({"ANNOTATOR_SITE_HOSTS": "news.example.org, .example.net,"})
    assert settings.site_hosts == ("news.example.org", ".example.net")
    assert Settings.from_environment(settings.to_environment()) == settings
