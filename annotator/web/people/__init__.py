"""Pages of people."""

from annotator.web.people import (
    accept_invitation,
    accounts,
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
    identities.blueprint,
    invitations.blueprint,
    members.blueprint,
    people.blueprint,
    provider.blueprint,
    second_factor.blueprint,
    sign_in_code.blueprint,
    tokens.blueprint,
)
