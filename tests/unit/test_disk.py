"""The gauges of the disk tell what is there when they are asked."""

from __future__ import annotations

from pathlib import Path

from streams.disk import folder_bytes, free_bytes, watch_disk
from streams.metrics import REGISTRY
from streams.settings import load_settings


def test_the_store_is_as_large_as_its_files(tmp_path: Path) -> None:
    watch_disk(load_settings(data_dir=tmp_path / "data"))

    def measured() -> float | None:
        return REGISTRY.get_sample_value("memstream_store_size_bytes", {"store": "embedded"})

    assert measured() == 0
    folder = tmp_path / "data" / "store" / "segments"
    folder.mkdir(parents=True)
    (folder / "a").write_bytes(b"x" * 100_000)
    assert 100_000 <= (measured() or 0) < 200_000
    assert measured() == folder_bytes(tmp_path / "data" / "store")


def test_free_space_of_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    assert free_bytes(tmp_path / "not" / "yet") > 0
