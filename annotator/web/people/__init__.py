"""Pages of people."""

from annotator.web.people import (
    accept_invitation,
    accounts,
    email,
    forgotten_password,
    identities,
    invitations,
    members,
    own_team,
    passkeys,
    people,
    provider,
    registration,
    second_factor,
    sign_in_code,
    sign_in_passkey,
    tokens,
)

BLUEPRINTS = (
    accept_invitation.blueprint,
    accounts.blueprint,
    email.blueprint,
    forgotten_password.blueprint,
    identities.blueprint,
    invitations.blueprint,
    members.blueprint,
    own_team.blueprint,
    passkeys.blueprint,
    people.blueprint,
    provider.blueprint,
    registration.blueprint,
    second_factor.blueprint,
    sign_in_code.blueprint,
    sign_in_passkey.blueprint,
    tokens.blueprint,
)
