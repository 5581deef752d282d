"""What the robot says in English."""

from __future__ import annotations

MESSAGES: dict[str, str] = {
    "needs_pillow": "pictures cannot be read without pillow: pip install 'doublet[pictures]'",
    "pictures_not_there": "there is no file or folder {path}",
    "picture_too_large": "it has more than {pixels:,} pixels",
    "picture_unreadable": "it cannot be read as a picture: {why}",
    "picture_distance": "distance is {value}: it should be a whole number from 0 to 24",
    "pictures_found": "{pictures:,} pictures, {groups:,} groups of the same, with {copies:,} copies",
    "pages_title": "pages",
    "pages_without_document": "gave no document",
    "pages_why": "why",
    "pages_example": "for example",
    "pages_not_followed": "links not followed because",
    "pages_links": "links",
    "pages_depth": "links from the front page",
    "pages_other": "other pages",
    "plan_pattern": "pattern",
    "plan_documents": "documents",
    "plan_site": "site",
    "plan_hosts_below": "{site} and the hosts below it",
    "plan_numbers": "numbers {low:,} to {high:,} and what is above",
    "plan_range": "numbers {low:,} to {high:,}",
    "plan_links": "from link to link",
    "plan_every_page": "every page with enough text that is not a list of links",
    "plan_left_alone": "left alone",
    "plan_lists": "sitemaps and feeds",
    "plan_lists_told": "{lists:,}, with {documents:document}",
    "plan_holes": "numbers without a page",
    "plan_holes_told": "about {share:percent} ({tried:,} were tried)",
    "plan_missing": "answers for what is not there",
    "plan_says_so": "a page that says so; it is recognised",
    "plan_about_documents": "documents, about",
    "plan_not_known": "not known before the end",
    "plan_about_requests": "requests, about",
    "plan_takes": "takes about",
    "plan_takes_told": "{time:duration}, with {delay:g} s between two requests",
    "plan_looked": "looked at so far",
    "plan_looked_told": "{pages:page}, {probes:,} addresses that cannot exist",
    "crawled_fetched": "pages fetched",
    "crawled_stored": "stored",
    "crawled_changed": "changed",
    "crawled_unchanged": "unchanged",
    "crawled_waiting": "left for another run",
    "crawled_now": "in {library} now",
    "crawl_not_an_address": "{address:quoted} is not the address of a site: it should look like https://example.org/",
    "crawl_front_refused": (
        "{address} does not let us read it (answer {status}): ask its owner, or set contact so that they know who you are"
    ),
    "crawl_front_answered": "{address} answered {status}: there is nothing to start from",
    "crawl_front_wall": (
        "{address} asks for a name and a password before it shows anything: only what everybody can read can be indexed"
    ),
    "crawl_no_links": (
        "{address} has no links that can be followed: give addresses of two or three documents (--example), or their pattern with a range (--pattern and --range)"
    ),
    "crawl_no_documents": (
        "no page of {address} became a document. `doublet library pages {library}` lists what became of each; --example with addresses of two or three documents says what to look for"
    ),
    "crawl_nothing_fits": (
        "{address}: none of {links:,} addresses found there has {only:quoted} in it. There are, for example: {examples:list}. "
        "Give --only a text that addresses of documents have, or an address with --example"
    ),
    "crawl_no_site": "{library} has no site that was crawled: `doublet library crawl {library} ADDRESS` adds one",
    "crawl_needs_contact": (
        "a crawl of {address} needs somebody whom its owner can write to: set contact (--contact, or DOUBLET_CONTACT) to "
        "your e-mail address or page"
    ),
    "needs_warcio": "WARC files need the warcio library: pip install 'doublet[web]'",
    "no_home_for_spool": "you have no home folder: set XDG_CACHE_HOME to a folder for fetched pages",
    "looking_at": "{address}",
    "crawl_figures": (
        "{found:,} found, {stored:,} stored, {failed:,} failed, {rate:.1f} pages a second{left:?, %s}{waits:?; %s}"
    ),
    "crawl_waits_asked": "waits {seconds:duration} more, until {until}, as {host} asked",
    "crawl_waits_failed": "waits {seconds:duration} more, until {until}: {host} has failed {times} {times:time|times} in a row",
    "crawl_waits_turn": "waits {seconds:duration} more, until {until}, before the next request to {host}",
    "host_held": "{host} is asked by another robot now",
    "host_given_up": "{host} did not answer {times} times in a row and is left for another run ({why})",
    "host_refuses": (
        "{host} refused {times} pages in a row (answer {status}): it does not want to be crawled, or not so fast. Ask its "
        "owner, set contact and a longer fetch_delay_s, and run the same command again"
    ),
    "crawl_endless": (
        "{pages:,} pages in a row brought no new document: the site seems to have no end, and no more of its links were "
        "followed. --only or --pattern tells which addresses are documents, --skip which to leave alone"
    ),
    "page_reason": "{reason:name.page_reason}",
    "pattern_begins": "it must begin with / or with the address of the site",
    "pattern_no_such_field": "there is no field {field}; known: {known:list}",
    "pattern_without_field": "it has no field ({examples}): it is one address, not a pattern",
    "crawl_wrong_pattern": "--pattern {pattern}: {why}",
    "crawl_wrong_range": "--range {range:quoted}: it should be two numbers, such as 1-5000",
    "crawl_unknown_page_state": "there is no state {state:quoted} of pages. Known: {known:list}",
    "no_byte_within": "{address} does not answer: nothing came within {seconds:g} seconds",
    "page_broke_off": "{address}: the connection broke off before the whole page was there",
    "server_broke_off": "{address}: the server broke off without an answer",
    "nothing_listens": "{address} cannot be reached: nothing listens there (connection refused)",
    "cannot_be_fetched": "{address} cannot be fetched: {why}",
    "crawl_mirror": (
        "{address} is a mirror of {other}, which is in {library} already: nothing was stored. Another library can have it"
    ),
    "number_refused": "{address} is not fetched: {shown:?%s|it} {why}{hint:?. %s}",
    "allow_private_hint": "Say --allow-private (or set allow_private) when you mean a server of your own",
    "no_number": "has no number",
    "number_of_cloud": "is where a cloud keeps its passwords",
    "number_of_none": "stands for no machine",
    "number_multicast": "is a multicast address",
    "number_link_local": "is a link-local address",
    "number_reserved": "is a reserved address",
    "number_of_this_computer": "is this computer itself",
    "number_private": "is a private address",
    "answers_status": "{address} answers {status} ({meaning})",
    "status_429": "too many requests",
    "status_500": "an error in the server",
    "status_502": "a server behind it does not answer",
    "status_503": "not available now",
    "status_504": "a server behind it is too slow",
}
