"""What `doublet library` says, in English."""

from __future__ import annotations

MESSAGES: dict[str, str] = {
    "library_renamed": "the library {name} is now called {new}",
    "library_in_queue": "job {job} of the queue works on {name}: wait for it, or stop it with `doublet queue cancel {job}`",
    "library_removed_documents": "{documents:document} {documents:was|were} removed from {name}",
    "library_removed_whole": "{name} was removed with {documents:document}",
    "library_removed_source": "{address} was forgotten, and {documents:document} {documents:was|were} removed from {name}",
    "library_source_forgotten": "{name} is no longer updated from {address}",
    "library_nothing_removed": "nothing was removed",
    "library_has_no_document": "{name} has no document {id!r}{nearest:?; did you mean %s?|}",
    "library_nothing_like": "no document of {name} has an id, title, address or source like {like!r}",
    "library_sure_all": "Remove {name} with {documents:document}?",
    "library_sure_some": "Remove {documents:document} from {name}?",
    "library_sure_list": "Remove {documents:document} that the list names as duplicates?",
    "documents_need_source": "--with-documents goes with --source N",
    "remove_list_alone": "--duplicates takes a whole list: leave out --document, --like, --source and --all",
    "remove_needs_name": "name the library to remove from; only --duplicates can do without",
    "list_not_found": "there is no list {path}",
    "list_not_read": "{path} cannot be read: {why}",
    "list_not_of_duplicates": "{path} is not a list of duplicates: give what `doublet library duplicates --groups` wrote (.csv, .jsonl, .json) or what its page saved",
    "not_in_library": "is not in the library any more",
    "keeper_missing": "stays, because {keep!r}, which was to be kept for it, is not there or is on the list itself",
    "library_list_removed": "{documents:document} {documents:was|were} removed, {left:,} {left:was|were} left alone",
    "cleaned_not_listed": ", {not_listed:,} more {not_listed:duplicate|duplicates} inside one library, not listed",
    "statistics_words": "{documents:document} with words, {words:,} words counted, {distinct_words:,} distinct (all forms of a word are one)",
    "statistics_rest": "{number:,} more",
    "statistics_all": "all",
    "statistics_unknown": "(not known)",
}
