"""The faces of FuseScope: the dashboard and the command line."""

if not __name__.startswith("fusescope."):
    raise ImportError("Import fusescope.app: FuseScope has no package named app alone.")
