"""Telling hooks that jobs have ended.

`Sender.turn` is called again and again by the process that answers requests: it writes down a delivery for every job
that ended since the last turn and then sends what is due. A delivery is in the database before it is sent, so it may
come twice when the service dies in between, but it is never lost; its id says that it is the same one. Requests are
those of the robot: private networks are closed unless the owner of the installation opened them, and no redirect is
followed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

import doublet
from doublet.addresses import parse_address
from doublet.crawl.request import Again, Requester
from doublet.errors import DoubletError, FetchFailed, NotAllowed
from doublet.store.values import JobInfo
from doublet.web.hooks.models import DELIVERED, FAILED, WAITING, Delivery, Hook
from doublet.web.store import store

log = logging.getLogger(__name__)
#: seconds before each further try: about two days in all
PAUSES_S = (5, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400)
TIMEOUT_S = 15.0
ANSWER_BYTES = 65_536
HELD_S = 120  #: that a delivery belongs to the process that sends it
CATCH_UP_S = 24 * 3600  #: jobs that ended while the service was down are told of for so long
OVERLAP_S = 120  #: a job is written down a moment after the second in which it ended
KEPT_DAYS = 30  #: that deliveries can be looked at
AT_ONCE = 20  #: deliveries in one turn


def requester() -> Requester:
    return Requester(
        timeout_s=TIMEOUT_S,
        size_bytes=ANSWER_BYTES,
        allow_private=settings.DOUBLET.allow_private,
        idle_s=TIMEOUT_S,
        connections=8,
    )


def check_address(address: str) -> str:
    """The address as it is kept. Raises `SourceError` or `UsageError` for one that would never be asked."""
    found = parse_address(address)
    made = requester()
    try:
        made.numbers(found)
    except Again:
        pass  # whoever knows names is not there at the moment
    finally:
        made.close()
    return str(found)


def signature(secret: str, at: int, body: bytes) -> str:
    """What the header ``Doublet-Signature`` says: the time and the signature of time and body."""
    made = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={made}"


def message_of(job: JobInfo) -> dict[str, Any]:
    """What is told of a job: no text and no title of a document. *outcome* is the state of the work itself: a job is
    done even when its document could not be read."""
    from doublet.web.api.shapes import JobShape

    facts = dict(job.parameters)
    result = job.result if isinstance(job.result, dict) else {}
    about = {
        name: str(facts[key])
        for name, key in (("check", "work_id"), ("class", "group_id"), ("repeats", "search_id"))
        if key in facts
    }
    return {
        "event": f"job.{job.state}",
        "outcome": result.get("state", job.state),
        **about,
        "job": JobShape.of(job).model_dump(mode="json"),
    }


def send_test(hook: Hook) -> Delivery:
    """Write a message down that only says that the hook works."""
    now = timezone.now()
    ended = time.time_ns() // 1_000  # so that two tests are two messages
    return Delivery.objects.create(hook=hook, job=0, ended=ended, body={"event": "test"}, next_at=now)


class Sender:
    """Finds jobs that ended and sends what is due."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._since = int(clock()) - CATCH_UP_S
        self._tidied = 0.0
        self._requester: Requester | None = None

    def turn(self) -> int:
        """Gives how many messages were sent or tried."""
        self.collect()
        return self.send_due()

    def collect(self) -> None:
        """A delivery for every job that ended and every hook that hears of it."""
        now = int(self._clock())
        hooks = list(Hook.objects.select_related("owner"))
        if hooks:
            oldest = min(int(hook.created_at.timestamp()) for hook in hooks)
            for job in store().jobs.ended_since(max(self._since, oldest)):
                self._write_down(job, hooks)
        self._since = max(self._since, now - OVERLAP_S)
        if now - self._tidied > 3600:
            old = timezone.now() - timedelta(days=KEPT_DAYS)
            Delivery.objects.filter(created_at__lt=old).exclude(state=WAITING).delete()
            self._tidied = now

    def _write_down(self, job: JobInfo, hooks: list[Hook]) -> None:
        ended = int(datetime.fromisoformat(job.ended).timestamp())
        Delivery.objects.bulk_create(
            [
                Delivery(hook=hook, job=job.number, ended=ended, body=message_of(job), next_at=timezone.now())
                for hook in hooks
                if hook.hears_of(job.asked_by) and ended >= int(hook.created_at.timestamp())
            ],
            ignore_conflicts=True,
        )

    def send_due(self) -> int:
        tried = 0
        for one in Delivery.objects.filter(state=WAITING, next_at__lte=timezone.now())[:AT_ONCE]:
            held = Delivery.objects.filter(pk=one.pk, state=WAITING, next_at=one.next_at).update(
                next_at=timezone.now() + timedelta(seconds=HELD_S)
            )
            if held:
                self._send(Delivery.objects.select_related("hook__owner").get(pk=one.pk))
                tried += 1
        return tried

    def _send(self, one: Delivery) -> None:
        attempts = one.attempts + 1
        try:
            status = self._post(one)
        except DoubletError as error:
            final = isinstance(error, NotAllowed) or attempts > len(PAUSES_S)
            pause = PAUSES_S[min(attempts, len(PAUSES_S)) - 1]
            facts = error.details
            Delivery.objects.filter(pk=one.pk).update(
                state=FAILED if final else WAITING,
                attempts=attempts,
                status=facts.get("status") or None,
                message={"error": error.code, **error.note.to_dict()},
                next_at=timezone.now() + timedelta(seconds=pause),
            )
            log.info("hook not reached", extra={"delivery": str(one.pk), "attempts": attempts})
            return
        Delivery.objects.filter(pk=one.pk).update(
            state=DELIVERED, attempts=attempts, status=status, message={}, delivered_at=timezone.now()
        )

    def _post(self, one: Delivery) -> int:
        """The status of the answer. Raises `DoubletError`."""
        if self._requester is None:
            self._requester = requester()
        hook = one.hook
        body = json.dumps({"id": str(one.pk), **one.body}, ensure_ascii=False).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"Doublet/{doublet.__version__} hooks",
            "Doublet-Event": str(one.body.get("event", "")),
            "Doublet-Delivery": str(one.pk),
            "Doublet-Signature": signature(hook.secret, int(self._clock()), body),
        }
        address = parse_address(hook.address)
        try:
            answer = self._requester.post(address, headers, body)
        except Again as error:
            raise error.error from error
        if not 200 <= answer.status < 300:
            raise FetchFailed("hook_answered", address=hook.address, status=answer.status)
        return answer.status
