"""Commands that work on a remote site through its API, for participants and for judges that are programs."""
