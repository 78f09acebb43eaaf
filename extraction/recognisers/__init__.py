"""Recognisers of values in text, one family a file.

Each is a function of a text in `canonical` form that yields `Found`; `extraction.entities` runs them in order and
blanks what one has found before the next looks.
"""
