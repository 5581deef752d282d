"""Works that people check: how they come in, how they are checked, their reports and what people decide about them."""
