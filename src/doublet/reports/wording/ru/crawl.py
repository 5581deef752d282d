"""Что робот говорит по-русски."""

from __future__ import annotations

MESSAGES: dict[str, str] = {
    "needs_pillow": "изображения нельзя прочитать без pillow: pip install 'doublet[pictures]'",
    "pictures_not_there": "нет файла или папки {path}",
    "picture_too_large": "в нём больше {pixels:,} точек",
    "picture_unreadable": "это нельзя прочитать как изображение: {why}",
    "picture_distance": "distance равно {value}: нужно целое число от 0 до 24",
    "pictures_found": "изображений {pictures:,}, групп одинаковых {groups:,}, копий в них {copies:,}",
    "pages_title": "страницы",
    "pages_without_document": "без документа",
    "pages_why": "почему",
    "pages_example": "например",
    "pages_not_followed": "по ссылкам не пошли, потому что",
    "pages_links": "ссылок",
    "pages_depth": "ссылок от главной страницы",
    "pages_other": "других страниц",
    "plan_pattern": "шаблон",
    "plan_documents": "документы",
    "plan_site": "сайт",
    "plan_hosts_below": "{site} и его поддомены",
    "plan_numbers": "номера с {low:,} по {high:,} и что выше",
    "plan_range": "номера с {low:,} по {high:,}",
    "plan_links": "по ссылкам",
    "plan_every_page": "каждая страница с достаточным текстом, которая не список ссылок",
    "plan_left_alone": "не берём",
    "plan_lists": "карты сайта и ленты",
    "plan_lists_told": "{lists:,}, в них {documents:document}",
    "plan_holes": "номера без страницы",
    "plan_holes_told": "около {share:percent} (проверено номеров: {tried:,})",
    "plan_missing": "ответ на то, чего нет",
    "plan_says_so": "страница, которая так и говорит; она распознаётся",
    "plan_about_documents": "документов, примерно",
    "plan_not_known": "станет известно только в конце",
    "plan_about_requests": "запросов, примерно",
    "plan_takes": "займёт примерно",
    "plan_takes_told": "{time:duration}, между запросами {delay:g} с",
    "plan_looked": "уже просмотрено",
    "plan_looked_told": "{pages:page}, несуществующих адресов: {probes:,}",
    "crawled_fetched": "получено страниц",
    "crawled_stored": "сохранено",
    "crawled_changed": "изменилось",
    "crawled_unchanged": "не изменилось",
    "crawled_waiting": "осталось на следующий раз",
    "crawled_now": "сейчас в библиотеке {library}",
    "crawl_not_an_address": "{address:quoted} — не адрес сайта: он должен выглядеть как https://example.org/",
    "crawl_front_refused": (
        "{address} не даёт себя прочитать (ответ {status}): спросите владельца или задайте contact, чтобы он знал, кто вы"
    ),
    "crawl_front_answered": "{address} ответил {status}: начинать не с чего",
    "crawl_front_wall": (
        "{address} сначала спрашивает имя и пароль: проиндексировать можно только то, что может прочитать каждый"
    ),
    "crawl_no_links": (
        "на {address} нет ссылок, по которым можно идти: укажите адреса двух-трёх документов (--example) или их образец с диапазоном (--pattern и --range)"
    ),
    "crawl_no_documents": (
        "ни одна страница {address} не стала документом. `doublet library pages {library}` покажет, что стало с каждой; --example с адресами двух-трёх документов скажет, что искать"
    ),
    "crawl_nothing_fits": (
        "{address}: ни в одном из найденных адресов ({links:,}) нет {only:quoted}. Есть, например: {examples:list}. Укажите в "
        "--only текст, который есть в адресах документов, или адрес-пример в --example"
    ),
    "crawl_no_site": (
        "в библиотеке {library} нет обойдённых сайтов: `doublet library crawl {library} ADDRESS` добавляет сайт"
    ),
    "crawl_needs_contact": (
        "для обхода {address} нужен адрес, по которому владелец сайта может написать: задайте contact (--contact или "
        "DOUBLET_CONTACT), вашу почту или страницу"
    ),
    "needs_warcio": "для файлов WARC нужна библиотека warcio: pip install 'doublet[web]'",
    "no_home_for_spool": "у вас нет домашней папки: укажите в XDG_CACHE_HOME папку для загруженных страниц",
    "looking_at": "{address}",
    "crawl_figures": (
        "найдено {found:,}, сохранено {stored:,}, ошибок {failed:,}, {rate:.1f} стр./с{left:?, %s}{waits:?; %s}"
    ),
    "crawl_waits_asked": "ожидание ещё {seconds:duration}, до {until}: так попросил {host}",
    "crawl_waits_failed": "ожидание ещё {seconds:duration}, до {until}: {host} не ответил, попыток подряд: {times}",
    "crawl_waits_turn": "ожидание ещё {seconds:duration}, до {until}, перед следующим запросом к {host}",
    "host_held": "{host} сейчас опрашивает другой робот",
    "host_given_up": "{host} не ответил {times} раз подряд и оставлен до следующего запуска ({why})",
    "host_refuses": (
        "{host} отказал {times} раз подряд (ответ {status}): сайт не хочет, чтобы его обходили, или не так быстро. "
        "Спросите владельца, задайте contact и больший fetch_delay_s и повторите ту же команду"
    ),
    "crawl_endless": (
        "{pages:,} страниц подряд не дали ни одного нового документа: похоже, сайт бесконечен, и дальше его ссылки не "
        "обходились. --only или --pattern скажут, какие адреса — документы, --skip — какие пропустить"
    ),
    "page_reason": "{reason:name.page_reason}",
    "pattern_begins": "шаблон начинается с / или с адреса сайта",
    "pattern_no_such_field": "нет поля {field}; известны: {known:list}",
    "pattern_without_field": "в шаблоне нет поля ({examples}): это один адрес, а не шаблон",
    "crawl_wrong_pattern": "--pattern {pattern}: {why}",
    "crawl_wrong_range": "--range {range:quoted}: нужны два числа, например 1-5000",
    "crawl_unknown_page_state": "нет состояния страниц {state:quoted}. Известны: {known:list}",
    "no_byte_within": "{address} не отвечает: за {seconds:g} с ничего не пришло",
    "page_broke_off": "{address}: связь оборвалась раньше, чем пришла вся страница",
    "server_broke_off": "{address}: сервер оборвал связь без ответа",
    "nothing_listens": "{address} недоступен: там никто не слушает (в соединении отказано)",
    "cannot_be_fetched": "{address} не загружается: {why}",
    "crawl_mirror": (
        "{address} — зеркало {other}, который уже есть в {library}: ничего не сохранено. Зеркало можно добавить в другую библиотеку"
    ),
    "number_refused": "{address} не запрашивается: {shown:?%s|это} {why}{hint:?. %s}",
    "allow_private_hint": "Если это ваш собственный сервер, добавьте --allow-private (или настройку allow_private)",
    "no_number": "— узел без IP-адреса",
    "number_of_cloud": "— место, где облако хранит пароли",
    "number_of_none": "— адрес, за которым нет машины",
    "number_multicast": "— адрес групповой рассылки",
    "number_link_local": "— адрес локального сегмента",
    "number_reserved": "— зарезервированный адрес",
    "number_of_this_computer": "— сам этот компьютер",
    "number_private": "— адрес частной сети",
    "answers_status": "{address} отвечает {status} ({meaning})",
    "status_429": "слишком много запросов",
    "status_500": "ошибка сервера",
    "status_502": "сервер за ним не отвечает",
    "status_503": "сейчас недоступен",
    "status_504": "сервер за ним отвечает слишком долго",
}
