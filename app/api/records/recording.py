"""Whether the answer to a request is recorded."""

from contextlib import ExitStack

from app.api.around.access import key_of
from app.api.bodies import ParsedRequest
from app.asking.refusals import FieldError, InvalidRequest
from app.asking.schemas import CounterfactualsRequest
from app.recording.recorder import Recorder, Recording

OFF = "this service keeps no records; leave it out, or ask your operator to set FLIPSET_RECORDS"


def begin_recording(
    request: ParsedRequest, body: CounterfactualsRequest, life: ExitStack, sent: str | None = None
) -> Recording | None:
    """The record of the answer to come, if there is to be one; it ends with the answer.

    `sent` is the request, where the body holds several.
    """
    recorder: Recorder | None = request.app.state.recorder
    if recorder is None:
        if body.record is not None:
            raise InvalidRequest([FieldError("record", OFF)])
        return None
    if body.record is None and not recorder.records_all:
        return None
    subject = None if body.record is None else body.record.subject
    text = request.content.decode("utf-8-sig") if sent is None else sent
    recording = recorder.begin(text, subject, key_of(request))
    life.callback(recording.close)
    return recording
