"""Python's garbage collector, which looks for cycles among all objects, again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Pause the collector: for a function that makes many objects, none of them in a cycle.

    Kernels and schedules are a third of their time in the making otherwise. As a context, or as a
    decorator.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
