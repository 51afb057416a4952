"""Python's garbage collector, which looks for cycles among all objects, again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Pause the collector: for a function that makes many objects, none of them in a cycle.

    Kernels and schedules are a third of their time in the making otherwise. Afterwards all objects
    count as old: those that were made are not looked through at once. As a context, or as a
    decorator.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            if not gc.get_freeze_count():  # otherwise the program has frozen some, to stay so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
