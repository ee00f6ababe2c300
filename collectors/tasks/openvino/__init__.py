"""What workers of OpenVINO do, and the one that compares its values."""
