"""One's own data in Python: from pairs of any kind to new ones, and to predictions, with settings found in the data."""
