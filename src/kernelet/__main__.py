"""`python -m kernelet` is the command `kernelet`."""

from kernelet.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
