"""`make formal`: proofs about the RTL with SymbiYosys (docs/formal.md)."""
