"""The REST API under `/api/v1`, described by OpenAPI; its messages are in English, as on the command line."""
