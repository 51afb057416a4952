"""The hardware as data: instruction set and register maps, and the step engine's twin."""
