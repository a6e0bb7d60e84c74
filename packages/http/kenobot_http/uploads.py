"""Take the files of a message: within a size, and stored before the message is, which is then read as in any chat."""

from collections.abc import AsyncIterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from kenobot.agent.media.intake import MediaLimits
from kenobot.core.settings.home import Home
from kenobot.ports.messages import Attachment, MediaKind
from kenobot.ports.sentences import Sentence
from kenobot.storage.media_files import MediaFolder, TooLarge

FIELD: Final = "files"
MOST_MEGABYTES: Final = MediaLimits().most_mb
MOST_BYTES: Final = int(MOST_MEGABYTES * 1_000_000)
"""Of all files of a message together."""
BODY_BYTES: Final = MOST_BYTES + 256 * 1024
MOST_FILES: Final = 10
_PIECE: Final = 256 * 1024
_LONGEST_NAME: Final = 200
_KINDS: Final[dict[str, MediaKind]] = {"image": "image", "audio": "audio", "video": "video"}


def find_files(form: FormData) -> list[UploadFile]:
    """Return the files of a form; a browser sends an empty one where none was chosen. Raises HTTPException."""
    found = [each for each in form.getlist(FIELD) if isinstance(each, UploadFile) and (each.filename or each.size)]
    if len(found) > MOST_FILES or sum(each.size or 0 for each in found) > MOST_BYTES:
        raise HTTPException(413, Sentence("http.body_too_long"))
    return found


async def store_files(home: Home, files: Sequence[UploadFile]) -> tuple[Attachment, ...]:
    """Store files in the media folder; what no message comes to name is removed from there. Raises StoreError."""
    folder = MediaFolder(home.media)
    return tuple([await _store(folder, each) for each in files])


async def _store(folder: MediaFolder, file: UploadFile) -> Attachment:
    try:
        digest = await folder.save(_read_pieces(file), MOST_BYTES)
    except TooLarge:
        raise HTTPException(413, Sentence("http.body_too_long")) from None
    mime = (file.content_type or "").partition(";")[0].strip().lower()[:100]
    name = PurePosixPath((file.filename or "").replace("\\", "/")).name[-_LONGEST_NAME:]
    kind = _KINDS.get(mime.partition("/")[0], "document")
    return Attachment(kind, mime, name, file.size, handle=digest, digest=digest)


async def _read_pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(_PIECE):
        yield piece
