"""Reserve and settle what transcribers are asked: by the minute, or by tokens where the service counts these."""

from kenobot.ledger.ledger import CallOrigin, Ledger, ModelCall
from kenobot.ports.errors import AnswerLost, OverBudget, RemoteError
from kenobot.ports.frozen import dataclass
from kenobot.ports.provider import Usage
from kenobot.ports.transcriber import Recording, Transcriber, Transcript

_BYTES_A_SECOND = 2000  # of speech, where nothing tells its length: what chats send has more


@dataclass(frozen=True, slots=True)
class LedgerTranscriber:
    """A transcriber behind the ledger."""

    transcriber: Transcriber
    ledger: Ledger

    async def transcribe(self, recording: Recording, session: str, message: int) -> tuple[Transcript, ModelCall]:
        """Return a transcript with its call, to be settled in the transaction that keeps it.

        session, message: the chat and the inbox row of the recording. Raises OverBudget, and as the transcriber.
        """
        provider, _, model = self.transcriber.model_id.partition(":")
        seconds = recording.seconds or recording.file.stat().st_size / _BYTES_A_SECOND
        origin = CallOrigin("transcription", session, message)
        opened = await self.ledger.open_for(origin, provider, model, Usage(), seconds=seconds)
        call = await self.ledger.reserve(opened)
        if call is None:
            raise OverBudget("models.budget_used")
        try:
            transcript = await self.transcriber.transcribe(recording)
        except RemoteError as error:
            if not isinstance(error, AnswerLost):
                await self.ledger.release(call)
            raise
        finally:
            self.ledger.end_asking(call)
        used = self.ledger.settle_usage(call, transcript.usage.within_reason(), seconds=transcript.seconds or seconds)
        return transcript, used
