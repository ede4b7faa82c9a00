"""Augmenters: from examples to new examples, behind one protocol."""
