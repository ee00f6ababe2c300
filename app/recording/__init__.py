"""Recording from a page: models, the one recording that runs, recordings that are kept."""
