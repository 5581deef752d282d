"""Что говорит сервис: о запуске и программам, которые обращаются к REST."""

from __future__ import annotations

MESSAGES: dict[str, str] = {
    "nothing_to_check": "в документе {path:quoted} нет текста: посмотрите, не скан ли это и не пуст ли он",
    "first_administrator": "Создан первый администратор. Это показывается один раз:\n  имя     {name}\n  пароль  {password}",
    "service_answers": "Doublet {version} отвечает по адресу {address}  (остановить: Ctrl+C)",
    "samples_loaded": "Загружены библиотека-образец и два отчёта-образца (--empty обходится без них).",
    "samples_not_loaded": "Образцы загрузить не удалось: {why}",
    "service_key_unusable": (
        "в файле {path} нет пригодного ключа: удалите файл, и при следующем запуске появится новый; "
        "после этого всем придётся войти снова"
    ),
    "service_debug_public": "в режиме отладки сервис не слушает общедоступный адрес: запустите без --debug",
    "service_without_tls": (
        "{bind} доступен другим, и пароли передавались бы без шифрования: поставьте перед сервисом "
        "прокси с TLS и запустите с --https (примеры в deploy/) или слушайте 127.0.0.1"
    ),
    "service_without_name": (
        "сервису на общедоступном адресе нужно знать своё имя: укажите --host-name, например --host-name"
        " doublet.example.org"
    ),
    "service_upload_limit": "--upload-limit — {value:quoted}: нужен размер, например 50MB",
    "server_unreachable": "{address} не отвечает ({why}): проверьте, что сервис запущен и адрес верен",
    "server_said": "{address} отвечает: {why}",
    "server_forbids_that": "{address} не разрешает это: {why}; создайте токен на странице «Мой профиль» и передайте его в --token",
    "server_not_for": "{command} работает на этом компьютере, {why:name.why_here}: уберите --server",
    "server_tells_fewer": "сервис сообщает {most} самых частых слов: запросите не больше",
    "server_repeats": "сервис хранит результат: {address}",
    "not_with_server": "{option} не имеет смысла вместе с --server: у сервиса оно своё",
    "backup_written": "всё записано в {path} ({size} байт)",
    "backup_restored": "{path} восстановлен: запустите сервис как прежде",
    "backup_no_database": "{path} не существует: взять оттуда нечего",
    "backup_not_written": "{path} не удаётся записать или прочитать: {why}",
    "dump_failed": "база данных сообщила об ошибке: {why}",
    "dump_unknown_table": "в резервной копии есть таблицы, неизвестные этой версии ({tables}): восстановите её той версией, которой она сделана, или более новой",
    "restore_would_overwrite": "{path} уже есть, а восстановление ничего не перезаписывает: назовите другую --database или уберите файл",
    "restore_other_kind": "{path} — копия базы другого вида ({kind}) или более новой версии Doublet",
    "restore_not_a_backup": "{path} — не копия, записанная `doublet backup`, или она повреждена",
    "one_of": "{name} — {value:quoted}: возможны {known:list}",
    "wrong_cursor": "этот курсор выдан не этим списком: начните без него",
    "quota_used_up": (
        "предел — {limit} проверок в день, и он исчерпан: попробуйте завтра или обратитесь к администратору"
    ),
    "text_or_address": "укажите или текст, или адрес",
    "not_a_web_address": "{value:quoted} — не адрес: он должен начинаться с http:// или https://",
    "edited_meanwhile": "пока вы работали, эту проверку изменил кто-то другой: прочитайте её снова и потом меняйте",
    "report_has_no": "в отчёте нет {value:quoted} ({target})",
    "class_size": "в группе от 1 до {most} работ, а в этой {works}",
    "neither_address_nor_folder": "{address:quoted} — не адрес и не лежит в папке, которую открыл владелец сервиса",
    "hook_answered": "{address} отвечает {status}, а сообщение считается доставленным только при ответе от 200 до 299",
    "hook_not_signed": "сообщение не подписано этим секретом",
    "hook_too_old": "сообщение подписано более {seconds} с назад, либо часы расходятся",
    "too_many_hooks": "у одного человека может быть не более {number} веб-хуков",
    "server_takes_files": "с --server можно добавлять только файлы и адреса: {given} не является ни тем, ни другим",
    "server_job_waits": "задание {number} в очереди сервиса: `doublet queue show {number}` покажет, как оно продвигается",
    "options_not_json": "options — JSON-объект с известными поиску параметрами",
    "server_takes_fewer": "здесь {number} файлов, а сервис принимает за раз {most}: назовите меньше",
    "server_job_ended": "задание {number} службы завершилось со статусом {state}: см. `doublet queue show {number}`",
    "last_administrator": "это единственный действующий администратор: сначала сделайте администратором кого-то ещё",
}
