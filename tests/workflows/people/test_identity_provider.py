"""Signing in at a real local provider: what is sent, what is checked, and a sentence for whatever is wrong."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import pytest
from identity_server import CLIENT, SECRET, IdentityServer, challenge_of, key
from joserfc.jwk import KeySet, OctKey
from local_server import send, send_json

from annotator.errors import InvalidValueError, NotAllowedError
from annotator.workflows.people import identity_provider, provider_requests
from annotator.workflows.people.identities import ProvenIdentity
from annotator.workflows.people.identity_provider import IdentityProvider, SignInRequest, provider_of
from annotator.workflows.people.provider_requests import ProviderAccess, ProviderError, SlowProviderError

BACK = "https://pool.example.org/sign-in/provider/return"
CONFIGURATION = "/.well-known/openid-configuration"


@pytest.fixture
def provider(identity_server: IdentityServer) -> IdentityProvider:
    """The provider, as a site knows it."""
    return IdentityProvider(access_to(identity_server.site))


def access_to(issuer: str) -> ProviderAccess:
    return ProviderAccess("Example University", issuer, CLIENT, SECRET)


def now() -> datetime:
    return datetime.now(UTC)


def sign_in(
    provider: IdentityProvider, server: IdentityServer, at: datetime | None = None, **changed: str
) -> ProvenIdentity:
    """Go to the provider and come back as a browser does; `changed` are parameters that somebody changed on the way."""
    at = at or now()
    begun = provider.begin(BACK, at=at)
    return provider.finish(came_back(server, begun) | changed, BACK, nonce=begun.nonce, verifier=begun.verifier, at=at)


def came_back(server: IdentityServer, begun: SignInRequest) -> dict[str, str]:
    """The parameters with which the browser comes back."""
    asked = parameters(begun.address)
    return parameters(server.back(asked))


def parameters(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def refusal(provider: IdentityProvider, server: IdentityServer, **changed: str) -> str:
    with pytest.raises(ProviderError) as refused:
        sign_in(provider, server, None, **changed)
    return str(refused.value)


def test_the_person_is_known_by_issuer_and_subject(provider: IdentityProvider, identity_server: IdentityServer) -> None:
    found = sign_in(provider, identity_server)
    assert found == ProvenIdentity(identity_server.site, "248289761001", "ola@uni.example")
    assert found.label == "ola@uni.example"


def test_the_request_has_state_nonce_and_challenge_and_each_is_new(
    provider: IdentityProvider, identity_server: IdentityServer
) -> None:
    one, other = (provider.begin(BACK, prompt="login", at=now()) for _ in range(2))
    assert one.address.startswith(f"{identity_server.site}/authorize?")
    assert parameters(one.address) == {
        "response_type": "code",
        "client_id": CLIENT,
        "redirect_uri": BACK,
        "scope": "openid email",
        "state": one.state,
        "nonce": one.nonce,
        "prompt": "login",
        "code_challenge": challenge_of(one.verifier),
        "code_challenge_method": "S256",
    }
    assert len({one.state, one.nonce, one.verifier, other.state, other.nonce, other.verifier}) == 6
    assert identity_server.asked == [CONFIGURATION]


def test_what_the_provider_publishes_is_asked_for_once_an_hour(
    provider: IdentityProvider, identity_server: IdentityServer
) -> None:
    sign_in(provider, identity_server)
    sign_in(provider, identity_server)
    assert identity_server.asked == [CONFIGURATION, "/token", "/jwks", "/token"]
    identity_server.claims["exp"] = time.time() + 7_200
    sign_in(provider, identity_server, at=now() + timedelta(minutes=61))
    assert identity_server.asked[4:] == [CONFIGURATION, "/token", "/jwks"]


def test_settings_that_are_equal_share_what_was_learned(identity_server: IdentityServer) -> None:
    assert provider_of(access_to(identity_server.site)) is provider_of(access_to(identity_server.site))
    assert provider_of(access_to(identity_server.site)) is not provider_of(access_to("https://id.example.org"))


def test_a_client_may_show_its_secret_in_the_form(provider: IdentityProvider, identity_server: IdentityServer) -> None:
    identity_server.has_basic = False
    assert sign_in(provider, identity_server).subject == "248289761001"


def test_a_secret_that_is_not_the_clients_is_refused(identity_server: IdentityServer) -> None:
    provider = IdentityProvider(ProviderAccess("Example University", identity_server.site, CLIENT, "of another"))
    assert refusal(provider, identity_server) == (
        "Example University did not accept the code, or this site as a client (invalid_client). Begin again."
    )


@pytest.mark.parametrize(
    ("email", "address"),
    [
        ("jo@uni.example ", "jo@uni.example"),
        (None, ""),
        ("", ""),
        (7, ""),
        ("x" * 255, ""),
        ("a\nb@uni.example", ""),
    ],
)
def test_an_address_is_only_shown_and_may_be_missing(
    provider: IdentityProvider, identity_server: IdentityServer, email: object, address: str
) -> None:
    identity_server.claims["email"] = email
    found = sign_in(provider, identity_server)
    assert (found.address, found.label) == (address, address or "248289761001")


# Claims of the ID token → the sentence.
WRONG_CLAIMS: dict[str, tuple[dict[str, object], str]] = {
    "another issuer": ({"iss": "https://id.example.org"}, "The provider sent an ID token of another issuer."),
    "no issuer": ({"iss": None}, "The provider sent an ID token of another issuer."),
    "another audience": (
        {"aud": "another"},
        "The provider sent an ID token that is for another client than this site.",
    ),
    "no audience": ({"aud": None}, "The provider sent an ID token that is for another client than this site."),
    "party": (
        {"aud": [CLIENT, "another"], "azp": "another"},
        "The provider sent an ID token that is for another client than this site.",
    ),
    "no party": (
        {"aud": [CLIENT, "another"]},
        "The provider sent an ID token that is for another client than this site.",
    ),
    "another nonce": (
        {"nonce": "of another sign-in"},
        "The provider sent an ID token of another sign-in: its nonce is wrong or missing.",
    ),
    "no nonce": (
        {"nonce": None},
        "The provider sent an ID token of another sign-in: its nonce is wrong or missing.",
    ),
    "expired": (
        {"exp": 1_700_000_000},
        "The provider sent an ID token that has expired: its clock or this server's may be wrong.",
    ),
    "no end": (
        {"exp": None},
        "The provider sent an ID token that has expired: its clock or this server's may be wrong.",
    ),
    "the future": (
        {"iat": 9_999_999_999},
        "The provider sent an ID token from the future: its clock or this server's may be wrong.",
    ),
    "not yet": (
        {"nbf": 9_999_999_999},
        "The provider sent an ID token from the future: its clock or this server's may be wrong.",
    ),
    "another access token": (
        {"at_hash": "AAAA"},
        "The provider sent an ID token that does not belong to its access token.",
    ),
    "no subject": (
        {"sub": None},
        "The provider sent an ID token that names nobody: its subject is missing or unusable.",
    ),
    "empty": ({"sub": ""}, "The provider sent an ID token that names nobody: its subject is missing or unusable."),
    "number": ({"sub": 7}, "The provider sent an ID token that names nobody: its subject is missing or unusable."),
    "long": (
        {"sub": "x" * 256},
        "The provider sent an ID token that names nobody: its subject is missing or unusable.",
    ),
    "NUL": ({"sub": "a\0"}, "The provider sent an ID token that names nobody: its subject is missing or unusable."),
    "number for time": (
        {"auth_time": "yesterday"},
        "The provider sent an ID token whose claims are wrong or missing.",
    ),
    "hash of another type": (
        {"at_hash": {"a": 1}},
        "The provider sent an ID token whose claims are wrong or missing.",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_CLAIMS)
def test_an_id_token_with_a_wrong_claim_is_refused(
    provider: IdentityProvider, identity_server: IdentityServer, wrong: str
) -> None:
    claims, sentence = WRONG_CLAIMS[wrong]
    identity_server.claims |= claims
    assert refusal(provider, identity_server) == sentence


def test_clocks_may_differ_by_two_minutes(provider: IdentityProvider, identity_server: IdentityServer) -> None:
    at = now()
    identity_server.claims |= {"exp": int(at.timestamp()) - 118, "iat": int(at.timestamp()) + 118}
    assert sign_in(provider, identity_server, at=at).subject == "248289761001"
    identity_server.claims["exp"] = int(at.timestamp()) - 121
    assert "has expired" in refusal(provider, identity_server)


def test_a_token_for_several_clients_names_this_one_as_its_party(
    provider: IdentityProvider, identity_server: IdentityServer
) -> None:
    identity_server.claims |= {"aud": [CLIENT, "another"], "azp": CLIENT}
    assert sign_in(provider, identity_server).subject == "248289761001"


def test_a_new_key_is_asked_for_once(provider: IdentityProvider, identity_server: IdentityServer) -> None:
    sign_in(provider, identity_server)
    identity_server.keys = ["second", "first"]
    assert sign_in(provider, identity_server).subject == "248289761001"
    assert identity_server.asked.count("/jwks") == 2
    identity_server.signs_with = key("third")
    assert refusal(provider, identity_server) == "The provider signed the ID token with a key that it does not publish."
    assert identity_server.asked.count("/jwks") == 3


def unsigned(token: str) -> str:
    """A token of the algorithm "none", with what the other one has (RFC 7519, section 6)."""
    return f"eyJhbGciOiJub25lIn0.{token.split('.')[1]}."


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (unsigned, "The provider's ID token is not signed by one of the algorithms that are accepted: RS256, "),
        (lambda token: token[:-8] + "AAAAAAAA", "The signature of the provider's ID token is wrong."),
        (lambda token: ".".join([token.split(".")[0], "e30", token.split(".")[2]]), "The signature of the provider's"),
        (lambda _: "x", "The provider sent an ID token that cannot be read."),
        (lambda _: "", "The provider sent an ID token that cannot be read."),
        (lambda _: "한.글.자", "The provider sent an ID token that cannot be read."),
        (lambda _: "e30.e30.e30", "The provider sent an ID token that cannot be read."),
    ],
    ids=["none", "signature", "payload", "prose", "empty", "letters", "no algorithm"],
)
def test_a_token_that_nobody_signed_is_refused(
    provider: IdentityProvider,
    identity_server: IdentityServer,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[str], str],
    sentence: str,
) -> None:
    make = identity_server.id_token
    monkeypatch.setattr(identity_server, "id_token", lambda asked: change(make(asked)))
    assert refusal(provider, identity_server).startswith(sentence)


def test_a_token_signed_with_the_clients_secret_is_refused(
    provider: IdentityProvider, identity_server: IdentityServer
) -> None:
    # With HMAC everybody who knows the secret, such as another installation, could sign for anybody.
    identity_server.signs_with = OctKey.import_key(SECRET, {"kid": "first"})
    identity_server.algorithm = "HS256"
    assert "is not signed by one of the algorithms that are accepted" in refusal(provider, identity_server)


def test_whoever_declines_is_told_so(provider: IdentityProvider, identity_server: IdentityServer) -> None:
    with pytest.raises(NotAllowedError, match=r"Example University was cancelled, .* \(access_denied\)"):
        sign_in(provider, identity_server, error="access_denied")
    assert refusal(provider, identity_server, error="server_error") == (
        "Example University refused the request of this site (server_error)."
    )
    assert refusal(provider, identity_server, error="<b>Call 555</b>").endswith("this site (?).")
    assert "/token" not in identity_server.asked


def test_without_a_code_nothing_is_asked(provider: IdentityProvider, identity_server: IdentityServer) -> None:
    with pytest.raises(InvalidValueError, match=r"Example University sent you back without a code\. Begin again\."):
        sign_in(provider, identity_server, code="")
    assert "/token" not in identity_server.asked


def test_a_code_is_worth_nothing_a_second_time_or_with_another_verifier(
    provider: IdentityProvider, identity_server: IdentityServer
) -> None:
    begun, other = provider.begin(BACK, at=now()), provider.begin(BACK, at=now())
    response = came_back(identity_server, begun)

    def finish(verifier: str) -> ProvenIdentity:
        return provider.finish(response, BACK, nonce=begun.nonce, verifier=verifier, at=now())

    with pytest.raises(ProviderError, match=r"did not accept the code, .* \(invalid_grant\)"):
        finish(other.verifier)
    response = came_back(identity_server, begun)
    assert finish(begun.verifier).subject == "248289761001"
    with pytest.raises(ProviderError, match=r"did not accept the code, .* \(invalid_grant\)"):
        finish(begun.verifier)


def test_an_answer_of_another_provider_is_refused(provider: IdentityProvider, identity_server: IdentityServer) -> None:
    assert refusal(provider, identity_server, iss="https://id.example.org") == (
        "The answer is of another provider than Example University."
    )
    assert sign_in(provider, identity_server, iss=identity_server.site).subject == "248289761001"
    identity_server.published["authorization_response_iss_parameter_supported"] = True
    named = IdentityProvider(access_to(identity_server.site))
    assert "another provider" in refusal(named, identity_server)
    assert sign_in(named, identity_server, iss=identity_server.site).subject == "248289761001"


@pytest.mark.parametrize(
    ("published", "sentence"),
    [
        (
            {"issuer": "https://id.example.org"},
            "The provider calls itself “https://id.example.org”, and the setting ANNOTATOR_OIDC_ISSUER has “{site}”: ",
        ),
        ({"issuer": None}, "The provider calls itself “None”"),
        ({"jwks_uri": None}, "The provider publishes no address with https:// as its jwks_uri."),
        ({"token_endpoint": "http://id.example.org/token"}, "The provider publishes no address with https:// as its"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "The provider publishes no address with https:// as its"),
        ({"authorization_endpoint": "https://[x"}, "The provider publishes no address with https:// as its"),
        (
            {"token_endpoint": "https://tokens.example.org/"},
            "This server may not send to “tokens.example.org”: an administrator names the hosts in ANNOTATOR_OUTGOING",
        ),
    ],
)
def test_a_provider_that_publishes_something_wrong_is_named(
    provider: IdentityProvider, identity_server: IdentityServer, published: dict[str, object], sentence: str
) -> None:
    identity_server.published = published
    assert refusal(provider, identity_server).startswith(sentence.format(site=identity_server.site))


def drip(request: BaseHTTPRequestHandler) -> None:
    """A byte now and then, without end."""
    request.send_response(200)
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    for _ in range(100):
        request.wfile.write(b" ")
        request.wfile.flush()
        time.sleep(0.05)


def drip_headers(request: BaseHTTPRequestHandler) -> None:
    """A byte of a header now and then; ends by itself after five seconds."""
    request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    with suppress(OSError):
        for _ in range(100):
            request.wfile.write(b"x")
            request.wfile.flush()
            time.sleep(0.05)
    request.close_connection = True


def drip_without_length(request: BaseHTTPRequestHandler) -> None:
    """A JSON object, and blanks after it, whose end is that of the connection."""
    request.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n{}")
    with suppress(OSError):
        for _ in range(100):
            request.wfile.write(b" ")
            request.wfile.flush()
            time.sleep(0.05)
    request.close_connection = True


def no_http(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"SSH-2.0-OpenSSH\r\n\r\n")
    request.close_connection = True


MISBEHAVIOURS: dict[str, tuple[Callable[[BaseHTTPRequestHandler], None], str]] = {
    "html": (lambda request: send(request, b"<!doctype html><p>Hello"), "The provider sent HTML or XML, not JSON."),
    "prose": (lambda request: send(request, b"Hello"), "The provider sent something that is not JSON."),
    "nested": (lambda request: send(request, b"[" * 99_999), "The provider sent something that is not JSON."),
    "list": (lambda request: send(request, b"[1]"), "The provider sent JSON that is no object."),
    "error": (lambda request: send(request, b"", status=503), "The provider refused with HTTP status 503."),
    "redirect": (
        lambda request: send(request, b"", status=302, Location="/x"),
        "The provider redirects to another address, which is not followed (HTTP status 302).",
    ),
    "large": (lambda request: send(request, b" " * 2_000_000), "The provider sent more than 1 MiB."),
    "no HTTP": (no_http, "The provider broke off: it sent less than it had announced, or no HTTP."),
}


@pytest.mark.parametrize("name", MISBEHAVIOURS)
@pytest.mark.parametrize("path", [CONFIGURATION, "/jwks"])
def test_a_provider_that_sends_something_else_is_refused_with_a_sentence(
    provider: IdentityProvider, identity_server: IdentityServer, name: str, path: str
) -> None:
    identity_server.behaviours[path], sentence = MISBEHAVIOURS[name]
    assert refusal(provider, identity_server) == sentence


NO_TOKEN = "The provider sent no token in exchange for the code."


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        (MISBEHAVIOURS["html"][0], NO_TOKEN),
        (MISBEHAVIOURS["nested"][0], NO_TOKEN),
        (MISBEHAVIOURS["list"][0], NO_TOKEN),
        (MISBEHAVIOURS["error"][0], "The provider refused with HTTP status 503."),
        (MISBEHAVIOURS["redirect"][0], "The provider redirects to another address"),
        (lambda request: send_json(request, {"error": ["x"]}), "Example University did not accept the code, or this"),
        (
            lambda request: send(request, b'{"error": "x", "error_description": "\\u00e9"}', status=400),
            NO_TOKEN,
        ),
        (
            lambda request: send_json(request, {"access_token": "x"}),
            "The provider sent no ID token: it may not offer OpenID Connect to this client.",
        ),
        (lambda request: send_json(request, {"id_token": 7, "access_token": "x"}), "The provider sent no ID token"),
    ],
)
def test_a_token_endpoint_that_sends_something_else_is_refused_with_a_sentence(
    provider: IdentityProvider,
    identity_server: IdentityServer,
    behaviour: Callable[[BaseHTTPRequestHandler], None],
    sentence: str,
) -> None:
    identity_server.behaviours["/token"] = behaviour
    assert refusal(provider, identity_server).startswith(sentence)


@pytest.mark.parametrize(
    "other",
    [
        {"kty": "AKP", "alg": "ML-DSA-44", "kid": "new", "pub": "abcd"},
        {"kty": "EC", "crv": "brainpoolP256r1", "kid": "new", "x": "abcd", "y": "abcd"},
        {"kty": "RSA"},
        "x",
    ],
)
def test_a_key_that_cannot_be_read_is_no_obstacle_to_the_others(
    provider: IdentityProvider, identity_server: IdentityServer, other: object
) -> None:
    readable = KeySet([key("first")]).as_dict()["keys"]
    identity_server.behaviours["/jwks"] = lambda request: send_json(request, {"keys": [other, *readable]})
    assert sign_in(provider, identity_server).subject == "248289761001"


@pytest.mark.parametrize("published", [{}, {"keys": []}, {"keys": 7}, {"keys": [{"kty": "RSA"}]}, {"keys": ["x"]}])
def test_keys_that_cannot_be_read_are_refused(
    provider: IdentityProvider, identity_server: IdentityServer, published: object
) -> None:
    identity_server.behaviours["/jwks"] = lambda request: send_json(request, published)
    assert refusal(provider, identity_server) == "The provider publishes no keys that can be read."


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_requests, "SECONDS_TO_ANSWER", 0.2)
    monkeypatch.setattr(provider_requests, "SECONDS_OF_A_RESPONSE", 0.2)


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("behaviour", [drip, drip_headers, drip_without_length, lambda _: time.sleep(1)])
def test_a_slow_provider_is_not_waited_for(
    provider: IdentityProvider, identity_server: IdentityServer, behaviour: Callable[[BaseHTTPRequestHandler], None]
) -> None:
    identity_server.behaviours[CONFIGURATION] = behaviour
    with pytest.raises(SlowProviderError, match="The provider did not answer within 0 seconds"):
        provider.begin(BACK, at=now())


@pytest.mark.usefixtures("_impatient")
def test_people_who_wait_for_a_slow_provider_wait_for_one_request(
    provider: IdentityProvider, identity_server: IdentityServer
) -> None:
    identity_server.behaviours[CONFIGURATION] = drip_headers

    def begin(_: int) -> str:
        with pytest.raises(SlowProviderError) as slow:
            provider.begin(BACK, at=now())
        return str(slow.value)

    with ThreadPoolExecutor(4) as several:
        assert set(several.map(begin, range(4))) == {"The provider did not answer within 0 seconds."}
    assert identity_server.asked == [CONFIGURATION]


@pytest.fixture
def closed() -> str:
    """The address of a provider that is down."""
    server = IdentityServer()
    server.close()
    return server.site


def test_a_provider_that_is_down_is_asked_again_ten_seconds_after_it_failed(
    closed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, clock = IdentityProvider(access_to(closed)), [100.0]
    monkeypatch.setattr(identity_provider, "monotonic", lambda: clock[0])
    with pytest.raises(ProviderError, match=r"The provider cannot be reached: .*refused") as first:
        provider.begin(BACK, at=now())
    clock[0] = 109.0
    # The request of a person who had to wait long.
    with pytest.raises(ProviderError) as second:
        provider.begin(BACK, at=now() + timedelta(seconds=30))
    assert second.value is first.value
    clock[0] = 111.0
    with pytest.raises(ProviderError) as third:
        provider.begin(BACK, at=now())
    assert third.value is not first.value


def test_the_secret_is_not_shown() -> None:
    assert SECRET not in repr(access_to("https://id.example.org"))
