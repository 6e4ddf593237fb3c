"""The words every process shares. Structs only: no behaviour beyond spelling and bounds.

Wire rules: JSON, camelCase, frozen structs, unknown fields refused at every entrance. New fields
carry defaults; nothing is ever removed or given another meaning (see `codec.py`, logic version).
"""
