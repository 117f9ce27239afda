"""One thin stage a file: decode, call the domain, say what became of the record."""
