"""`make` in a test that `make test` has started."""

import os

OUTER = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")


def environment() -> dict[str, str]:
    """Ours without what the `make` outside, as with CHANGED=1, hands to those inside."""
    return {name: value for name, value in os.environ.items() if name not in OUTER}
