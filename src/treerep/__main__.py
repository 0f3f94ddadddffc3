"""Run the command line as `python -m treerep`, for when the `treerep` script is not on the path."""

from .cli import main

if __name__ == "__main__":
    main()
