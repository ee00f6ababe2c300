"""The faces of FuseScope: the dashboard and the command line."""
