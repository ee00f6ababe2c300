"""`python -m fusescope`: the command line."""

from fusescope.app.cli.main import program

program()
