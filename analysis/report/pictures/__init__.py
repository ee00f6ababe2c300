"""Pictures of the report, drawn as SVG."""
