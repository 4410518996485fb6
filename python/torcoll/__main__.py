# SPDX-License-Identifier: MIT
"""python -m torcoll: the versions of package, library and module, and whether the module is there."""

import sys

from . import Context, Error, __version__, _abi


def main() -> int:
    """Print what there is. Return 0 if comms can be joined here."""
    print(f"package  {__version__} (Python {sys.version.split()[0]})")
    try:
        library = _abi.load()
    except Error as e:
        print(f"library  {e}")
        return 1
    print(f"library  {library.torcoll_version().decode()} ({library._name})")
    try:
        with Context() as context:
            info = context.info()
    except Error as e:
        print(f"module   {e}")
        return 1
    print(f"module   {info.version}, interface {info.abi_version}, features: {', '.join(sorted(info.features))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
