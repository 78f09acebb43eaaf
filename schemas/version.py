"""The version of the stored data, which a store's collections carry."""

SCHEMA_VERSION = 1
"""Rises when rows of the bank are written differently, so that an older or newer program does not misread them."""
