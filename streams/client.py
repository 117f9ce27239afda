"""What an agent service imports: publish chat messages, recall memories, learn what became of an event.

    async with MemoryClient("localhost:9092", namespace="shop") as memory:
        await memory.publish(user_id="1001", session_id="chat-7", text="I always take the window seat.")
        found = await memory.recall("Which seat does she like?", user_id="1001")

Talks to Kafka only; imports neither Faust nor a model.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self, TypeVar

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from streams.kafka import connection, make_producer
from streams.lazy import lazy
from streams.limits import MAX_RECORD_BYTES
from streams.profile import Profile

if TYPE_CHECKING:
    import pydantic

    import schemas
    from streams import records
    from streams.records import Headers
    from streams.settings import Settings
else:
    # Building the models takes longer than importing everything else here together: at the first call, not at import.
    pydantic, schemas, records = lazy("pydantic"), lazy("schemas"), lazy("streams.records")

# Room for headers and batch framing on top of the largest value.
MAX_REQUEST_BYTES = MAX_RECORD_BYTES + 64 * 1024
# After the deadline a typed error may still be on its way back.
GRACE_SECONDS = 0.1
# What takes connections and says nothing for so long is no broker, or one that is stuck.
START_SECONDS = 30.0
# Events of `publish_many` that wait for their acknowledgement together.
IN_FLIGHT = 500

Reply = TypeVar("Reply", bound="pydantic.BaseModel")


class MemoryClientError(Exception):
    """Base of what a `MemoryClient` raises."""


class DeadlineExceeded(MemoryClientError):
    """No answer in time: no worker runs, or it is too slow. Whether a published event was taken is in `published`."""

    def __init__(self, detail: str, *, published: bool = False) -> None:
        super().__init__(detail)
        self.published = published


class BadRequest(MemoryClientError):
    """The request can't work as it is; the message names the field."""


class TooLarge(BadRequest):
    """Larger than any record may be; refused before it was sent."""


