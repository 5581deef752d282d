"""6. Reports: results as text for a terminal, JSON, JSON lines and CSV. Colours and wording live here."""
