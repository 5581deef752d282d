"""The service: pages for people and REST for programs, over the same jobs as the command line.

Django lives here and in `doublet.store`. One folder for each thing that a user sees: `accounts` (people, roles, tokens,
audit), `works` (checks and their reports), `pages` (home, libraries, repeats, methods), `api` (REST, a file for each
resource). `rights` says who may do what, in one table; `words` holds every sentence in English and Russian.
"""
