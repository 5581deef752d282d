"""Short news made from templates: serial reports with other numbers, dates and names, and retellings of one report.

    python benchmarks/made_news.py ru

Reports that come out every day or every week are told apart by their numbers, dates and names alone. Each kind of
report has three wordings of the same facts, the last of which opens with something else. Two wordings of the same facts
tell the same story; one wording with other facts tells another. Kinds of reports are the families that
`benchmarks/unseen.py` cuts into parts.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

PAIRS = 6  #: of each sort and kind of report


@dataclass(frozen=True)
class Report:
    kind: str
    language: str
    facts: Callable[[random.Random], dict[str, str]]
    wordings: tuple[str, ...]


@dataclass(frozen=True)
class NewsPair:
    kind: str
    language: str
    text_a: str
    text_b: str
    same: bool
    sort: str  #: "retold", "retold, other opening", "other facts" or "other facts, other wording"


RU_MONTHS = ("января", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября", "октября", "ноября")
EN_MONTHS = ("January", "March", "April", "May", "June", "July", "August", "September", "October", "November")
RU_DAYS = ("понедельник", "вторник", "среду", "четверг", "пятницу", "субботу")
EN_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def _ru_date(rng: random.Random) -> dict[str, str]:
    return {"date": f"{rng.randint(2, 28)} {rng.choice(RU_MONTHS)}", "day": rng.choice(RU_DAYS)}


def _en_date(rng: random.Random) -> dict[str, str]:
    return {"date": f"{rng.choice(EN_MONTHS)} {rng.randint(2, 28)}", "day": rng.choice(EN_DAYS)}


def _two(rng: random.Random, names: tuple[str, ...], *keys: str) -> dict[str, str]:
    return dict(zip(keys, rng.sample(names, len(keys)), strict=True))


def _money(rng: random.Random, low: int, high: int, sign: str) -> str:
    return f"{rng.randint(low, high)}{sign}{rng.randint(1, 99):02d}"


RU_TOWNS = ("Казань", "Омск", "Тверь", "Самара", "Пермь", "Уфа", "Тюмень", "Псков", "Чита", "Томск")
RU_SURNAMES = (
    "Климов",
    "Ершов",
    "Зорин",
    "Лапин",
    "Дроздов",
    "Мещеряков",
    "Рябов",
    "Усачёв",
    "Жданов",
    "Котов",
)
RU_CLUBS = ("«Маяк»", "«Рубин»", "«Север»", "«Нефтяник»", "«Факел»", "«Сокол»", "«Енисей»", "«Волга»")
EN_TOWNS = (
    "Leeds",
    "Bristol",
    "Cardiff",
    "Derby",
    "Exeter",
    "Norwich",
    "Swansea",
    "York",
    "Preston",
    "Dundee",
)
EN_SURNAMES = (
    "Hartley",
    "Okafor",
    "Brennan",
    "Whitlock",
    "Dawes",
    "Kerr",
    "Mallory",
    "Sutcliffe",
    "Pryce",
    "Nolan",
)
EN_CLUBS = ("Rovers", "Harriers", "Albion", "Wanderers", "Athletic", "Rangers", "Argyle", "Borough")

#: Counts in digits and in words.
RU_COUNTS = (
    ("12", "двенадцати"),
    ("15", "пятнадцати"),
    ("20", "двадцати"),
    ("30", "тридцати"),
    ("40", "сорока"),
)
EN_COUNTS = (("12", "twelve"), ("15", "fifteen"), ("20", "twenty"), ("30", "thirty"), ("45", "forty-five"))
RU_PEOPLE = (("5", "пятеро"), ("6", "шестеро"), ("7", "семеро"), ("8", "восьмеро"), ("9", "девять"))
EN_PEOPLE = (("4", "four"), ("5", "five"), ("6", "six"), ("7", "seven"), ("8", "eight"))


def _counted(rng: random.Random, counts: tuple[tuple[str, str], ...], *keys: str) -> dict[str, str]:
    return dict(zip(keys, rng.choice(counts), strict=True))


REPORTS = (
    Report(
        "rates",
        "ru",
        lambda r: {
            **_ru_date(r),
            "dollar": _money(r, 61, 98, ","),
            "euro": _money(r, 70, 109, ","),
            "move": r.choice(("вырос", "снизился")),
            "by": f"{r.randint(4, 98)}",
        },
        (
            "Центробанк установил курсы валют на {date}. Официальный курс доллара на {date} составил {dollar} "
            "рубля, следует из данных регулятора. За день он {move} на {by} копеек. Курс евро установлен на "
            "уровне {euro} рубля. Курсы действуют для расчётов по всей стране.",
            "Доллар {move} на {by} копеек. Банк России опубликовал новые значения: за американскую валюту с "
            "{date} дают {dollar} рубля, за европейскую {euro}. Итоги торгов подвели в {day}.",
            "Рынок ждал этого решения всю неделю. Аналитики спорили, что важнее: нефть или налоговый период. В "
            "итоге регулятор объявил, что доллар с {date} стоит {dollar} рубля. Евро оценён в {euro} рубля. "
            "Изменение составило {by} копеек.",
        ),
    ),
    Report(
        "rates",
        "en",
        lambda r: {
            **_en_date(r),
            "pound": f"1.{r.randint(1101, 1399)}",
            "euro": f"1.{r.randint(1001, 1299)}",
            "move": r.choice(("rose", "fell")),
            "by": f"0.{r.randint(11, 98)}",
        },
        (
            "Pound {move} {by}% against the dollar. Sterling {move} by {by} percent to {pound} dollars in London "
            "trading on {day}, {date}. Against the single currency it traded at {euro} euros. Dealers were "
            "waiting for the next decision of the Bank of England.",
            "Sterling at {pound} dollars. The British currency closed at {pound} on {day}, a change of {by}% "
            "within a day, traders said on {date}. One pound bought {euro} euros.",
            "Holidaymakers watch the exchanges with care at this time of the year. A family abroad feels every "
            "cent. At the close on {date} a pound bought {pound} dollars or {euro} euros, after it {move} {by} "
            "percent.",
        ),
    ),
    Report(
        "weather",
        "ru",
        lambda r: {
            **_ru_date(r),
            "night": f"{r.randint(1, 9)}",
            "noon": f"{r.randint(11, 32)}",
            "wind": f"{r.randint(3, 17)}",
            "sky": r.choice(("дождь", "гроза", "ясно", "туман")),
            "town": r.choice(RU_TOWNS),
        },
        (
            "Прогноз погоды на {date}. По данным гидрометцентра, в {day}, {date}, в области ожидается {sky}. "
            "Ветер западный, до {wind} метров в секунду. Температура ночью около {night} градусов, днём до "
            "{noon} градусов. Город {town} встретит день без осложнений на дорогах.",
            "Синоптики: днём до {noon} градусов. Гидрометцентр уточнил прогноз на {date}: {sky}, ночью воздух "
            "остынет до {night} градусов, порывы ветра достигнут {wind} метров в секунду. Это касается и города "
            "{town}.",
            "Дачники снова смотрят на небо. Посадки не любят перепадов, а зонт лучше держать под рукой. В {day} "
            "обещают {sky}. Как сообщили синоптики, {date} термометры покажут {noon} градусов днём и {night} "
            "ночью, ветер {wind} метров в секунду; самый тёплый город — {town}.",
        ),
    ),
    Report(
        "weather",
        "en",
        lambda r: {
            **_en_date(r),
            "low": f"{r.randint(1, 9)}",
            "high": f"{r.randint(11, 31)}",
            "wind": f"{r.randint(12, 68)}",
            "sky": r.choice(("heavy rain", "thunderstorms", "clear skies", "dense fog")),
            "town": r.choice(EN_TOWNS),
        },
        (
            "Weather forecast for {day}, {date}. The Met Office expects {sky} across the region on {day}. "
            "Temperatures will reach {high} degrees by day and fall to {low} degrees at night. Winds of up to "
            "{wind} mph are likely near {town}.",
            "{sky} on the way, says Met Office. Forecasters expect highs of {high} degrees on {date} and lows of "
            "{low}. Gusts near {town} may reach {wind} mph, and drivers are asked to take care.",
            "Should you take an umbrella? Gardeners and commuters ask this every evening. The answer for {date}: "
            "{sky}, with {high} degrees at noon, {low} degrees before dawn and gusts of {wind} mph around "
            "{town}, the Met Office said.",
        ),
    ),
    Report(
        "match",
        "ru",
        lambda r: {
            **_ru_date(r),
            **_two(r, RU_CLUBS, "home", "guest"),
            **_two(r, RU_SURNAMES, "first", "second"),
            "score": f"{r.randint(2, 5)}:{r.randint(0, 1)}",
            "minute": f"{r.randint(5, 88)}",
            "tour": f"{r.randint(2, 29)}",
        },
        (
            "{home} обыграл {guest} в {tour}-м туре чемпионата. Матч завершился со счётом {score} в пользу "
            "хозяев поля. Голами отметились {first} и {second}, причём решающий мяч был забит на {minute}-й "
            "минуте. Встреча прошла {date}.",
            "{first} принёс победу хозяевам. На {minute}-й минуте он решил исход встречи {home} — {guest}, "
            "которая завершилась со счётом {score}. Ещё один мяч забил {second}. Это была игра {tour}-го тура.",
            "Болельщики заполнили трибуны задолго до свистка. Погода не подвела, поле было в прекрасном "
            "состоянии. Игра {tour}-го тура принесла хозяевам очки: {home} не оставил шансов сопернику, {guest} "
            "уступил {score}. Забивали {first} и {second}.",
        ),
    ),
    Report(
        "match",
        "en",
        lambda r: {
            **_en_date(r),
            **_two(r, EN_TOWNS, "town", "visitors"),
            **_two(r, EN_CLUBS, "club", "other"),
            **_two(r, EN_SURNAMES, "first", "second"),
            "score": f"{r.randint(2, 5)}-{r.randint(0, 1)}",
            "minute": f"{r.randint(5, 88)}",
            "crowd": f"{r.randint(4, 29)},{r.randint(100, 999)}",
        },
        (
            "{town} {club} beat {visitors} {other} {score}. {town} {club} won {score} at home to {visitors} "
            "{other} on {day}. {first} scored in minute {minute} and {second} added another goal before a crowd "
            "of {crowd}. The manager was pleased with his side.",
            "{first} goal sinks {visitors}. A strike by {first} after {minute} minutes put the hosts ahead on "
            "{date}, and {second} made sure of the points as {visitors} {other} lost {score} to {town} {club}.",
            "The rain had stopped just in time. Scarves were out and the band was playing. On the pitch the home "
            "side had few problems: {town} {club} won {score}, with goals from {first} and {second}, and "
            "{visitors} {other} went home empty-handed. The gate was {crowd}.",
        ),
    ),
    Report(
        "cases",
        "ru",
        lambda r: {
            **_ru_date(r),
            "new": f"{r.randint(101, 989)}",
            "total": f"{r.randint(11, 98)} {r.randint(100, 999)}",
            "well": f"{r.randint(101, 989)}",
            "dead": f"{r.randint(2, 39)}",
        },
        (
            "За сутки в области выявили {new} случаев коронавируса. Оперативный штаб сообщил {date}, что за "
            "минувшие сутки инфекция подтверждена у {new} человек. Всего с начала пандемии заболели {total} "
            "жителей. Выписаны {well} человек, скончались {dead}.",
            "Число заражённых достигло {total}. За последний день добавилось {new} новых случаев COVID-19, "
            "говорится в сводке на {date}. Выздоровели ещё {well} пациентов, {dead} человек умерли.",
            "Врачи просят жителей не снимать маски. Больницы работают с полной нагрузкой, но коек хватает. "
            "Согласно сводке за {date}, коронавирус обнаружен ещё у {new} жителей области, {dead} спасти не "
            "удалось. Домой отпустили {well} человек.",
        ),
    ),
    Report(
        "cases",
        "en",
        lambda r: {
            **_en_date(r),
            "new": f"{r.randint(101, 989)}",
            "total": f"{r.randint(11, 98)},{r.randint(100, 999)}",
            "well": f"{r.randint(101, 989)}",
            "dead": f"{r.randint(2, 39)}",
        },
        (
            "County reports {new} new coronavirus cases. Health officials confirmed {new} new infections on "
            "{date}, which brings the total to {total}. Another {dead} people have died and {well} have "
            "recovered. Hospitals are coping, the department said.",
            "Virus total reaches {total}. With {new} cases added within a day and {dead} deaths, the county has "
            "now seen {total} infections, according to figures released on {date}. Recoveries: {well}.",
            "Masks stay on in shops and buses. Nurses have asked for patience, and visits remain forbidden. The "
            "daily figures published on {date} show why: {new} more people tested positive, {dead} died and "
            "{well} were sent home.",
        ),
    ),
    Report(
        "crash",
        "ru",
        lambda r: {
            **_ru_date(r),
            "town": r.choice(RU_TOWNS),
            "road": f"М-{r.randint(2, 12)}",
            "km": f"{r.randint(21, 780)}",
            "hurt": f"{r.randint(2, 9)}",
            "age": f"{r.randint(19, 78)}",
            "car": r.choice(("«Лада»", "«Киа»", "«Форд»", "«Тойота»", "«Рено»")),
        },
        (
            "На трассе {road} в аварии пострадали {hurt} человек. ДТП произошло {date} на {km}-м километре, "
            "сообщили в ГИБДД. Водитель автомобиля {car}, {age} лет, не справился с управлением. Пострадавших "
            "увезли в больницу, ближайший город — {town}.",
            "{car} вылетела на встречную полосу. За рулём находился водитель {age} лет. Столкновение на {km}-м "
            "километре дороги {road} закончилось травмами для {hurt} человек, их приняла больница города {town}. "
            "Авария случилась {date}.",
            "Утро выдалось скользким. Спасателям пришлось работать под мокрым снегом. Движение стояло несколько "
            "часов: на {km}-м километре трассы {road} столкнулись две машины. Ранены {hurt} человек. Виновником "
            "считают водителя автомобиля {car}, которому {age} лет.",
        ),
    ),
    Report(
        "crash",
        "en",
        lambda r: {
            **_en_date(r),
            "town": r.choice(EN_TOWNS),
            "road": f"A{r.randint(12, 980)}",
            "hurt": f"{r.randint(2, 9)}",
            "age": f"{r.randint(19, 78)}",
            "car": r.choice(("Ford", "Vauxhall", "Toyota", "Renault", "Volvo")),
            "hour": f"{r.randint(5, 11)}.{r.randint(10, 55)}am",
        },
        (
            "{hurt} people hurt in {road} crash near {town}. Police were called at {hour} on {day} to a "
            "collision between a {car} and a lorry. The driver of the car, aged {age}, and other casualties were "
            "taken to hospital. The road was closed.",
            "{car} driver, {age}, injured near {town}. A collision with a lorry on the {road} left {hurt} people "
            "in hospital on {day}. Officers arrived shortly after {hour} and closed the carriageway.",
            "Commuters needed patience. Queues stretched for miles and buses were sent round. The reason was an "
            "accident on the {road} close to {town} at {hour}, in which a {car} hit a lorry. Of the {hurt} "
            "people injured one is the driver, who is {age}.",
        ),
    ),
    Report(
        "quake",
        "ru",
        lambda r: {
            **_ru_date(r),
            "size": f"{r.randint(3, 7)},{r.randint(1, 9)}",
            "depth": f"{r.randint(11, 98)}",
            "far": f"{r.randint(21, 290)}",
            "place": r.choice(
                ("Камчатки", "Курил", "Сахалина", "Японии", "Чили", "Аляски", "Турции", "Ирана")
            ),
        },
        (
            "Землетрясение магнитудой {size} произошло у берегов {place}. Подземный толчок зафиксировали {date}, "
            "сообщила сейсмологическая служба. Очаг залегал на глубине {depth} километров, до ближайшего посёлка "
            "{far} километров. Угрозы цунами нет.",
            "Сейсмологи зафиксировали толчок близ {place}. Его магнитуда составила {size}. Эпицентр удалён от "
            "населённых пунктов на {far} километров, глубина {depth} километров. О разрушениях {date} не "
            "сообщалось.",
            "Люстры качались, посуда звенела в шкафах. Многие жители выбежали на улицу. Как выяснилось, район "
            "{place} встряхнуло землетрясение магнитудой {size}. Очаг был на глубине {depth} километров. Волны "
            "цунами не ждут.",
        ),
    ),
    Report(
        "quake",
        "en",
        lambda r: {
            **_en_date(r),
            "size": f"{r.randint(3, 7)}.{r.randint(1, 9)}",
            "depth": f"{r.randint(11, 98)}",
            "far": f"{r.randint(21, 290)}",
            "place": r.choice(("Alaska", "Chile", "Japan", "Peru", "Iran", "Turkey", "Tonga", "Mexico")),
        },
        (
            "Magnitude {size} earthquake strikes {place}. The quake hit at a depth of {depth} kilometres on "
            "{date}, the Geological Survey said. Its centre was {far} kilometres from the nearest town. No "
            "tsunami warning was issued.",
            "{place} shaken by quake. Seismologists measured {size} on {date}. There were no reports of damage "
            "from the centre of the tremor, {far} kilometres from inhabited places and {depth} kilometres under "
            "ground.",
            "Lamps swung and dogs barked. People ran into the streets and stayed there for an hour. It was an "
            "earthquake of magnitude {size} that shook {place}, {depth} kilometres below the surface. A tsunami "
            "is not expected.",
        ),
    ),
    Report(
        "prices",
        "ru",
        lambda r: {
            **_ru_date(r),
            "rate": f"{r.randint(2, 9)},{r.randint(1, 9)}",
            "week": f"0,{r.randint(11, 89)}",
            "goods": r.choice(("сахар", "яйца", "гречка", "помидоры", "бензин", "сливочное масло")),
            "more": f"{r.randint(2, 19)},{r.randint(1, 9)}",
        },
        (
            "Годовая инфляция составила {rate}%. По данным Росстата на {date}, за неделю потребительские цены "
            "изменились на {week}%. Сильнее всего подорожал товар из списка первой необходимости: {goods}, на "
            "{more}%. Следующие данные выйдут через неделю.",
            "Росстат: {goods} в лидерах подорожания. За семь дней рост составил {more}%. В целом цены поднялись "
            "на {week}%, в годовом выражении на {rate}%, следует из отчёта от {date}.",
            "Поход в магазин снова удивляет. Покупатели сравнивают чеки, продавцы переписывают ценники. "
            "Статистики подтверждают: за неделю цены прибавили {week}%, а за год {rate}%. Больше других "
            "подорожали {goods}.",
        ),
    ),
    Report(
        "prices",
        "en",
        lambda r: {
            **_en_date(r),
            "rate": f"{r.randint(2, 9)}.{r.randint(1, 9)}",
            "last": f"{r.randint(2, 9)}.{r.randint(1, 9)}",
            "month": r.choice(EN_MONTHS),
            "goods": r.choice(("petrol", "bread", "rents", "used cars", "air fares", "electricity")),
            "more": f"{r.randint(2, 19)}.{r.randint(1, 9)}",
        },
        (
            "Inflation at {rate}% in {month}. Consumer prices changed by {rate} percent over the year to "
            "{month}, the Office for National Statistics said, after {last} percent a month before. The largest "
            "contribution came from {goods}, up {more} percent.",
            "Cost of {goods} drives index. A rise of {more}% in the price of {goods} lifted annual inflation to "
            "{rate}% in {month} from {last}%, official statistics show.",
            "Shoppers know it without any statistics. Trolleys look emptier and receipts longer. Official "
            "figures for {month} now show how much prices went up in a year: {rate}%, and {more}% for {goods}.",
        ),
    ),
    Report(
        "court",
        "ru",
        lambda r: {
            **_ru_date(r),
            "town": r.choice(RU_TOWNS),
            "name": r.choice(RU_SURNAMES),
            "years": f"{r.randint(3, 19)}",
            "sum": f"{r.randint(2, 98)},{r.randint(1, 9)}",
            "post": r.choice(("чиновник", "директор школы", "полицейский", "адвокат", "бухгалтер")),
        },
        (
            "Суд приговорил бывшего сотрудника к {years} годам колонии. Осуждённый {name}, по должности {post}, "
            "признан виновным в получении взятки {sum} млн рублей. Приговор огласили {date} в городе {town}. "
            "Защита намерена его обжаловать.",
            "{name} получил {years} лет за взятку. Город {town}: {post} взял {sum} млн рублей, установил суд. "
            "Адвокаты подадут жалобу на приговор от {date}.",
            "Дело тянулось почти два года. Свидетели путались в показаниях, заседания откладывали. Теперь точка "
            "поставлена: {name} проведёт в колонии {years} лет. Взятка, которую взял {post}, составила {sum} млн "
            "рублей.",
        ),
    ),
    Report(
        "court",
        "en",
        lambda r: {
            **_en_date(r),
            "town": r.choice(EN_TOWNS),
            "name": r.choice(EN_SURNAMES),
            "years": f"{r.randint(3, 19)}",
            "sum": f"{r.randint(11, 980)},000",
            "post": r.choice(("accountant", "solicitor", "councillor", "headteacher", "treasurer")),
        },
        (
            "{post} jailed for {years} years. {name} was found guilty at {town} Crown Court of stealing {sum} "
            "pounds from an employer. The judge spoke of a serious breach of trust on {date}. The defence will "
            "appeal.",
            "{name} gets {years} years for theft of {sum} pounds. A {post} from {town} who took {sum} pounds has "
            "been sent to prison by the Crown Court. Lawyers announced an appeal on {date}.",
            "It took the jury two days. Colleagues sat in the public gallery in silence. In the end {name}, who "
            "worked as a {post} in {town}, was sent to prison for {years} years for the theft of {sum} pounds.",
        ),
    ),
    Report(
        "launch",
        "ru",
        lambda r: {
            **_ru_date(r),
            "craft": r.choice(("«Зенит-М»", "«Кондор»", "«Парус»", "«Горизонт»", "«Бион»", "«Лотос»")),
            "site": r.choice(("Восточный", "Плесецк", "Байконур", "Куру")),
            "hour": f"{r.randint(10, 23)}:{r.randint(10, 59)}",
            "height": f"{r.randint(21, 98)}0",
            "mass": f"{r.randint(2, 9)}",
        },
        (
            "Ракета «Союз-2.1а» стартовала. Пуск со спутником {craft} выполнен {date} в {hour}, космодром {site}. "
            "Аппарат массой {mass} тысяч килограммов выводят на орбиту высотой {height} километров. Разгонный блок "
            "отработал штатно.",
            "Спутник {craft} отправился в космос. На часах было {hour}, когда над степью поднялся огненный столб: "
            "космодром {site} проводил {mass} тонн груза. Летать ему предстоит в {height} километрах над нами.",
            "Зрители собрались у ограды ещё затемно. Кто-то привёз детей, кто-то бинокль. Наградой был грохот в "
            "{hour}. К вечеру {date} стало ясно, что {craft} благополучно добрался до своей орбиты, а это "
            "{height} километров.",
        ),
    ),
    Report(
        "launch",
        "en",
        lambda r: {
            **_en_date(r),
            "craft": r.choice(("Meridian-4", "Skylark", "Halcyon", "Borealis-2", "Tern", "Kestrel")),
            "site": r.choice(("Kourou", "Wallops", "Vandenberg", "Andoya")),
            "hour": f"{r.randint(10, 23)}:{r.randint(10, 59)}",
            "height": f"{r.randint(210, 980)}",
        },
        (
            "Vega-C rocket lifts off. The launcher left {site} at {hour} on {date} with the satellite {craft} on "
            "board. The spacecraft will circle the Earth at {height} kilometres. All stages worked as planned, the "
            "operator said.",
            "{craft} reaches orbit. Engineers hugged each other after a flawless countdown in {site} ended at {hour}. "
            "Their payload is now {height} kilometres above our heads, and its panels are open.",
            "For a minute nobody spoke. Families stood on the roofs of their cars and looked up. What they saw at "
            "{hour} was the departure of {craft}, which has since arrived at its height of {height} kilometres.",
        ),
    ),
    Report(
        "recall",
        "ru",
        lambda r: {
            **_ru_date(r),
            **_counted(r, RU_COUNTS, "count", "count_word"),
            "firm": r.choice(("«Заря»", "«Луч»", "«Исток»", "«Родник»", "«Кедр»", "«Восход»")),
            "brand": r.choice(("«Утро»", "«Бодрость»", "«Полянка»", "«Домик»", "«Василёк»", "«Снежок»")),
            "goods": r.choice(("йогурт", "творог", "сок", "паштет", "сыр")),
            "chat": f"{r.randint(11, 98)}",
        },
        (
            "Производитель отзывает партию продуктов. Компания {firm} изымает из продажи {count} тысяч упаковок: "
            "{goods} {brand}, выпуск от {date}. В образцах нашли пластик. Жалобы поступили от {chat} покупателей.",
            "Не ешьте это: предупреждение покупателям. Роспотребнадзор советует проверить холодильники. {goods} "
            "{brand} может содержать осколки упаковки, признали на предприятии {firm}. Речь о {count_word} тысячах "
            "штук, поводом стали обращения {chat} человек.",
            "Сначала хрустнуло на зубах у школьника. Мать отнесла стаканчик в лабораторию, и та подтвердила худшее. "
            "Теперь {firm} вернёт деньги всем, кто купил {goods} {brand}. Магазины сняли с полок {count_word} тысяч "
            "единиц товара.",
        ),
    ),
    Report(
        "recall",
        "en",
        lambda r: {
            **_en_date(r),
            **_counted(r, EN_COUNTS, "count", "count_word"),
            "firm": r.choice(("Hallmoor", "Tindale", "Crossley", "Penhale", "Garrick", "Ostrava Foods")),
            "brand": r.choice(("Sunny Fields", "Oakhouse", "Little Acre", "Bluebell", "Marlow")),
            "goods": r.choice(("hummus", "yoghurt", "granola", "soup", "cheddar")),
            "ill": f"{r.randint(11, 98)}",
        },
        (
            "Supermarket product recalled. The manufacturer {firm} is withdrawing {count},000 packs of {brand} {goods} "
            "sold before {date}. Tests found traces of salmonella. The health agency knows of {ill} people who fell "
            "ill.",
            "Check your fridge tonight. Doctors have treated {ill} patients with stomach cramps, and the trail leads "
            "to {goods} of the label {brand}. About {count_word} thousand tubs made by {firm} should be thrown away.",
            "It began with a children's party. Half of the guests were in bed the next morning. The laboratory named "
            "the culprit: {brand} {goods}. Its maker, {firm}, now wants {count_word} thousand of them back.",
        ),
    ),
    Report(
        "rescue",
        "ru",
        lambda r: {
            **_ru_date(r),
            **_counted(r, RU_PEOPLE, "people", "people_word"),
            "place": r.choice(("Белухе", "Эльбрусе", "Казбеке", "Хан-Тенгри", "Ушбе", "Аваче")),
            "name": r.choice(RU_SURNAMES),
            "height": f"{r.randint(21, 49)}00",
        },
        (
            "Альпинистов спасли в горах. Спасатели {date} сняли с высоты {height} метров {people} человек, которые "
            "застряли на {place}. Операция длилась всю ночь. Руководил ею {name}. Все доставлены в больницу с "
            "обморожениями.",
            "Ночь на {place} закончилась благополучно. {people_word} туристов не смогли спуститься из-за метели и "
            "вызвали помощь по рации. Вертолёт сел в {height} метрах над уровнем моря, рассказал пилот {name}.",
            "Связь пропала перед рассветом. Родные дежурили у телефона и не верили прогнозу. Поисковая группа, которую "
            "вёл {name}, всё-таки успела: {people_word} путешественников нашли живыми на {place}. Мороз там стоял "
            "лютый.",
        ),
    ),
    Report(
        "rescue",
        "en",
        lambda r: {
            **_en_date(r),
            **_counted(r, EN_PEOPLE, "people", "people_word"),
            "place": r.choice(("Helvellyn", "Snowdon", "Scafell", "Cairngorm", "Tryfan", "Skiddaw")),
            "name": r.choice(EN_SURNAMES),
            "height": f"{r.randint(410, 980)}",
        },
        (
            "Walkers rescued from {place}. A team of volunteers brought {people} walkers down from {place} on {day} "
            "night after fog closed in at {height} metres. Team leader {name} said the group had no maps.",
            "Without a map in the fog. {people_word} friends who lost the path on {place} owe their lives to a "
            "whistle, says {name}, who led the search. They sat on a ledge {height} metres up when the dog found them.",
            "The phone rang during supper. Boots were on within a minute and the van was full. Hours later {name} "
            "could report that all {people_word} were off {place}, cold but unhurt.",
        ),
    ),
)


def make_news(language: str, seed: str) -> Iterator[NewsPair]:
    """Pairs of all kinds in one language, the same for the same seed."""
    for report in REPORTS:
        if report.language != language:
            continue
        rng = random.Random(f"{seed} {language} {report.kind}")

        def told(
            wording: int, facts: dict[str, str], report: Report = report
        ) -> str:  # sentences begin with a capital
            text = report.wordings[wording].format(**facts)
            return text[0].upper() + text[1:]

        for _ in range(PAIRS):
            facts, others = report.facts(rng), report.facts(rng)
            first, second = rng.sample((0, 1), 2)
            for sort, other_wording, other_facts in (
                ("retold", second, facts),
                ("retold, other opening", 2, facts),
                ("other facts", first, others),
                ("other facts, other wording", second, others),
            ):
                yield NewsPair(
                    report.kind,
                    language,
                    told(first, facts),
                    told(other_wording, other_facts),
                    other_facts is facts,
                    sort,
                )


if __name__ == "__main__":
    for pair in make_news(sys.argv[1] if len(sys.argv) > 1 else "ru", "shown"):
        print(f"{pair.kind}, {pair.sort}:\n  {pair.text_a}\n  {pair.text_b}\n")
