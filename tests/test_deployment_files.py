"""The files for deployment in `docs/deployment` call the program as it is, and agree with its limits."""

import json
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml  # type: ignore[import-untyped] # it ships no types

from annotator.cli import main
from annotator.settings import MEBIBYTE, Settings

FILES = Path(__file__).parents[1] / "docs" / "deployment"


def text_of(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def instructions(name: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, continued lines joined."""
    joined = re.sub(r"\\\n", " ", text_of(name))
    lines = (line for line in joined.splitlines() if line and not line.startswith("#"))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def parsed(words: list[str]) -> click.Command:
    """The command that a line names, after its options were parsed; click raises for one that it does not have."""
    program, *arguments = words
    assert Path(program).name == "annotator"
    context = main.make_context("annotator", arguments, resilient_parsing=False)
    with context:
        name, command, rest = main.resolve_command(context, [*context._protected_args, *context.args])  # noqa: SLF001 - click has no other way
    assert name is not None
    assert command is not None
    command.make_context(name, rest, parent=context)
    return command


def test_the_image_is_built_in_two_stages_and_its_server_is_not_root() -> None:
    found = instructions("Dockerfile")
    stages = [rest for word, rest in found if word == "FROM"]
    assert len(stages) == 2
    last = found[[word for word, _ in found].index("FROM", 1) :]
    assert [rest for word, rest in last if word == "USER"] == ["annotator"]
    assert [word for word, _ in last].index("USER") < [word for word, _ in last].index("CMD")
    assert any(word == "HEALTHCHECK" and "/ready" in rest for word, rest in last)


def test_the_image_runs_the_server_for_a_proxy() -> None:
    [words] = [json.loads(rest) for word, rest in instructions("Dockerfile") if word == "CMD"]
    assert parsed(words).name == "command"
    assert words[1:] == ["serve", "--host", "0.0.0.0", "--proxy", "1"]  # noqa: S104 - in a container


def test_compose_declares_what_its_services_use() -> None:
    found = yaml.safe_load(text_of("compose.yaml"))
    services = found["services"]
    for service in services.values():
        assert set(service.get("secrets", [])) <= set(found["secrets"])
        assert set(service.get("depends_on", {})) <= set(services)
        assert {volume.partition(":")[0] for volume in service.get("volumes", [])} <= set(found["volumes"])
    assert services["annotator"]["build"] == "."
    assert "healthcheck" in services["database"]  # the server waits for it


def test_the_service_of_systemd_starts_the_server(tmp_path: Path) -> None:
    [line] = re.findall(r"^ExecStart=(.*)$", text_of("annotator.service"), re.MULTILINE)
    settings = tmp_path / "annotator.toml"
    settings.write_text('site_hosts = ["annotator.example.org"]\n')
    words = [str(settings) if word.endswith("annotator.toml") else word for word in shlex.split(line)]
    assert parsed(words).name == "command"
    assert words[-3:] == ["serve", "--proxy", "1"]


def test_the_proxy_lets_through_what_the_server_takes() -> None:
    [size] = re.findall(r"client_max_body_size (\d+)m;", text_of("nginx.conf"))
    assert int(size) * MEBIBYTE == Settings().upload_limit


def test_the_proxy_takes_long_addresses_and_logs_no_query_string() -> None:
    text = text_of("nginx.conf")
    [form] = re.findall(r"log_format annotator '(.*)';", text)
    assert re.findall(r"access_log \S+ (\w+);", text) == ["annotator"]
    assert set(re.findall(r"\$\w+", form)).isdisjoint({"$request", "$request_uri", "$args", "$query_string"})
    assert "large_client_header_buffers 4 64k;" in text


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "annotator.service", "nginx.conf"])
def test_the_page_on_deployment_shows_the_file(name: str) -> None:
    assert f"{{literalinclude}} ../deployment/{name}" in (FILES.parent / "how-to" / "deployment.md").read_text("utf-8")
