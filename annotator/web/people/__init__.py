"""Pages of people."""

from annotator.web.people import accept_invitation, accounts, invitations, members, people, tokens

BLUEPRINTS = (
    accept_invitation.blueprint,
    accounts.blueprint,
    invitations.blueprint,
    members.blueprint,
    people.blueprint,
    tokens.blueprint,
)
