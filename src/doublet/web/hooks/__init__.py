"""Web hooks: addresses that are told when a job has ended, each message signed with a secret (S5)."""
