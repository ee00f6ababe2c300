"""Side-by-side timelines: one canvas script, shared by the app and the HTML report."""
