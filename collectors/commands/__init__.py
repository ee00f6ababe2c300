"""Commands of the user's own as variants: how they are run, timed, and where their traces lie."""
