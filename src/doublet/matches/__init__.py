"""5. Matches: candidates → fragments, shares, groups. A candidate is never shown before it was verified here."""
