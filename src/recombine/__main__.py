"""Lets ``python -m recombine`` do what ``recombine`` does."""

from recombine.cli import main

if __name__ == "__main__":
    main()
