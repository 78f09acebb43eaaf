"""Runnable dataflows, one a file."""
