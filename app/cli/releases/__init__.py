"""`fusescope bisect`: the release of an engine that lost a fusion."""
