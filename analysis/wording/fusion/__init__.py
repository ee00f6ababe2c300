"""Words for fusion: its groups, what became of operators, what it brought."""
