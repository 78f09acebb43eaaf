"""The bank: the Qdrant store, `resolve`, rank, the grounding block, privacy and audit. No Bytewax."""
