"""memstream in frameworks of others: each a thin layer over the client, with an extra of its own."""
