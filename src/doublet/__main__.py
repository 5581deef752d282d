"""``python -m doublet`` is the command ``doublet``."""

from doublet.cli import main

if __name__ == "__main__":
    main()
