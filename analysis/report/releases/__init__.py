"""What releases of an engine make of a model, as JSON, as a page, and for the engine's tracker."""
