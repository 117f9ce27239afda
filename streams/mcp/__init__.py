"""Memory as tools of the Model Context Protocol: a thin client of the topics, as the gateway `streams.http` is.

`tools` has what a model may call, `answers` what it gets back, `server` turns failures into words that a model can act
on, `link` connects to Kafka when it is first needed, `stdio` and `http` are the two ways in.
"""
