"""Every step from one layout of the database to the next. A released step is never changed."""
