"""The web application of a rewriter: pages and an API, one search for all who wait."""
