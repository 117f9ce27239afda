"""The server itself. See the package's docstring for what it is and what it is not."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import qdrant_edge as edge
from aiohttp import web
from pydantic import TypeAdapter, ValidationError
from qdrant_client import models

from tests.store_server import convert

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
UPDATE: TypeAdapter[Any] = TypeAdapter(models.UpdateOperations)
DELETION: TypeAdapter[Any] = TypeAdapter(models.PointsSelector)

# As a Qdrant server has it.
MAX_REQUEST_BYTES = 32 * 1024 * 1024


class Server:
    """Collections as shards in directories; `<name>.json` beside each holds the request that made it."""

    def __init__(self, data: Path) -> None:
        self._data = data
        data.mkdir(parents=True, exist_ok=True)
        self._shards = {
            path.stem: edge.EdgeShard.load(str(path.with_suffix("")))
            for path in sorted(data.glob("*.json"))
            if path.with_suffix("").is_dir()
        }

    def close(self) -> None:
        for shard in self._shards.values():
            shard.flush()
            shard.close()

    def _shard(self, request: web.Request) -> edge.EdgeShard:
        name = request.match_info["name"]
        if name not in self._shards:
            raise web.HTTPNotFound(text=f"Not found: Collection `{name}` doesn't exist!")
        return self._shards[name]

    async def root(self, request: web.Request) -> web.Response:
        return web.json_response({"title": "store for tests", "version": "1.17.0"})

    async def exists(self, request: web.Request) -> web.Response:
        return _answer({"exists": request.match_info["name"] in self._shards})

    async def create(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        text = await request.text()
        # No await from here on: of two who ask at once, one is too late.
        if name in self._shards:
            raise web.HTTPConflict(text=f"Wrong input: Collection `{name}` already exists!")
        home, part = self._data / name, self._data / f"{name}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        edge.EdgeShard.create(str(part), convert.config(models.CreateCollection.model_validate_json(text))).close()
        (self._data / f"{name}.json").write_text(text, encoding="utf-8")
        part.rename(home)
        self._shards[name] = edge.EdgeShard.load(str(home))
        return _answer(True)

    async def drop(self, request: web.Request) -> web.Response:
        shard = self._shards.pop(request.match_info["name"], None)
        if shard is not None:
            shard.close()
            home = self._data / request.match_info["name"]
            home.with_name(f"{home.name}.json").unlink()
            shutil.rmtree(home)
        return _answer(shard is not None)

    async def info(self, request: web.Request) -> web.Response:
        found = self._shard(request).info()
        made = json.loads((self._data / f"{request.match_info['name']}.json").read_text(encoding="utf-8"))
        schema = {
            key: {"data_type": str(index.data_type).rpartition(".")[2].lower(), "points": index.points}
            for key, index in found.payload_schema.items()
        }
        hnsw = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000, **(made.get("hnsw_config") or {})}
        return _answer(
            {
                "status": "green",
                "optimizer_status": "ok",
                "points_count": found.points_count,
                "segments_count": found.segments_count,
                "payload_schema": schema,
                "config": {
                    "params": {"vectors": made.get("vectors"), "sparse_vectors": made.get("sparse_vectors")},
                    "hnsw_config": hnsw,
                    "optimizer_config": {
                        "deleted_threshold": 0.2,
                        "vacuum_min_vector_number": 1000,
                        "default_segment_number": 0,
                        "flush_interval_sec": 5,
                    },
                },
            }
        )

    async def index(self, request: web.Request) -> web.Response:
        wanted = models.CreateFieldIndex.model_validate_json(await request.text())
        schema = convert.index(wanted.field_schema)
        self._shard(request).update(edge.UpdateOperation.create_field_index(wanted.field_name, schema))
        return _updated()

    async def upsert(self, request: web.Request) -> web.Response:
        wanted = models.PointsList.model_validate_json(await request.text())
        self._shard(request).update(edge.UpdateOperation.upsert_points(convert.points(wanted)))
        return _updated()

    async def update(self, request: web.Request) -> web.Response:
        operations = UPDATE.validate_json(await request.text()).operations
        shard = self._shard(request)
        for operation in operations:
            if not isinstance(operation, models.OverwritePayloadOperation):
                raise ValueError(f"no operation of the type {type(operation).__name__}")
            payload = operation.overwrite_payload
            shard.update(edge.UpdateOperation.overwrite_payload(list(payload.points or ()), payload.payload))
        return _answer([{"operation_id": 0, "status": "completed"} for _ in operations])

    async def delete(self, request: web.Request) -> web.Response:
        wanted = DELETION.validate_json(await request.text())
        if isinstance(wanted, models.FilterSelector):
            chosen = convert.filter_of(wanted.filter)
            assert chosen is not None
            operation = edge.UpdateOperation.delete_points_by_filter(chosen)
        else:
            operation = edge.UpdateOperation.delete_points(list(wanted.points))
        self._shard(request).update(operation)
        return _updated()

    async def retrieve(self, request: web.Request) -> web.Response:
        wanted = models.PointRequest.model_validate_json(await request.text())
        rows = self._shard(request).retrieve(
            list(wanted.ids), convert.selector(wanted.with_payload), convert.selector(wanted.with_vector)
        )
        return _answer([convert.row(row) for row in rows])

    async def scroll(self, request: web.Request) -> web.Response:
        wanted = models.ScrollRequest.model_validate_json(await request.text())
        rows, following = self._shard(request).scroll(
            edge.ScrollRequest(
                offset=wanted.offset,
                limit=wanted.limit,
                filter=convert.filter_of(wanted.filter),
                with_payload=convert.selector(wanted.with_payload),
                with_vector=bool(wanted.with_vector),
                order_by=convert.order(wanted.order_by) if isinstance(wanted.order_by, models.OrderBy) else None,
            )
        )
        offset = None if following is None else str(following)
        return _answer({"points": [convert.row(row) for row in rows], "next_page_offset": offset})

    async def query(self, request: web.Request) -> web.Response:
        wanted = models.QueryRequestBatch.model_validate_json(await request.text())
        queries = [convert.query(one) for one in wanted.searches]
        answers = self._shard(request).query_batch(edge.QueryBatchRequest(queries))
        return _answer([{"points": [convert.scored(point) for point in answer]} for answer in answers])

    async def facet(self, request: web.Request) -> web.Response:
        wanted = models.FacetRequest.model_validate_json(await request.text())
        found = self._shard(request).facet(
            edge.FacetRequest(
                wanted.key,
                limit=wanted.limit or 10,
                exact=bool(wanted.exact),
                filter=convert.filter_of(wanted.filter),
            )
        )
        return _answer({"hits": [{"value": hit.value, "count": hit.count} for hit in found.hits]})

    async def count(self, request: web.Request) -> web.Response:
        wanted = models.CountRequest.model_validate_json(await request.text())
        count = self._shard(request).count(edge.CountRequest(filter=convert.filter_of(wanted.filter)))
        return _answer({"count": count})


def _answer(result: Any) -> web.Response:
    return web.json_response({"result": result, "status": "ok", "time": 0.0})


def _updated() -> web.Response:
    return _answer({"operation_id": 0, "status": "completed"})


def _failed(status: int, text: str) -> web.Response:
    return web.json_response({"status": {"error": text}, "time": 0.0}, status=status)


def errors(api_key: str | None) -> Any:
    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if api_key is not None and request.headers.get("api-key") != api_key:
            return _failed(401, "Must provide an API key or an Authorization bearer token")
        try:
            return await handler(request)
        except web.HTTPException as error:
            return _failed(error.status, error.text or "")
        except (ValueError, ValidationError, TypeError) as error:
            return _failed(400, str(error))
        except Exception as error:
            wrong = "Vector dimension error" in str(error) or "No point with id" in str(error)
            return _failed(400 if wrong else 500, str(error))

    return middleware


def application(data: Path, api_key: str | None = None) -> web.Application:
    server = Server(data)
    app = web.Application(middlewares=[errors(api_key)], client_max_size=MAX_REQUEST_BYTES)
    collection = "/collections/{name}"
    app.add_routes(
        [
            web.get("/", server.root),
            web.get(f"{collection}/exists", server.exists),
            web.get(collection, server.info),
            web.put(collection, server.create),
            web.delete(collection, server.drop),
            web.put(f"{collection}/index", server.index),
            web.put(f"{collection}/points", server.upsert),
            web.post(f"{collection}/points", server.retrieve),
            web.post(f"{collection}/points/batch", server.update),
            web.post(f"{collection}/points/delete", server.delete),
            web.post(f"{collection}/points/scroll", server.scroll),
            web.post(f"{collection}/points/query/batch", server.query),
            web.post(f"{collection}/points/count", server.count),
            web.post(f"{collection}/facet", server.facet),
        ]
    )

    async def close(_: web.Application) -> None:
        server.close()

    app.on_cleanup.append(close)
    return app


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.store_server", description="A shared store for tests.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--api-key")
    options = parser.parse_args()
    # aiohttp announces itself through `print` once it listens.
    web.run_app(
        application(options.data, options.api_key),
        host="127.0.0.1",
        port=options.port,
        print=lambda *_: print(f"ready {options.port}", flush=True),
        access_log=None,
    )


if __name__ == "__main__":
    main()
