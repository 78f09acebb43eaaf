"""Bytewax operators, one idea a file."""
