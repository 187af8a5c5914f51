"""Pages of people."""

from annotator.web.people import (
    accept_invitation,
    accounts,
    invitations,
    members,
    people,
    second_factor,
    sign_in_code,
    tokens,
)

BLUEPRINTS = (
    accept_invitation.blueprint,
    accounts.blueprint,
    invitations.blueprint,
    members.blueprint,
    people.blueprint,
    second_factor.blueprint,
    sign_in_code.blueprint,
    tokens.blueprint,
)
