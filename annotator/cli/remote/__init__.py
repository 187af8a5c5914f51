"""Commands that work on a site elsewhere, by its API: what participants and judges that are programs do."""
