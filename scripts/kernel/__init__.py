"""What the evidence and the developers' tools stand on: files, digests, journals, Yosys, pages."""
