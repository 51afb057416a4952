"""Bus fuzzing: random accesses of the tops' registers against a model of them."""
