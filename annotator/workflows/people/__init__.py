"""People: accounts, members, invitations, tokens, and erasure."""
