"""What a comparison found, as one page to look at."""
