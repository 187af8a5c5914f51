"""What a browser is asked for a passkey, and which responses are right: signatures are real (ES256)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from passkey_device import Device, decoded, encoded

from annotator.errors import InvalidValueError, NotAllowedError
from annotator.workflows.people.passkey_protocol import (
    NewPasskey,
    PasskeySite,
    Signed,
    creation_options,
    credential_in,
    read_new,
    read_signed,
    request_options,
    site_at,
)
from annotator.workflows.people.passkeys import new_challenge

SITE = PasskeySite("https://pool.example.org", "pool.example.org")


def made_by(device: Device, challenge: str, /, **others: str | None) -> NewPasskey:
    options = creation_options(SITE, challenge, user_handle=encoded(b"h" * 32), name="jo", known=[])
    return read_new(SITE, challenge, device.create(options, **others))


def signed_by(device: Device, passkey: NewPasskey, challenge: str, response: str | None = None) -> Signed:
    given_ = response or device.get(request_options(SITE, challenge))
    return read_signed(SITE, challenge, given_, credential=passkey.credential, public_key=passkey.public_key)


@pytest.mark.parametrize(
    ("address", "origin", "host"),
    [
        ("https://pool.example.org", "https://pool.example.org", "pool.example.org"),
        ("https://Pool.Example.org:443/pool", "https://pool.example.org", "pool.example.org"),
        ("https://pool.example.org:8443", "https://pool.example.org:8443", "pool.example.org"),
        ("http://localhost:8000", "http://localhost:8000", "localhost"),
        ("http://pool.localhost", "http://pool.localhost", "pool.localhost"),
        ("https://pöl.example", "https://xn--pl-fka.example", "xn--pl-fka.example"),
    ],
)
def test_an_address_with_https_or_of_this_machine_is_a_site(address: str, origin: str, host: str) -> None:
    assert site_at(address) == PasskeySite(origin, host)


@pytest.mark.parametrize(
    "address", ["http://pool.example.org", "http://127.0.0.1:8000", "https://192.0.2.1", "https://[::1]", ""]
)
def test_at_other_addresses_browsers_use_no_passkeys(address: str) -> None:
    with pytest.raises(NotAllowedError, match="only at an address with https and a host name"):
        site_at(address)


def test_a_passkey_is_made_and_signs() -> None:
    device, challenge = Device(), new_challenge()
    passkey = made_by(device, challenge)
    assert (passkey.credential, passkey.sign_count) == (encoded(device.id), 0)
    assert signed_by(device, passkey, new_challenge()) == Signed(1, is_verified=True, user_handle=encoded(b"h" * 32))
    device.verifies = False
    assert not signed_by(device, passkey, new_challenge()).is_verified


@pytest.mark.parametrize(
    "wrong",
    [
        {"challenge": encoded(b"another challenge, of 32 bytes !")},
        {"type": "webauthn.get"},
        {"challenge": None},
        {"type": None},
    ],
)
def test_a_passkey_made_for_something_else_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match="is not right"):
        made_by(Device(), new_challenge(), **wrong)


@pytest.mark.parametrize(
    "device",
    [
        Device(origin="https://evil.example.org"),
        Device(origin="https://pool.example.org:8443"),
        Device(origin="http://pool.example.org"),
        Device(origin="https://sub.pool.example.org"),
        Device(cross_origin=True),
    ],
)
def test_another_address_is_refused(device: Device) -> None:
    with pytest.raises(InvalidValueError, match="at another address than that of this site"):
        made_by(device, new_challenge())
    right = Device(key=device.key, id=device.id)
    passkey = made_by(right, new_challenge())
    with pytest.raises(InvalidValueError, match="at another address than that of this site"):
        signed_by(device, passkey, new_challenge())


def test_the_host_must_be_that_of_the_site() -> None:
    with pytest.raises(InvalidValueError, match="is not right"):
        made_by(Device(host="example.org"), new_challenge())


def test_a_signature_of_another_key_challenge_or_content_is_refused() -> None:
    device, challenge = Device(), new_challenge()
    passkey = made_by(device, challenge)
    stranger = Device(id=device.id)
    wrong = [
        stranger.get(request_options(SITE, challenge)),
        device.get(request_options(SITE, new_challenge())),
        device.get(request_options(SITE, challenge), type="webauthn.create"),
        Device(key=device.key).get(request_options(SITE, challenge)),  # another id
    ]
    counted = json.loads(device.get(request_options(SITE, challenge)))
    data = bytearray(decoded(counted["response"]["authenticatorData"]))
    data[-1] += 1  # its count of signatures
    counted["response"]["authenticatorData"] = encoded(bytes(data))
    for response in (*wrong, json.dumps(counted)):
        with pytest.raises(InvalidValueError, match="is not right"):
            signed_by(device, passkey, challenge, response)


def test_an_algorithm_that_was_not_asked_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device()
    key = device.cose() | {3: -35}
    monkeypatch.setattr(Device, "cose", lambda _: key)
    with pytest.raises(InvalidValueError, match="is not right"):
        made_by(device, new_challenge())


def test_what_is_asked_for_names_what_is_known() -> None:
    new = creation_options(SITE, "c", user_handle="h", name="jo", known=["a"])
    assert new["excludeCredentials"] == [{"type": "public-key", "id": "a"}]
    assert new["rp"]["id"] == "pool.example.org"
    alone, after_password = request_options(SITE, "c"), request_options(SITE, "c", ["a"])
    assert (alone["allowCredentials"], alone["userVerification"]) == ([], "required")
    assert (len(after_password["allowCredentials"]), after_password["userVerification"]) == (1, "discouraged")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "rawId", "type", "response", "clientDataJSON", "signature"]), inner)
    ),
    max_leaves=12,
)


@given(response=st.text(max_size=50) | JSON.map(json.dumps))
def test_whatever_is_sent_is_refused_with_a_sentence(response: str) -> None:
    passkey = NewPasskey("YQ", "oA", 0, is_verified=True)
    for read in (
        lambda: read_new(SITE, "YQ", response),
        lambda: signed_by(Device(), passkey, "YQ", response or " "),
    ):
        with pytest.raises(InvalidValueError):
            read()


@pytest.mark.parametrize("response", ["[" * 60_000, '"' + "a" * 70_000 + '"', "", "null", '{"rawId": 7}', "é"])
def test_long_deep_and_malformed_responses_are_refused(response: str) -> None:
    with pytest.raises(InvalidValueError, match="is not right"):
        credential_in(response)


@given(content=st.binary(max_size=200))
def test_whatever_a_device_says_is_refused_with_a_sentence(content: bytes) -> None:
    client = json.dumps({"type": "webauthn.create", "challenge": "YQ", "origin": SITE.origin}).encode()
    fields = {"clientDataJSON": encoded(client), "attestationObject": encoded(content)}
    response = json.dumps({"id": "YQ", "rawId": "YQ", "type": "public-key", "response": fields})
    with pytest.raises(InvalidValueError):
        read_new(SITE, "YQ", response)
