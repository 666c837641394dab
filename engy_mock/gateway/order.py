"""In which order a request is refused: of several causes the first one here answers (E-68 to E-85)."""

from dataclasses import dataclass

from engy_mock.vocabulary import errors
from engy_mock.vocabulary.errors import ApiError


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a request is refused, with the class of the refusal; `/v5` may give another status to the same class."""

    name: str
    refusal: type[ApiError]
    where: str

    @property
    def status(self) -> int:
        """The status under `/v1`."""
        return self.refusal.status


ORDER = (
    Cause("host", errors.PermissionDenied, "dialects.admission.check_host"),
    Cause("path", errors.NotFound, "dialects.routes.find"),
    Cause("method", errors.MethodNotAllowed, "dialects.routes.find"),
    Cause("key", errors.InvalidKey, "books.accounts.Accounts.opened_by"),
    Cause("content_type", errors.UnsupportedMediaType, "dialects.admission.check_content"),
    Cause("size", errors.TooLarge, "dialects.admission.check_content"),
    Cause("field", errors.InvalidRequest, "gateway.understanding.Understanding.understood"),
    Cause("model", errors.ModelNotFound, "gateway.understanding.Understanding.measured"),
    Cause("input_type", errors.InvalidRequest, "model.engine.Engine.prepare"),
    Cause("undecodable", errors.InvalidRequest, "model.engine.Engine.prepare"),
    Cause("too_many", errors.TooLarge, "model.engine.Engine.prepare"),
    Cause("largest_input", errors.InvalidRequest, "model.engine.Engine.prepare"),
    Cause("window", errors.InvalidRequest, "model.engine.Engine.prepare"),
    Cause("worker", errors.NoWorker, "gateway.admission.admitted"),
    Cause("capacity", errors.RateLimited, "gateway.admission.admitted"),
    Cause("concurrency", errors.RateLimited, "books.accounts.Account.hold"),
    Cause("requests_per_minute", errors.RateLimited, "books.accounts.Account.hold"),
    Cause("tokens_per_minute", errors.RateLimited, "books.accounts.Account.hold"),
    Cause("balance", errors.InsufficientBalance, "books.accounts.Account.hold"),
)
"""All causes of the service itself, each with where the code looks for it; rules of a test come last."""
