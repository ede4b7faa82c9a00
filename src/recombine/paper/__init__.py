"""The paper's experiments: what its tables say, how each row is run, and how ours compare."""
