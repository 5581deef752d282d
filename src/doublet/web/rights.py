"""Who may do what: one table for every address and method of the service.

A row is the name of an address (`urls.py`) and who may use it: *anybody*; *teacher* (every person who is logged in;
what belongs to a person is checked again in the view, by `own`); *administrator*. Reading and changing may differ:
``("teacher", "administrator")`` means that teachers read and administrators change. What is not here is closed.
"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404

ANYBODY, TEACHER, ADMINISTRATOR = "anybody", "teacher", "administrator"
READING = ("GET", "HEAD", "OPTIONS")

RIGHTS: dict[str, str | tuple[str, str]] = {
    # accounts
    "login": ANYBODY,
    "logout": TEACHER,
    "invitation": ANYBODY,
    "language": ANYBODY,
    "account": TEACHER,
    "account-tokens": TEACHER,
    "account-token-revoke": TEACHER,
    "account-sessions-end": TEACHER,
    "account-session-end": TEACHER,
    "hooks": TEACHER,
    "hook": TEACHER,
    "hook-test": TEACHER,
    "hook-delete": TEACHER,
    "hook-again": TEACHER,
    "users": ADMINISTRATOR,
    "user": ADMINISTRATOR,
    "user-invite": ADMINISTRATOR,
    "invitation-revoke": ADMINISTRATOR,
    "audit": ADMINISTRATOR,
    "audit-export": ADMINISTRATOR,
    "installation": ADMINISTRATOR,
    # works
    "home": TEACHER,
    "check": TEACHER,
    "works": TEACHER,
    "work": TEACHER,
    "work-state": TEACHER,
    "work-cancel": TEACHER,
    "work-delete": TEACHER,
    "work-restore": TEACHER,
    "work-edit": TEACHER,
    "work-compare": TEACHER,
    "work-source": TEACHER,
    "work-decide": TEACHER,
    "work-comment": TEACHER,
    "work-export": TEACHER,
    "work-share": TEACHER,
    "work-share-revoke": TEACHER,
    "shared-work": ANYBODY,
    "shared-source": ANYBODY,
    "group": TEACHER,
    "group-state": TEACHER,
    "group-pair": TEACHER,
    "group-export": TEACHER,
    "group-delete": TEACHER,
    # pages
    "libraries": (TEACHER, ADMINISTRATOR),
    "library": (TEACHER, ADMINISTRATOR),
    "library-add": ADMINISTRATOR,
    "library-preview": ADMINISTRATOR,
    "library-state": TEACHER,
    "library-update": ADMINISTRATOR,
    "library-delete": ADMINISTRATOR,
    "library-documents": TEACHER,
    "library-document": TEACHER,
    "library-statistics": (TEACHER, ADMINISTRATOR),
    "library-duplicates": (TEACHER, ADMINISTRATOR),
    "duplicates": (TEACHER, ADMINISTRATOR),
    "duplicate-pair": TEACHER,
    "queue": ADMINISTRATOR,
    "queue-rows": ADMINISTRATOR,
    "queue-cancel": ADMINISTRATOR,
    "queue-retry": ADMINISTRATOR,
    "queue-pause": ADMINISTRATOR,
    "queue-resume": ADMINISTRATOR,
    "repeats": TEACHER,
    "repeats-result": TEACHER,
    "repeats-decisions": TEACHER,
    "evaluation": (TEACHER, ADMINISTRATOR),
    "evaluation-report": TEACHER,
    "methods": TEACHER,
    "method": TEACHER,
    # for machines
    "healthz": ANYBODY,
    "readyz": ANYBODY,
    "metrics": ANYBODY,  # on loopback, or with the token of an administrator: the view looks
}


def needed(name: str, method: str) -> str | None:
    row = RIGHTS.get(name)
    if row is None or isinstance(row, str):
        return row
    return row[0] if method in READING else row[1]


def allows(name: str, method: str, user: Any) -> str:
    """ "yes", "login" (ask who it is) or "no"."""
    who = needed(name, method)
    if who == ANYBODY:
        return "yes"
    if who is None:
        return "no"
    if not user.is_authenticated:
        return "login"
    return "yes" if who == TEACHER or user.is_administrator else "no"


def own(rows: QuerySet[Any], user: Any, **which: Any) -> Any:
    """The object, if it belongs to *user* or the user is an administrator. Others are told that there is none."""
    found = rows.filter(**which).first()
    if found is None or (found.owner_id != user.pk and not user.is_administrator):  # type: ignore[attr-defined]
        raise Http404
    return found


#: operations of REST → who may use them, and the scope that a token needs
API: dict[str, tuple[str, str]] = {
    "who_am_i": (TEACHER, "read"),
    "list_checks": (TEACHER, "read"),
    "make_check": (TEACHER, "check"),
    "make_file_check": (TEACHER, "check"),
    "get_check": (TEACHER, "read"),
    "edit_check": (TEACHER, "check"),
    "cancel_check": (TEACHER, "check"),
    "delete_check": (TEACHER, "check"),
    "restore_check": (TEACHER, "check"),
    "get_report": (TEACHER, "read"),
    "export_report": (TEACHER, "read"),
    "list_decisions": (TEACHER, "read"),
    "make_decision": (TEACHER, "check"),
    "undo_decision": (TEACHER, "check"),
    "list_comments": (TEACHER, "read"),
    "make_comment": (TEACHER, "check"),
    "delete_comment": (TEACHER, "check"),
    "list_links": (TEACHER, "read"),
    "make_link": (TEACHER, "check"),
    "revoke_link": (TEACHER, "check"),
    "compare_checks": (TEACHER, "read"),
    "list_classes": (TEACHER, "read"),
    "delete_class": (TEACHER, "check"),
    "cancel_class": (TEACHER, "check"),
    "export_class": (TEACHER, "read"),
    "compare_works": (TEACHER, "read"),
    "search_documents": (TEACHER, "read"),
    "list_duplicate_decisions": (TEACHER, "read"),
    "decide_duplicate": (ADMINISTRATOR, "manage"),
    "undo_duplicate_decision": (ADMINISTRATOR, "manage"),
    "list_evaluations": (TEACHER, "read"),
    "start_evaluation": (ADMINISTRATOR, "manage"),
    "get_evaluation": (TEACHER, "read"),
    "get_settings": (ADMINISTRATOR, "manage"),
    "edit_settings": (ADMINISTRATOR, "manage"),
    "list_invitations": (ADMINISTRATOR, "manage"),
    "revoke_invitation": (ADMINISTRATOR, "manage"),
    "make_class": (TEACHER, "check"),
    "get_class": (TEACHER, "read"),
    "list_libraries": (TEACHER, "read"),
    "make_library": (ADMINISTRATOR, "manage"),
    "get_library": (TEACHER, "read"),
    "delete_library": (ADMINISTRATOR, "manage"),
    "list_sources": (TEACHER, "read"),
    "fill_library": (ADMINISTRATOR, "manage"),
    "update_library": (ADMINISTRATOR, "manage"),
    "rename_library": (ADMINISTRATOR, "manage"),
    "export_library": (ADMINISTRATOR, "read"),
    "remove_documents": (ADMINISTRATOR, "manage"),
    "remove_source": (ADMINISTRATOR, "manage"),
    "preview_site": (ADMINISTRATOR, "manage"),
    "crawl_site": (ADMINISTRATOR, "manage"),
    "refresh_library": (ADMINISTRATOR, "manage"),
    "count_pages": (TEACHER, "read"),
    "list_pages": (TEACHER, "read"),
    "add_list": (ADMINISTRATOR, "manage"),
    "verify_libraries": (ADMINISTRATOR, "manage"),
    "list_documents": (TEACHER, "read"),
    "get_document": (TEACHER, "read"),
    "remove_document": (ADMINISTRATOR, "manage"),
    "upload_documents": (ADMINISTRATOR, "manage"),
    "find_duplicates_between": (ADMINISTRATOR, "manage"),
    "find_duplicates": (ADMINISTRATOR, "manage"),
    "get_duplicates": (TEACHER, "read"),
    "count_library": (TEACHER, "check"),
    "list_jobs": (ADMINISTRATOR, "read"),
    "get_job": (TEACHER, "read"),
    "watch_job": (TEACHER, "read"),
    "cancel_job": (TEACHER, "check"),
    "pause_job": (ADMINISTRATOR, "manage"),
    "resume_job": (ADMINISTRATOR, "manage"),
    "retry_job": (ADMINISTRATOR, "manage"),
    "make_repeats": (TEACHER, "check"),
    "get_repeats": (TEACHER, "read"),
    "get_repeats_page": (TEACHER, "read"),
    "get_repeats_result": (TEACHER, "read"),
    "get_repeats_decisions": (TEACHER, "read"),
    "put_repeats_decisions": (TEACHER, "check"),
    "list_methods": (TEACHER, "read"),
    "list_hooks": (TEACHER, "read"),
    "make_hook": (TEACHER, "check"),
    "delete_hook": (TEACHER, "check"),
    "test_hook": (TEACHER, "check"),
    "list_deliveries": (TEACHER, "read"),
    "list_users": (ADMINISTRATOR, "manage"),
    "invite_user": (ADMINISTRATOR, "manage"),
    "edit_user": (ADMINISTRATOR, "manage"),
    "list_audit": (ADMINISTRATOR, "manage"),
}
