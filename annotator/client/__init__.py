"""A client of a site's API for programs: `Site`, by address and token; its errors are those of local commands."""

from annotator.client.site import Site, SiteError

__all__ = ["Site", "SiteError"]
