"""The HTTP gateway: a thin client of the topics. It talks to Kafka only, never to the store.

keys      who may do what: API keys, hashed at rest
guard     what every request must pass before its endpoint sees it
models    shapes of requests and answers
routes    the endpoints
app       all of it as one ASGI application
server    the application on a port, in a worker's event loop
"""
