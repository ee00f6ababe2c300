"""Recording from a page: models, the one job that runs, experiments that are kept."""
