"""The parts of the page Compare that are behind titles."""
