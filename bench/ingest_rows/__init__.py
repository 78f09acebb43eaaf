"""The rows of `bench.ingest`: each a program of its own that reads the topic once and prints one measurement."""