class Unavailable(MemoryClientError):
    """Kafka, the store or the model does not do its work now. `retry_after` in seconds."""

    def __init__(self, detail: str, *, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class MemoryClient:
    """One a service. `service` names the reply topic (`replies.<service>`), which only this service should read."""

    def __init__(
        self,
        bootstrap: str | None = None,
        *,
        namespace: str | None = None,
        service: str = "shared",
        deadline: float = 5.0,
        settings: Settings | None = None,
    ) -> None:
        """`bootstrap`: default MEMSTREAM_KAFKA_BOOTSTRAP; security comes from the settings. `deadline`: seconds."""
        if settings is None:
            from streams.settings import load_settings

            settings = load_settings(kafka_bootstrap=bootstrap)
        self._settings = settings
        self._namespace = namespace
        self._deadline = deadline
        self._reply_topic = f"{settings.topic_prefix}replies.{service}"
        self._producer = make_producer(settings, max_request_size=MAX_REQUEST_BYTES)
        self._consumer = AIOKafkaConsumer(
            **connection(settings),
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="latest",
            max_partition_fetch_bytes=MAX_REQUEST_BYTES,
        )
        self._waiting: dict[bytes, asyncio.Queue[bytes]] = {}
        self._reader: asyncio.Task[None] | None = None

    @property
    def namespace(self) -> str | None:
        """Whose memories are meant when a call names no namespace."""
        return self._namespace

    async def __aenter__(self) -> Self:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._producer.start()
                await self._consumer.start()
                await self._listen()
        except (KafkaError, OSError) as error:  # TimeoutError is an OSError
            await self.close()
            raise Unavailable(
                f"{self._settings.kafka_bootstrap} does not answer ({type(error).__name__}): is Kafka running?"
            ) from None
        except BaseException:
            await self.close()
            raise
        self._reader = asyncio.create_task(self._read_replies())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
            self._reader = None
        # Each in a task of its own: a consumer whose broker is gone ends its stop with CancelledError.
        stops = [asyncio.create_task(stop()) for stop in (self._consumer.stop, self._producer.stop)]
        await asyncio.gather(*stops, return_exceptions=True)

    async def _listen(self) -> None:
        """From the end of the reply topic; the position is fixed before the first request is sent."""
        await self._consumer._client.set_topics([self._reply_topic])
        partitions = self._consumer.partitions_for_topic(self._reply_topic)
        if not partitions:
            raise Unavailable(
                f"the reply topic {self._reply_topic} does not exist: start a worker or run `memstream topics --create`"
            )
        places = [TopicPartition(self._reply_topic, p) for p in sorted(partitions)]
        self._consumer.assign(places)
        await self._consumer.seek_to_end(*places)
        for place in places:
            await self._consumer.position(place)

    async def _read_replies(self) -> None:
        while True:
            try:
                async for record in self._consumer:
                    for name, value in record.headers:
                        queue = self._waiting.get(value) if name == "correlation_id" else None
                        if queue is not None:
                            queue.put_nowait(record.value)
            except KafkaError:
                # The consumer reconnects by itself; requests under way run into their deadline.
                await asyncio.sleep(0.2)

    # Publishing

    async def publish(
        self,
        event: schemas.ConversationEvent | Mapping[str, Any] | None = None,
        /,
        *,
        text: str | None = None,
        deadline: float | None = None,
        **fields: Any,
    ) -> str:
        """Publish one event; returns its id when all replicas have it.

        Give a `ConversationEvent`, a mapping, or its fields (`user_id`, `session_id`, `text` or `messages`, ...).
        With a stable `event_id` a retry is a duplicate, not a second memory; without one a random id is made.
        Raises `BadRequest`, `TooLarge`, `Unavailable`.
        """
        made = self._event(event, text, fields)
        await self.produce("conversations", made.tenant, _encoded(made), _headers(made), deadline=deadline)
        return made.event_id

    async def publish_and_wait(
        self,
        event: schemas.ConversationEvent | Mapping[str, Any] | None = None,
        /,
        *,
        text: str | None = None,
        deadline: float | None = None,
        **fields: Any,
    ) -> schemas.EventOutcome:
        """Publish one event and learn what became of it. Raises `DeadlineExceeded` (it is published all the same)."""
        made = self._event(event, text, fields)
        replies = self._request("conversations", made.tenant, _encoded(made), _headers(made), deadline, published=True)
        async for value in replies:
            return self._parsed(value, schemas.EventOutcome)
        raise DeadlineExceeded("no outcome in time; the event is published and will be handled", published=True)

    async def publish_many(
        self, events: Iterable[schemas.ConversationEvent | Mapping[str, Any]]
    ) -> AsyncGenerator[str, None]:
        """Publish in order, many in flight; yields each id when all replicas have it. `async for` over it."""
        pending: list[tuple[str, asyncio.Future[Any]]] = []
        for event in events:
            made = self._event(event, None, {})
            value = self._sized(_encoded(made))
            self._require_start()
            try:
                future = await self._producer.send(
                    self._settings.topic_prefix + "conversations",
                    value=value,
                    key=made.tenant.key.encode(),
                    headers=list(_headers(made)),
                )
            except KafkaError as error:
                raise Unavailable(type(error).__name__) from None
            pending.append((made.event_id, future))
            await asyncio.sleep(0)  # to send does not wait for anything: many events would hold up everyone else
            if len(pending) >= IN_FLIGHT:
                async for event_id in _acknowledged(pending):
                    yield event_id
                pending = []
        async for event_id in _acknowledged(pending):
            yield event_id

    async def produce(
        self,
        topic: str,
        tenant: schemas.Tenant,
        value: bytes,
        headers: Headers,
        *,
        key: bytes | None = None,
        deadline: float | None = None,
    ) -> None:
        """Send one record; returns when all replicas have it. For what has no method of its own.

        `topic`: without the prefix. `value`: as its schema says, `MAX_RECORD_BYTES` at most. `key`: the tenant's by
        default. `deadline`: seconds.
        Raises `TooLarge`, `Unavailable`, `DeadlineExceeded` (Kafka may have it all the same).
        """
        sized = self._sized(value)
        self._require_start()
        seconds = self._deadline if deadline is None else deadline
        try:
            async with asyncio.timeout(seconds):
                await self._producer.send_and_wait(
                    self._settings.topic_prefix + topic,
                    value=sized,
                    key=key or tenant.key.encode(),
                    headers=list(headers),
                )
        except TimeoutError:
            raise DeadlineExceeded(f"Kafka did not acknowledge within {seconds:g} s") from None
        except KafkaError as error:
            raise Unavailable(f"Kafka: {type(error).__name__}") from None

    async def supersede(
        self,
        old_id: str,
        new_id: str,
        *,
        user_id: str | int,
        namespace: str | None = None,
        occurred_at: datetime | None = None,
        reason: str = "",
    ) -> None:
        """Say that memory `new_id` replaces `old_id`. Wins over what was inferred up to its own time."""
        made = _validated(
            schemas.Supersede,
            {
                "namespace": self._namespace_or(namespace),
                "user_id": user_id,
                "old_id": old_id,
                "new_id": new_id,
                "occurred_at": occurred_at or datetime.now(UTC),
                "reason": reason,
            },
        )
        value = _encoded(made)
        headers = records.cloud_event("supersede", made.directive_id, "client", made.occurred_at)
        await self.produce("supersede", made.tenant, value, headers)

    async def correct(
        self, /, memory_id: str, text: str, *, user_id: str | int, namespace: str | None = None, **fields: Any
    ) -> schemas.EventOutcome:
        """Replace a memory by new text, which is redacted and extracted like all text."""
        return await self.publish_and_wait(
            text=text, user_id=user_id, namespace=namespace, replaces=[memory_id], **fields
        )

    async def forget(
        self,
        *,
        user_id: str | int,
        namespace: str | None = None,
        everything: bool = False,
        since: datetime | None = None,
        until: datetime | None = None,
        session_id: str | None = None,
        event_ids: Sequence[str] = (),
        memory_ids: Sequence[str] = (),
        deadline: float | None = 30.0,
    ) -> schemas.ErasureReceipt:
        """Erase what is remembered: everything, an interval of event time, a session, events, or memories.

        Exactly one of them. No later delivery, replay or import brings anything back. The receipt says what was
        removed where, and until when topics with a retention still hold text.
        """
        scopes = {
            "all": everything,
            "interval": since is not None or until is not None,
            "session": session_id is not None,
            "events": bool(event_ids),
            "memories": bool(memory_ids),
        }
        chosen = [scope for scope, wanted in scopes.items() if wanted]
        if len(chosen) != 1:
            raise BadRequest(
                "forget: give exactly one of everything=True, since/until, session_id, event_ids, memory_ids"
            )
        made = _validated(
            schemas.ForgetCommand,
            {
                "command_id": uuid.uuid4().hex,
                "namespace": self._namespace_or(namespace),
                "user_id": user_id,
                "scope": chosen[0],
                "requested_at": datetime.now(UTC),
                "since": since,
                "until": until,
                "session_id": session_id,
                "event_ids": tuple(event_ids),
                "memory_ids": tuple(memory_ids),
            },
        )
        return await self._command(made, schemas.ErasureReceipt, deadline)

    async def find_to_forget(
        self,
        query: str,
        /,
        *,
        user_id: str | int,
        namespace: str | None = None,
        top_k: int = 20,
        deadline: float | None = None,
    ) -> list[schemas.MemoryRecord]:
        """What `query` finds, replaced and archived memories too, best first: for a person to look at before their ids
        go to `forget(memory_ids=...)`. Counts as no use of a memory and revives none.

        At most `top_k` (50). Raises as `recall`.
        """
        wide = {"include_superseded": True, "include_archived": True, "reinforce": False, "top_k": top_k}
        found = await self.recall(query, user_id=user_id, namespace=namespace, deadline=deadline, **wide)
        return [one.memory for one in found.memories]

    async def restore(
        self, *memory_ids: str, user_id: str | int, namespace: str | None = None, deadline: float | None = None
    ) -> schemas.RestoreReceipt:
        """Bring archived memories back."""
        fields = {"namespace": self._namespace_or(namespace), "user_id": user_id, "memory_ids": memory_ids}
        made = _validated(
            schemas.RestoreCommand, {"command_id": uuid.uuid4().hex, "requested_at": datetime.now(UTC), **fields}
        )
        return await self._command(made, schemas.RestoreReceipt, deadline)

    async def re_extract(
        self,
        *event_ids: str,
        user_id: str | int,
        namespace: str | None = None,
        since: datetime | None = None,
        deadline: float | None = 30.0,
    ) -> schemas.ReExtractReceipt:
        """Have the facts of events extracted anew, by the extractor that the workers have now; without ids those of
        everything that is stored of the user, or was said from `since` on.

        The answer names the events that are on their way. Each keeps its facts until the new ones are there; what is
        not found again is withdrawn. `deadline`: seconds.
        Raises `BadRequest`, `Unavailable`, `DeadlineExceeded` (the command is published all the same).
        """
        fields = {"namespace": self._namespace_or(namespace), "user_id": user_id, "since": since}
        made = _validated(
            schemas.ReExtractCommand,
            {"command_id": uuid.uuid4().hex, "requested_at": datetime.now(UTC), "event_ids": event_ids, **fields},
        )
        return await self._command(made, schemas.ReExtractReceipt, deadline)

    async def _command(self, command: schemas.Command, model: type[Reply], deadline: float | None) -> Reply:
        headers = records.cloud_event(f"command.{command.kind}", command.command_id, "client", command.requested_at)
        replies = self._request("commands", command.tenant, _encoded(command), headers, deadline, published=True)
        async for value in replies:
            return self._parsed(value, model)
        raise DeadlineExceeded("no receipt in time; the command is published and will be carried out", published=True)

    # Recalling

    async def recall(
        self,
        /,
        query: str = "",
        *,
        user_id: str | int,
        namespace: str | None = None,
        deadline: float | None = None,
        **options: Any,
    ) -> schemas.RecallReply:
        """Memories that answer `query` (or `messages`), best first; an empty list when none does.

        Options as in `schemas.RecallRequest` (`top_k`, `since`, `as_of`, `explain`, `format`, ...). With `turns_of`, a
        session, the reply has its last turns too.
        Raises `BadRequest`, `Unavailable`, `DeadlineExceeded`.
        """
        replies = await self._ask("recall", user_id, namespace, deadline, query=query, **options)
        return replies[0]

    async def memory_prompt(
        self,
        /,
        query: str = "",
        *,
        user_id: str | int,
        namespace: str | None = None,
        deadline: float | None = None,
        **options: Any,
    ) -> str:
        """What `recall` finds as a block for a system message, or with `prompt_role="user"` for a user message that it
        precedes; about 150 tokens at most; "" when nothing is relevant.

        The block says of itself that it is data, and holds nothing that could close it or open a role. With `turns_of`,
        a session, a second one like it has the last turns: 1,200 characters at most.
        """
        asked = {**options, "format": "prompt"}
        found = await self.recall(query, user_id=user_id, namespace=namespace, deadline=deadline, **asked)
        return found.prompt or ""

    async def turns(
        self,
        session_id: str,
        *,
        user_id: str | int,
        namespace: str | None = None,
        limit: int = 10,
        deadline: float | None = None,
    ) -> list[schemas.Turn]:
        """The last turns of a session, oldest first: of both sides, redacted, without small talk.

        At most `limit` (50). A turn is there once it went through the stages; what is forgotten is not. `recall` and
        `memory_prompt` put the same beside the memories: `turns_of=session_id, turns=limit`. `deadline`: seconds.
        Raises `BadRequest`, `Unavailable`, `DeadlineExceeded`.
        """
        replies = await self._ask("turns", user_id, namespace, deadline, turns_of=session_id, turns=limit)
        return list(replies[0].turns)

    async def get(
        self, *memory_ids: str, user_id: str | int, namespace: str | None = None, deadline: float | None = None
    ) -> list[schemas.MemoryRecord]:
        """Memories by id, in that order; ids of other users are not there."""
        return _records(await self._ask("get", user_id, namespace, deadline, memory_ids=memory_ids))

    async def history(
        self, memory_id: str, *, user_id: str | int, namespace: str | None = None, deadline: float | None = None
    ) -> list[schemas.MemoryRecord]:
        """The chain around a memory, oldest first: what it replaced, what replaced it, with sources."""
        return _records(await self._ask("history", user_id, namespace, deadline, memory_ids=(memory_id,)))

    async def explain(
        self,
        /,
        memory_id: str,
        query: str = "",
        *,
        user_id: str | int,
        namespace: str | None = None,
        deadline: float | None = None,
        **options: Any,
    ) -> schemas.RecallReply:
        """What score one memory gets for a query, its `rank` in the answer, or in `kept_out` what keeps it out of it.

        Options as in `recall`. `memories` is empty when the user has no such memory.
        """
        asked = {"query": query, "memory_ids": (memory_id,), **options}
        return (await self._ask("explain", user_id, namespace, deadline, **asked))[0]

    async def related(
        self, memory_id: str, *, user_id: str | int, namespace: str | None = None, deadline: float | None = None
    ) -> list[schemas.RecalledMemory]:
        """The memory itself, then those linked to it (`links`): replaced, repeated, ambiguous, of one event, of the
        same names (`why` names them). Empty when the user has no such memory."""
        replies = await self._ask("related", user_id, namespace, deadline, memory_ids=(memory_id,))
        return [found for reply in replies for found in reply.memories]

    async def profile(
        self, *, user_id: str | int, namespace: str | None = None, deadline: float | None = None
    ) -> Profile:
        """All that holds now: preferences, facts, tasks and progress; what matters most first, and by type."""
        return Profile(_records(await self._ask("profile", user_id, namespace, deadline)))

    async def export(
        self, *, user_id: str | int, namespace: str | None = None, deadline: float | None = 60.0
    ) -> list[schemas.MemoryRecord]:
        """Everything that is remembered of a user: active, superseded, duplicate and archived."""
        return _records(await self._ask("export", user_id, namespace, deadline))

    async def export_parts(
        self, *, user_id: str | int, namespace: str | None = None, deadline: float | None = 60.0
    ) -> AsyncGenerator[list[schemas.MemoryRecord], None]:
        """The same part by part, as it comes."""
        async for reply in self._parts("export", user_id, namespace, deadline):
            yield _records([reply])

    async def ping(self, deadline: float = 2.0) -> None:
        """Raises `Unavailable` unless a broker answers."""
        try:
            async with asyncio.timeout(deadline):
                answered = await self._producer.client.force_metadata_update()
        except (TimeoutError, KafkaError):
            answered = False
        if not answered:
            raise Unavailable("Kafka does not answer")

    async def _ask(
        self, kind: str, user_id: str | int, namespace: str | None, deadline: float | None, **fields: Any
    ) -> list[schemas.RecallReply]:
        return [reply async for reply in self._parts(kind, user_id, namespace, deadline, **fields)]

    async def _parts(
        self, kind: str, user_id: str | int, namespace: str | None, deadline: float | None, **fields: Any
    ) -> AsyncIterator[schemas.RecallReply]:
        """The parts of an answer in their order."""
        seconds = self._deadline if deadline is None else deadline
        until = datetime.now(UTC) + timedelta(seconds=seconds)
        request = _validated(
            schemas.RecallRequest,
            {"kind": kind, "namespace": self._namespace_or(namespace), "user_id": user_id, "deadline": until, **fields},
        )
        headers = records.cloud_event(f"request.{kind}", uuid.uuid4().hex, "client", datetime.now(UTC))
        early: dict[int, schemas.RecallReply] = {}
        following = 0
        async for value in self._request("recall.requests", request.tenant, _encoded(request), headers, seconds):
            reply = self._parsed(value, schemas.RecallReply)
            early[reply.part] = reply
            while following in early:
                yield early.pop(following)
                following += 1
            if following == reply.parts:
                return
        raise DeadlineExceeded(f"no answer within {seconds:g} s: is a worker with the role recall running?")

    # Underneath

    def _require_start(self) -> None:
        if self._reader is None:
            raise Unavailable("the client is not started: use `async with MemoryClient(...)`")

    async def _request(
        self,
        topic: str,
        tenant: schemas.Tenant,
        value: bytes,
        headers: Headers,
        deadline: float | None,
        *,
        published: bool = False,
    ) -> AsyncIterator[bytes]:
        """Send and yield replies until the deadline."""
        self._require_start()
        seconds = self._deadline if deadline is None else deadline
        correlation = uuid.uuid4().hex.encode()
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._waiting[correlation] = queue
        wanted = (*headers, ("reply_to", self._reply_topic.encode()), ("correlation_id", correlation))
        end = asyncio.get_running_loop().time() + seconds + GRACE_SECONDS
        try:
            await self.produce(topic, tenant, value, wanted, deadline=seconds)
            while True:
                try:
                    async with asyncio.timeout_at(end):
                        received = await queue.get()
                except TimeoutError:
                    return
                yield received
        finally:
            self._waiting.pop(correlation, None)

    @staticmethod
    def _sized(value: bytes) -> bytes:
        if len(value) > MAX_RECORD_BYTES:
            raise TooLarge(f"{len(value)} bytes; a record has at most {MAX_RECORD_BYTES}: send fewer messages an event")
        return value

    @staticmethod
    def _parsed(value: bytes, model: type[Reply]) -> Reply:
        if b'"error":"' in value[:64]:
            error = schemas.ErrorReply.from_bytes(value)
            match error.error:
                case "bad_request":
                    raise BadRequest(error.detail)
                case "too_large":
                    raise TooLarge(error.detail)
                case "deadline_exceeded":
                    raise DeadlineExceeded(error.detail)
                case _:
                    raise Unavailable(error.detail, retry_after=error.retry_after_seconds)
        return model.model_validate_json(value)

    def _event(
        self, event: schemas.ConversationEvent | Mapping[str, Any] | None, text: str | None, fields: Mapping[str, Any]
    ) -> schemas.ConversationEvent:
        if isinstance(event, schemas.ConversationEvent):
            return event
        given: dict[str, Any] = {**(event or {}), **fields}
        if text is not None:
            said = {name: given.pop(name) for name in ("role", "speaker") if name in given}
            given["messages"] = [{"text": text, **said}]
        given["namespace"] = self._namespace_or(given.get("namespace"))
        given.setdefault("event_id", uuid.uuid4().hex)
        return _validated(schemas.ConversationEvent, given)

    def _namespace_or(self, given: str | None) -> str:
        namespace = given if given is not None else self._namespace
        if namespace is None:
            raise BadRequest("namespace: give it to the call or to MemoryClient")
        return namespace


def _headers(event: schemas.ConversationEvent) -> Headers:
    return records.cloud_event("conversation", event.event_id, "client", event.occurred_at or datetime.now(UTC))


def _validated(model: type[Reply], fields: Mapping[str, Any]) -> Reply:
    try:
        return model.model_validate(fields)
    except pydantic.ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        raise BadRequest(f"{'.'.join(str(part) for part in first['loc']) or model.__name__}: {first['msg']}") from None


def _encoded(record: schemas.WireModel) -> bytes:
    try:
        return record.to_bytes()
    except ValueError:
        raise BadRequest("the text is not valid Unicode (a lone surrogate)") from None


def _records(replies: Iterable[schemas.RecallReply]) -> list[schemas.MemoryRecord]:
    return [found.memory for reply in replies for found in reply.memories]


async def _acknowledged(pending: Iterable[tuple[str, asyncio.Future[Any]]]) -> AsyncIterator[str]:
    for event_id, future in pending:
        try:
            await future
        except KafkaError as error:
            raise Unavailable(f"Kafka: {type(error).__name__}") from None
        yield event_id
