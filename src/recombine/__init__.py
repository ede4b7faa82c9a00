"""Learned compositional data augmentation for sequence-to-sequence data."""

__version__ = "0.1.0"
