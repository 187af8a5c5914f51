"""The door for programs: REST under `/api/v1`, described by OpenAPI; in English, as the command line is."""
