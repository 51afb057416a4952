"""What proves the claims in docs: cost, proofs, mutants, faults, coverage, benchmarks, studies."""
