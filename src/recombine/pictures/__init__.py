"""What networks did, to be looked at."""
