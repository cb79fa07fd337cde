"""``python -m treeglot`` is the command line."""

from treeglot.cli import main

if __name__ == "__main__":
    main()
