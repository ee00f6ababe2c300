"""What a verb was given that is more than one file: reports, several files a side."""
