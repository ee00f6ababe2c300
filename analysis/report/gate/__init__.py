"""Gate: what came of its conditions, as JSON, JUnit XML and Markdown."""
