"""Home, libraries, the queue, repeats, methods: pages that show what the store and the jobs have."""
