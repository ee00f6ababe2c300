"""What agents may ask, over the Model Context Protocol: docs/agents.md."""
