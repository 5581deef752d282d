"""Work in the background: kinds of jobs (`kinds`), and the processes that do them (`worker`, `supervisor`).

The queue itself is a room of the store (`doublet.store.jobs`). Explained in docs/how-to/background-work.md.
"""
