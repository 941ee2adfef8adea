"""The command `keepnet`: the program, which is inside the package's one library.

Importing `keepnet` would load NumPy, SciPy and scikit-learn first, which takes longer than most
runs of the program. So only the library is loaded.
"""

import importlib.machinery
import importlib.util
import signal
import sys


def main():
    """Runs the command line of this process; does not return."""
    package = importlib.util.find_spec("keepnet")
    spec = importlib.machinery.PathFinder.find_spec(
        "keepnet._keepnet", package.submodule_search_locations
    )
    library = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(library)
    # The program listens for Ctrl-C by itself; Python's own handler would raise at the end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(library.command(["keepnet", *sys.argv[1:]]))
