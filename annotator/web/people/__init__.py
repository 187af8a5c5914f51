"""Pages of people."""

from annotator.web.people import (
    accept_invitation,
    accounts,
    email,
    forgotten_password,
    identities,
    invitations,
    members,
    people,
    provider,
    second_factor,
    sign_in_code,
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
    people.blueprint,
    provider.blueprint,
    second_factor.blueprint,
    sign_in_code.blueprint,
    tokens.blueprint,
)
