"""The data files of the pretend model are what its corpus gives, to the byte."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engy_mock.model import build
from engy_mock.model import corpus as corpora
from engy_mock.model.catalog import _counts
from engy_mock.model.ngrams import Ngrams
from engy_mock.vocabulary.errors import MockError
from tests.model.made import BUNDLED, language

ASKED = "What is the weather in Paris?"
DATA = Path(build.__file__).parent / "data"


def _checked(hash_seed: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "engy_mock.model.build", "--check"],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_rebuilt_alike():
    """Whatever order Python's sets have in a process, the files come out the same, and as they are shipped."""
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(_checked, ("1", "2")))
    assert [(result.returncode, result.stderr) for result in results] == [(0, ""), (0, "")]


def test_stale_files(tmp_path, monkeypatch, capsys):
    """A check names the files that differ; without `--check` they are written, and then nothing differs."""
    made = {"tokenizer.json": "{}\n", "ngrams.bin": language().statistics.ngrams}
    monkeypatch.setattr(build, "__file__", str(tmp_path / "build.py"))
    monkeypatch.setattr(build, "vocabulary", lambda corpus: made["tokenizer.json"])
    monkeypatch.setattr(build, "Tokenizer", lambda *_, **__: BUNDLED)
    monkeypatch.setattr(build, "counts", lambda *_: made["ngrams.bin"])
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "ngrams.bin").write_bytes((DATA / "ngrams.bin").read_bytes())
    assert build.main(["--check"]) == 1
    assert capsys.readouterr().err == "tokenizer.json is not what the corpus gives\n"
    assert build.main([]) == 0
    assert capsys.readouterr().out == "wrote tokenizer.json, 3 bytes\n"
    assert build.main(["--check"]) == 0


def test_counts():
    """Single tokens, pairs and triples are counted within sentences, most frequent first."""
    ngrams = Ngrams.count([[1, 2, 3], [1, 2, 4], [1, 2, 4]], [[5]], 6)
    assert list(ngrams.single) == [0, 3, 3, 1, 2, 1]
    assert ngrams.after(1) == [(2, 3)]
    assert ngrams.after(2) == [(4, 2), (3, 1)]
    assert ngrams.after(3) == ngrams.after(0) == ngrams.after(99) == []
    assert ngrams.after_both(1, 2) == ([(4, 2), (3, 1)], 6)
    assert ngrams.after_both(2, 3) == ([], -1)
    assert list(ngrams.text) == [1, 2, 3, 6, 1, 2, 4, 6, 1, 2, 4, 6, 5, 6]
    assert ngrams.closing_from == 12


def test_dump():
    """What is dumped can be loaded again, numbers beyond 16 bits too; the low byte comes first."""
    ngrams = Ngrams.count([[1, 70_000, 3], [1, 70_000, 4]], [[5]], 80_000)
    again = Ngrams.load(ngrams.dump())
    assert again.dump() == ngrams.dump()
    assert again.after_both(1, 70_000) == ngrams.after_both(1, 70_000)
    assert Ngrams.count([[1]], [], 6).dump().startswith(b"engy-ngrams-2\nH2\n\x06\x00\x02\x00H2\n\x01\x00\x06\x00")


def test_dump_on_other_machines(monkeypatch):
    """A machine with the high byte first turns the bytes around, both ways."""
    ngrams = Ngrams.count([[1, 2, 300]], [], 400)
    here = ngrams.dump()
    monkeypatch.setattr(sys, "byteorder", "big" if sys.byteorder == "little" else "little")
    assert ngrams.dump() != here
    assert list(Ngrams.load(ngrams.dump()).text) == [1, 2, 300, 400]


@pytest.mark.parametrize("data", [b"", b"engy-ngrams-1\n", b"{}"])
def test_load_something_else(data):
    """Any other bytes are refused."""
    with pytest.raises(MockError, match="of another version"):
        Ngrams.load(data)


def test_counts_of_the_bundled_vocabulary_are_read():
    """The bundled vocabulary has its counts in a file, and they are those that would be made."""
    assert _counts(BUNDLED).dump() == (DATA / "ngrams.bin").read_bytes()


def test_counts_know_no_reasoning():
    """What the model thinks is not among the sentences that an answer may stray to."""
    text = "@topic *:\n? The user thinks.\nOne is here.\n@facts f: {a}\n? The user asks.\nIt is {b}.\n= x / y"
    ngrams = build.counts(corpora.read(text), BUNDLED)
    told = BUNDLED.decode([token for token in ngrams.text if token != BUNDLED.size])
    assert ("One is here." in told, "The user" in told) == (True, False)


@pytest.mark.parametrize("seed", [1, 2, 3, 11])
def test_an_answer_does_not_tell_thoughts(engy, seed):
    """Nor does one that strays, of a model that does not think."""
    body = {"model": "openai/gpt-4o", "n": 3, "seed": seed, "messages": [{"role": "user", "content": ASKED}]}
    with engy.http_client(headers={"x-api-key": "k"}) as client:
        choices = client.post("/v5/chat/completions", json=body).json()["choices"]
    assert not [text for choice in choices if "The user" in (text := choice["message"]["content"])]
