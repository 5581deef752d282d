"""What the service says: about how it is started, and to programs that use REST."""

from __future__ import annotations

MESSAGES: dict[str, str] = {
    "nothing_to_check": "there is no text in the document {path:quoted}: look whether it is a scan, or empty",
    "first_administrator": "The first administrator was made. This is shown once:\n  name      {name}\n  password  {password}",
    "service_answers": "Doublet {version} answers at {address}  (Ctrl+C stops it)",
    "samples_loaded": "A sample library and two sample reports were loaded (--empty leaves them out).",
    "samples_not_loaded": "The samples could not be loaded: {why}",
    "service_key_unusable": (
        "{path} does not hold a usable key: delete the file, and a new key is made at the next start; "
        "everybody then has to log in again"
    ),
    "service_debug_public": "the service does not listen on a public address in debug mode: leave out --debug",
    "service_without_tls": (
        "{bind} can be reached by others, and passwords would travel without encryption: put a proxy "
        "with TLS in front of the service and start it with --https (deploy/ has examples), or listen on"
        " 127.0.0.1"
    ),
    "service_without_name": (
        "a service on a public address needs to know its own name: give --host-name, for example --host-"
        "name doublet.example.org"
    ),
    "service_upload_limit": "--upload-limit is {value:quoted}: it must be a size such as 50MB",
    "server_unreachable": "{address} does not answer ({why}): see that the service runs and that the address is right",
    "server_said": "{address} answers: {why}",
    "server_forbids_that": "{address} does not let you do that: {why}; make a token under My account and give it as --token",
    "server_not_for": "{command} works on this computer, {why:name.why_here}: leave out --server",
    "server_tells_fewer": "the service tells the {most} most frequent words: ask for so many at most",
    "server_repeats": "the service keeps the result: {address}",
    "not_with_server": "{option} has no meaning with --server: the service has its own",
    "backup_written": "everything was written to {path} ({size} bytes)",
    "backup_restored": "{path} was brought back: start the service as before",
    "backup_no_database": "{path} does not exist: there is nothing to take from it",
    "backup_not_written": "{path} cannot be written or read: {why}",
    "dump_failed": "the database gave an error: {why}",
    "dump_unknown_table": "the backup has tables that this version does not know ({tables}): restore it with the version that made it, or a newer one",
    "restore_would_overwrite": "{path} exists, and a restore overwrites nothing: name another --database, or move the file away",
    "restore_other_kind": "{path} is a backup of another kind of database ({kind}) or of a newer Doublet",
    "restore_not_a_backup": "{path} is not a backup that `doublet backup` wrote, or it is damaged",
    "one_of": "{name} is {value:quoted}: it can be {known:list}",
    "wrong_cursor": "this cursor was not given out by this list: begin without one",
    "quota_used_up": (
        "the limit is {limit} checks in a day, and it is used up: try again tomorrow, or ask an administrator"
    ),
    "text_or_address": "give either a text or an address",
    "not_a_web_address": "{value:quoted} is not an address: it must begin with http:// or https://",
    "edited_meanwhile": "somebody else changed this check in the meantime: read it again, then change it",
    "report_has_no": "the report has no {target} {value:quoted}",
    "class_size": "a class has 1 to {most} works, and this one has {works}",
    "neither_address_nor_folder": (
        "{address:quoted} is neither an address nor in a folder that the owner of the service opened"
    ),
    "hook_answered": "{address} answers {status}, but a message has arrived only with an answer of 200 to 299",
    "hook_not_signed": "the message was not signed with this secret",
    "hook_too_old": "the message was signed more than {seconds} seconds ago, or the clocks differ",
    "too_many_hooks": "a person may have at most {number} web hooks",
    "server_takes_files": "with --server only files and addresses can be added: {given} is neither",
    "server_job_waits": "job {number} is in the queue of the service: `doublet queue show {number}` says how far it is",
    "options_not_json": "options must be a JSON object of parameters that the search knows",
    "server_takes_fewer": "these are {number} files, and the service takes {most} at once: name fewer",
    "server_job_ended": "job {number} of the service ended as {state}: see `doublet queue show {number}`",
    "last_administrator": "this is the only active administrator: make somebody else an administrator first",
}
