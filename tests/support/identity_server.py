"""A provider of sign-in by OpenID Connect: a real local server that signs ID tokens with RSA, and can misbehave.

It follows OpenID Connect Core 1.0 and Discovery 1.0: the code is given once, for the redirect address and the challenge
of its request, and only to a client that shows its secret and the verifier.
"""

import base64
import hashlib
import time
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey
from local_server import LocalServer, body_of, send, send_json

CLIENT = "annotator-tests"
SECRET = "secret-of-the-client"
# Path → what to do in place of the usual answer.
Misbehaving = Callable[[BaseHTTPRequestHandler], None]


@cache
def key(name: str) -> RSAKey:
    """A key of 2,048 bits; making one takes a while."""
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig", "alg": "RS256"})


class IdentityServer(LocalServer):
    """Signs everybody in as `claims` say, without asking; `asks` shows a page with a button first.

    `behaviours` answer for their paths instead, `claims` go over those that are right (None leaves one out), and
    `published` over what the discovery document has.
    """

    def __init__(self) -> None:
        """Serve at a free port."""
        self.claims: dict[str, Any] = {"sub": "248289761001", "email": "ola@uni.example"}
        self.published: dict[str, Any] = {}
        self.behaviours: dict[str, Misbehaving] = {}
        self.answers: dict[str, str] = {}  # parameters over those with which the browser is sent back
        self.asks = False
        self.keys = ["first"]
        self.signs_with: RSAKey | OctKey | None = None
        self.algorithm = "RS256"
        self.asked: list[str] = []  # paths
        self.authorizations: list[dict[str, str]] = []
        self.codes: dict[str, dict[str, str]] = {}  # of requests, until they are exchanged
        self.has_basic = True
        super().__init__()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer a request."""
        path = urlsplit(request.path).path
        self.asked.append(path)
        if path in self.behaviours:
            self.behaviours[path](request)
        elif path == "/.well-known/openid-configuration":
            send_json(request, self.configuration())
        elif path == "/authorize":
            self.authorize(request)
        elif path == "/token":
            self.exchange(request)
        elif path == "/jwks":
            send_json(request, KeySet([key(name) for name in self.keys]).as_dict())
        else:
            send(request, b"", status=404)

    def configuration(self) -> dict[str, Any]:
        """What it publishes about itself."""
        return {
            "issuer": self.site,
            "authorization_endpoint": f"{self.site}/authorize",
            "token_endpoint": f"{self.site}/token",
            "jwks_uri": f"{self.site}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": [
                "client_secret_basic" if self.has_basic else "client_secret_post"
            ],
        } | self.published

    def authorize(self, request: BaseHTTPRequestHandler) -> None:
        """Send the browser back with a code, or show a page that asks first."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}
        self.authorizations.append(asked)
        assert asked["client_id"] == CLIENT
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        back = self.back(asked)
        if self.asks:
            page = f'<!doctype html><title>Provider</title><h1>Provider</h1><a href="{back}">Allow</a>'.replace(
                "&", "&amp;"
            )
            send(request, page.encode(), Content_Type="text/html; charset=utf-8")
        else:
            send(request, b"", status=302, Location=back)

    def back(self, asked: dict[str, str]) -> str:
        """Where a browser with this request goes when its owner has signed in."""
        code = hashlib.sha256(repr(sorted(asked.items())).encode()).hexdigest()
        self.codes[code] = asked
        answer = {"code": code, "state": asked["state"]} | self.answers
        return f"{asked['redirect_uri']}?{urlencode({name: value for name, value in answer.items() if value})}"

    def exchange(self, request: BaseHTTPRequestHandler) -> None:
        """Give the ID token for a code, once."""
        form = {name: values[0] for name, values in parse_qs(body_of(request).decode()).items()}
        basic = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        is_client = request.headers["Authorization"] == basic if self.has_basic else form.get("client_secret") == SECRET
        asked = self.codes.pop(form.get("code", ""), None)
        if not is_client:
            send(request, b'{"error": "invalid_client"}', status=401)
        elif (
            asked is None
            or form["redirect_uri"] != asked["redirect_uri"]
            or challenge_of(form["code_verifier"]) != asked["code_challenge"]
        ):
            send(request, b'{"error": "invalid_grant", "error_description": "<b>No.</b>"}', status=400)
        else:
            token = {"access_token": "of-the-tests", "token_type": "Bearer", "expires_in": 60}
            send_json(request, {**token, "id_token": self.id_token(asked)})

    def id_token(self, asked: dict[str, str]) -> str:
        """The signed ID token that answers a request."""
        now = int(time.time())
        claims = {
            "iss": self.site,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "at_hash": base64.urlsafe_b64encode(hashlib.sha256(b"of-the-tests").digest()[:16]).decode().rstrip("="),
        } | self.claims
        claims = {name: value for name, value in claims.items() if value is not None}
        signing = self.signs_with or key(self.keys[0])
        return jwt.encode({"alg": self.algorithm, "kid": signing.kid}, claims, signing)


def challenge_of(verifier: str) -> str:
    """The challenge of a verifier (RFC 7636, section 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
