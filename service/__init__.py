"""Transport, tables, storage, watching, AI seats and the command line.

The only package that knows protobuf and clocks.
"""
