"""The errors that KenoBot raises, by what failed.

KenobotError
├── ConfigError          a person must fix a file or a setting; exit 78, no restart
├── PluginError          that plugin is off, the rest runs
├── ToolFailed           a tool could not do what the model asked; the model is told
├── RemoteError          a server failed
│   ├── RateLimited      …and said when to try again (retry_after, seconds)
│   ├── Unavailable      …for now: network, 5xx, overload, timeout
│   │   ├── AnswerLost   …once it had taken the request, which it may charge for
│   │   └── CircuitOpen  …so often that it is left alone for a while
│   ├── Rejected         …for good: bad key, bad request, blocked by the user
│   │   ├── PromptTooLong   …because the prompt is longer than it can read
│   │   ├── AccountRefused  …until a person mends the account: its key, its sign-in, its credit
│   │   └── OverBudget      …because the owner's budget is used up; no call was made
│   └── TruncatedReply   the stream ended without a stop reason
├── StoreError           the disk or the database failed
│   ├── StoreFull        no space, or read-only
│   ├── StoreCorrupt     the file is damaged
│   └── Fenced           another attempt at the same work has taken over
│       └── ClaimWithdrawn   …no other has: this one begins anew, without what was purged meanwhile
└── StreamFailed         standard input or output failed: that conversation is over
    └── ReaderGone       …because its reader has left

`str(error)` is one plain sentence that may be shown to a person and says what to do next. It never holds a secret.
It is a `Sentence`: it keeps the error's key and values, and so can be worded in another language. The words are in the
catalogues beside this module, by key and language; plugins may raise sentences of their own.
"""

from kenobot.ports.sentences import Sentence, Worded


class KenobotError(Worded, Exception):
    """Base of every error that KenoBot raises on purpose.

    key: of its sentence in the catalogues, such as "home.empty"; or a sentence, which keeps its own key and values.
    values: of the sentence's places. An error among them is worded too.
    """

    def __init__(self, key: str = "", /, **values: object) -> None:
        super().__init__(key)
        self.key, self.values = (key.key, key.values) if isinstance(key, Sentence) else (key, values)

    def __str__(self) -> str:
        return self.sentence


def describe(error: Exception) -> Sentence:
    """Put the kind of an error before its sentence, for those who have to mend it."""
    return Sentence("errors.described", kind=type(error).__name__, reason=str(error))


class ConfigError(KenobotError):
    """A person must fix a file, a setting or the machine before KenoBot can start."""


class PluginError(KenobotError):
    """A plugin could not be loaded or broke its contract."""


class ToolFailed(KenobotError):
    """A tool could not do what the model asked. The text is for the model, which may try again otherwise."""


class RemoteError(KenobotError):
    """A server failed. retry_after: seconds after which it asked to be tried again; None when it did not say."""

    def __init__(self, key: str = "", /, retry_after: float | None = None, **values: object) -> None:
        super().__init__(key, **values)
        self.retry_after = retry_after


class RateLimited(RemoteError):
    """The server asked for fewer requests."""


class Unavailable(RemoteError):
    """A failure that may pass: network, timeout, 5xx, overload."""


class AnswerLost(Unavailable):
    """The server took the request, and its answer broke off or took too long: it may charge for it."""


class CircuitOpen(Unavailable):
    """Raised without a request: the server failed too often lately, and is left alone for a while."""


class Rejected(RemoteError):
    """A failure that a retry cannot mend."""


class PromptTooLong(Rejected):
    """The prompt is longer than the model can read: a shorter one may do."""


class AccountRefused(Rejected):
    """The key, the sign-in or the credit of an account is refused: nothing is answered until a person mends that."""


class OverBudget(Rejected):
    """Raised without a request: the owner's budget for models is used up."""


class TruncatedReply(RemoteError):
    """The reply ended without a stop reason, so half of it may be missing."""


class StoreError(KenobotError):
    """The disk or the database of the home failed."""


class StoreFull(StoreError):
    """No space left, or the file system is read-only."""


class StoreCorrupt(StoreError):
    """The database file is damaged."""


class Fenced(StoreError):
    """A later attempt owns this work; what the earlier one wanted to write was discarded."""


class ClaimWithdrawn(Fenced):
    """The claim was taken back because something was purged that the attempt may have read: it begins anew."""


class StreamFailed(KenobotError):
    """Standard input or output failed; the same would happen at every further try."""


class ReaderGone(StreamFailed):
    """The pipe behind standard output has no reader any more."""
