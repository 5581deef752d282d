"""The native kernels, with the fold table loaded. Raises ImportError where they were not built."""

from __future__ import annotations

from doublet.kernels._native import *  # noqa: F403 - whatever native/module.cpp names
from doublet.kernels._native import load_table
from doublet.kernels.data import table_bytes

load_table(table_bytes())
