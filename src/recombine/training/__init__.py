"""One loop that trains populations of models."""
