"""Jobs: the steps joined into what a user asks for. Every face (command line, pages, Spark) calls these."""
