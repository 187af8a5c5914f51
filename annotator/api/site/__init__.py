"""What all API operations share: access, answers, the OpenAPI document."""
