"""Code shared by all API operations: access, responses, the OpenAPI document."""
