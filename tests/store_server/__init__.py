"""A store that several worker processes of a test share, and that can be killed: `python -m tests.store_server`.

    python -m tests.store_server --port 6333 --data DIR [--api-key KEY]

It puts the embedded Qdrant engine behind the part of Qdrant's REST API that `streams.adapters.store.qdrant` uses, so
that the real client, its (de)serialization, its connections and its errors are in the test, together with the real
engine's filters, searches, write-ahead log and recovery. Every acknowledged write survives `kill -9`; the same
`--data` carries on. It prints `ready PORT` once it answers.

What it can't prove about a Qdrant server:

- the server's own validation and error texts (its strict mode, limits, status codes other than 400, 401, 404, 409);
- `wait=true` against `wait=false`, write ordering, consistency, replicas, shards, snapshots, aliases: here every call
  is applied before it is answered, and there is one copy;
- the optimizer that runs beside searches: nothing is ever optimized here, so the graphs (`payload_m`) are not built;
- parallel requests: calls are applied one at a time, in one thread, so no two ever race inside the engine;
- gRPC, TLS, roles of API keys (one key, all or nothing), proxies and load balancers on the way;
- versions: it accepts what the client sends, whichever server version learned it first (the deployment pins the
  image, and what each feature needs is noted where it is used);
- memory placement and speed: timings against it say nothing about a server's.
"""
