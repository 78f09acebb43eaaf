"""Benchmarks, each one command, each against something."""
