"""``make regress``: benches x configurations x simulators x seeds, resumable, on a cluster too."""
