"""Parts of a page behind their titles, computed where they are open."""
