"""Memory that is kept for the next piece of work. Twin of the pool in native/buffers.hpp."""

from __future__ import annotations


def save_memory(on: bool) -> None:
    """Keep no memory for the next piece of work, as long as *on*: what is freed goes back to the system at once. The
    native kernels keep large blocks, since new pages cost more than the work on them; here there is nothing to do."""
