"""Libraries that last: documents, index, statistics and signatures in SQLite or PostgreSQL.

`doublet.store.database.Store` is the door. Django (its models, connections and migrations) lives here and nowhere
above; importing this package does not import it. Explained in docs/explanation/library-store.md.
"""
