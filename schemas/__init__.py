"""Data contracts, and nothing else: events, slices, extractions, memories, vocabulary, settings.

Everything here is a value. No module of this package opens a socket, a file of the user's or a clock; the other
packages import from here and this package imports from none of them.
"""
