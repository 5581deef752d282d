"""Every address of the service. Who may use which is in `rights`."""

from __future__ import annotations

from django.urls import path, register_converter

from doublet.web import health
from doublet.web.accounts import views as accounts
from doublet.web.api import api
from doublet.web.hooks import views as hooks
from doublet.web.pages import adding, duplicates, evaluation, home, libraries, methods, repeats, statistics
from doublet.web.works import checks, groups, reports

handler400 = "doublet.web.errors.bad_request"
handler403 = "doublet.web.errors.forbidden"
handler404 = "doublet.web.errors.not_found"
handler500 = "doublet.web.errors.server_error"


class LibraryName:
    """Names of libraries may hold slashes and anything else."""

    regex = ".+?"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class Number:
    """A number that a database can hold."""

    regex = "[0-9]{1,18}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


register_converter(LibraryName, "library")
register_converter(Number, "number")

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("api/v1/", api.urls),
    path("", home.home, name="home"),
    # people
    path("login/", accounts.Login.as_view(), name="login"),
    path("logout/", accounts.Logout.as_view(), name="logout"),
    path("language/", accounts.language, name="language"),
    path("invitation/<str:secret>/", accounts.invitation, name="invitation"),
    path("account/", accounts.account, name="account"),
    path("account/tokens/", accounts.make_token, name="account-tokens"),
    path("account/tokens/<number:number>/revoke/", accounts.revoke_token, name="account-token-revoke"),
    path("account/sessions/", accounts.end_sessions, name="account-sessions-end"),
    path("account/sessions/<number:number>/end/", accounts.end_session, name="account-session-end"),
    path("account/hooks/", hooks.hooks, name="hooks"),
    path("account/hooks/<number:number>/", hooks.hook, name="hook"),
    path("account/hooks/<number:number>/test/", hooks.test, name="hook-test"),
    path("account/hooks/<number:number>/delete/", hooks.delete, name="hook-delete"),
    path("account/hooks/<number:number>/<uuid:id>/again/", hooks.again, name="hook-again"),
    path("users/", accounts.users, name="users"),
    path("users/invite/", accounts.invite, name="user-invite"),
    path("users/<number:number>/", accounts.user, name="user"),
    path("invitations/<number:number>/revoke/", accounts.revoke_invitation, name="invitation-revoke"),
    path("audit/", accounts.audit_log, name="audit"),
    path("audit/export/", accounts.audit_export, name="audit-export"),
    path("settings/", accounts.installation_settings, name="installation"),
    # works
    path("check/", checks.check, name="check"),
    path("reports/", checks.works, name="works"),
    path("reports/<uuid:id>/", reports.work, name="work"),
    path("reports/<uuid:id>/state/", checks.state, name="work-state"),
    path("reports/<uuid:id>/cancel/", checks.cancel, name="work-cancel"),
    path("reports/<uuid:id>/delete/", checks.delete, name="work-delete"),
    path("reports/<uuid:id>/restore/", checks.restore, name="work-restore"),
    path("reports/<uuid:id>/compare/", reports.compare, name="work-compare"),
    path("reports/<uuid:id>/edit/", reports.edit, name="work-edit"),
    path("reports/<uuid:id>/source/", reports.source, name="work-source"),
    path("reports/<uuid:id>/decide/", reports.decide, name="work-decide"),
    path("reports/<uuid:id>/comments/", reports.comment, name="work-comment"),
    path("reports/<uuid:id>/share/", reports.share, name="work-share"),
    path("reports/<uuid:id>/share/<number:number>/revoke/", reports.revoke, name="work-share-revoke"),
    path("reports/<uuid:id>/report.<str:form>", reports.export, name="work-export"),
    path("shared/<str:secret>/", reports.shared, name="shared-work"),
    path("shared/<str:secret>/source/", reports.shared_source, name="shared-source"),
    # classes
    path("classes/<uuid:id>/", groups.group, name="group"),
    path("classes/<uuid:id>/state/", groups.state, name="group-state"),
    path("classes/<uuid:id>/pair/", groups.pair, name="group-pair"),
    path("classes/<uuid:id>/delete/", groups.delete, name="group-delete"),
    path("classes/<uuid:id>/class.<str:form>", groups.export, name="group-export"),
    # libraries and the queue
    path("libraries/", libraries.libraries, name="libraries"),
    path("libraries/add/", adding.add, name="library-add"),
    path("libraries/add/<number:number>/", adding.preview, name="library-preview"),
    path("libraries/<library:name>/state/", libraries.library_state, name="library-state"),
    path("libraries/<library:name>/update/", libraries.update, name="library-update"),
    path("libraries/<library:name>/delete/", libraries.delete, name="library-delete"),
    path("libraries/<library:name>/documents/", libraries.documents, name="library-documents"),
    path("libraries/<library:name>/document/", libraries.document, name="library-document"),
    path("libraries/<library:name>/statistics/", statistics.statistics, name="library-statistics"),
    path("libraries/<library:name>/duplicates/", duplicates.inside, name="library-duplicates"),
    path("libraries/<library:name>/", libraries.library, name="library"),
    path("duplicates/", duplicates.between, name="duplicates"),
    path("duplicates/pair/", duplicates.pair, name="duplicate-pair"),
    path("queue/", libraries.queue, name="queue"),
    path("queue/rows/", libraries.queue_rows, name="queue-rows"),
    path("queue/<number:number>/cancel/", libraries.queue_cancel, name="queue-cancel"),
    path("queue/<number:number>/retry/", libraries.queue_retry, name="queue-retry"),
    path("queue/<number:number>/pause/", libraries.queue_pause, name="queue-pause"),
    path("queue/<number:number>/resume/", libraries.queue_resume, name="queue-resume"),
    # repeats and methods
    path("repeats/", repeats.repeats, name="repeats"),
    path("repeats/<uuid:id>/", repeats.result, name="repeats-result"),
    path("repeats/<uuid:id>/decisions/", repeats.decisions, name="repeats-decisions"),
    path("evaluation/", evaluation.evaluation, name="evaluation"),
    path("evaluation/<number:number>/", evaluation.report, name="evaluation-report"),
    path("methods/", methods.methods, name="methods"),
    path("methods/<str:name>/", methods.method, name="method"),
]
