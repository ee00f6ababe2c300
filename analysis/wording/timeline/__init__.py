"""What the timelines say: of what is drawn, and what their script fills in by itself."""
