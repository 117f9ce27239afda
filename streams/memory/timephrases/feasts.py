# ruff: noqa: E501  # a pattern or a row of a table reads best on one line
"""Named days and their dates. Rules are data; lunar dates and solar terms come from `borax`, Easter from `dateutil`,
the feasts of other moving calendars from `holidays` (all loaded at first use)."""

import re
import warnings
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from streams.memory.timephrases.calendar import day as day_of
from streams.memory.timephrases.calendar import nth_weekday, unit_span


@dataclass(frozen=True, slots=True)
class Feast:
    rule: tuple[str, ...]
    names: tuple[str, ...]


def _feast(rule: str, *names: str) -> Feast:
    return Feast(tuple(rule.split()), names)


# Rules: `fixed month day`; `nth month weekday n` (Monday 0); `easter offset` and `orthodox offset` in days;
# `lunar month day` (day 0: the last of the year's last month); `term name`; `after feast days`;
# `library country name [begin days]` with the name as `holidays` spells it in English ("_" for a space), the day that
# the feast begins relative to it (-1 for the evening before) and how many days it lasts.
FEASTS = (
    _feast("fixed 1 1", "new year's day", "new years day", "new year day", "new years", "new year's", "元旦", "元旦节"),
    _feast("fixed 12 31", "new year's eve", "new years eve", "new year eve", "跨年夜", "元旦前夜", "新年前夜"),
    _feast("fixed 2 14", "valentine's day", "valentines day", "valentine day", "valentine's", "情人节"),
    _feast("fixed 3 7", "女生节"),
    _feast("fixed 3 8", "women's day", "womens day", "international women's day", "妇女节", "三八妇女节", "国际妇女节",
           "女神节"),
    _feast("fixed 3 12", "植树节"),
    _feast("fixed 3 14", "pi day", "白色情人节"),
    _feast("fixed 3 15", "消费者权益日"),
    _feast("fixed 3 17", "st patrick's day", "st. patrick's day", "saint patrick's day", "st patricks day",
           "圣帕特里克节"),
    _feast("fixed 4 1", "april fool's day", "april fools' day", "april fools day", "april fools", "fool's day",
           "愚人节"),
    _feast("fixed 4 22", "earth day", "世界地球日", "地球日"),
    _feast("fixed 5 1", "may day", "international workers' day", "international workers day", "workers' day",
           "workers day", "劳动节", "五一劳动节", "国际劳动节", "五一节", "五一"),
    _feast("fixed 5 4", "青年节", "五四青年节"),
    _feast("fixed 5 12", "护士节"),
    _feast("fixed 5 20", "520"),
    _feast("fixed 6 1", "儿童节", "六一儿童节", "国际儿童节", "六一节", "六一", "international children's day"),
    _feast("fixed 6 19", "juneteenth"),
    _feast("fixed 7 1", "canada day", "建党节", "七一建党节", "香港回归纪念日"),
    _feast("fixed 7 4", "independence day", "us independence day", "美国独立日", "独立日"),
    _feast("fixed 7 14", "bastille day", "法国国庆"),
    _feast("fixed 8 1", "建军节", "八一建军节"),
    _feast("fixed 9 3", "抗战胜利纪念日"),
    _feast("fixed 9 10", "教师节", "teacher's day", "teachers' day", "teachers day"),
    _feast("fixed 10 1", "国庆节", "国庆", "十一国庆节", "国庆日", "chinese national day"),
    _feast("fixed 10 31", "halloween", "hallowe'en", "all hallow's eve", "万圣夜", "万圣节", "万圣节前夜"),
    _feast("fixed 11 1", "all saints' day", "all saints day", "诸圣节"),
    _feast("fixed 11 2", "all souls' day", "all souls day"),
    _feast("fixed 11 5", "guy fawkes night", "bonfire night"),
    _feast("fixed 11 11", "veterans day", "veterans' day", "remembrance day", "armistice day", "singles' day",
           "singles day", "双十一", "双11", "光棍节"),
    _feast("fixed 12 12", "双十二", "双12"),
    _feast("fixed 12 13", "国家公祭日"),
    _feast("fixed 12 24", "christmas eve", "xmas eve", "平安夜", "圣诞夜", "圣诞前夜", "圣诞节前夜"),
    _feast("fixed 12 25", "christmas day", "christmas", "xmas", "xmas day", "圣诞节", "圣诞"),
    _feast("fixed 12 26", "boxing day", "节礼日"),
    _feast("nth 1 0 3", "martin luther king day", "martin luther king jr day", "martin luther king jr. day",
           "mlk day", "马丁路德金日"),
    _feast("nth 2 0 3", "presidents' day", "presidents day", "president's day", "总统日"),
    _feast("nth 5 6 2", "mother's day", "mothers day", "mothers' day", "母亲节"),
    _feast("nth 6 6 3", "father's day", "fathers day", "fathers' day", "父亲节"),
    _feast("nth 5 0 -1", "memorial day", "阵亡将士纪念日"),
    _feast("nth 9 0 1", "labor day", "labour day"),
    _feast("nth 10 0 2", "columbus day", "indigenous peoples' day", "哥伦布日"),
    _feast("nth 11 3 4", "thanksgiving", "thanksgiving day", "感恩节"),
    _feast("after thanksgiving 1", "black friday", "黑色星期五", "黑五"),
    _feast("after thanksgiving 4", "cyber monday"),
    _feast("easter 0", "easter", "easter sunday", "easter day", "复活节"),
    _feast("easter -2", "good friday", "耶稣受难日", "受难节", "圣周五"),
    _feast("easter -1", "holy saturday", "easter saturday", "圣周六"),
    _feast("easter 1", "easter monday", "复活节星期一"),
    _feast("easter -7", "palm sunday", "圣枝主日", "棕枝主日"),
    _feast("easter -3", "maundy thursday", "holy thursday", "濯足节", "圣周四", "神圣星期四"),
    _feast("easter -46", "ash wednesday", "圣灰星期三", "圣灰节"),
    _feast("easter -47", "shrove tuesday", "mardi gras", "pancake day", "fat tuesday", "忏悔星期二"),
    _feast("easter 39", "ascension day", "耶稣升天节", "升天节"),
    _feast("easter 49", "pentecost", "whit sunday", "五旬节", "圣灵降临节"),
    _feast("easter 50", "whit monday", "pentecost monday"),
    _feast("easter 56", "trinity sunday", "天主圣三一节", "圣三一主日", "三一主日", "三一节"),
    _feast("easter 60", "corpus christi"),
    _feast("orthodox 0", "orthodox easter", "greek easter", "东正教复活节"),
    _feast("orthodox -2", "orthodox good friday", "orthodox great friday", "东正教圣周五", "东正教沉默周五",
           "东正教耶稣受难日"),
    _feast("orthodox 1", "orthodox easter monday", "东正教复活节星期一"),
    _feast("lunar 1 1", "chinese new year", "chinese new year's day", "lunar new year", "lunar new year's day", "chinese lunar new year", "chinese lunar new year's day",
           "spring festival", "春节", "大年初一", "中国新年", "农历新年", "新春佳节", "过年"),
    _feast("lunar 12 0", "chinese new year's eve", "lunar new year's eve", "除夕", "除夕夜", "年三十", "大年三十",
           "大年夜", "年夜"),
    _feast("lunar 1 15", "lantern festival", "元宵节", "元宵", "上元节", "正月十五"),
    _feast("lunar 2 2", "龙抬头"),
    _feast("lunar 5 5", "dragon boat festival", "端午节", "端午"),
    _feast("lunar 7 7", "qixi", "qixi festival", "七夕节", "七夕", "乞巧节"),
    _feast("lunar 7 15", "ghost festival", "中元节", "盂兰盆节", "鬼节"),
    _feast("lunar 8 15", "mid-autumn festival", "mid autumn festival", "moon festival", "mid-autumn day", "中秋节",
           "中秋"),
    _feast("lunar 9 9", "double ninth festival", "重阳节", "重阳", "重九"),
    _feast("lunar 10 15", "下元节"),
    _feast("lunar 12 8", "laba festival", "腊八节", "腊八"),
    _feast("lunar 12 23", "小年"),
    _feast("term 清明", "tomb sweeping day", "tomb-sweeping day", "qingming festival", "qingming", "清明节", "清明",
           "扫墓节"),
    _feast("term 冬至", "winter solstice", "冬至", "冬至节"),
    _feast("term 夏至", "summer solstice", "夏至"),
    _feast("term 春分", "spring equinox", "vernal equinox", "春分"),
    _feast("term 秋分", "autumn equinox", "autumnal equinox", "fall equinox", "秋分"),
    *(_feast(f"term {name}", name) for name in
      ["立春", "雨水", "惊蛰", "谷雨", "立夏", "小满", "芒种", "小暑", "大暑", "立秋", "处暑", "白露", "寒露", "霜降", "立冬", "小雪", "大雪", "小寒", "大寒"]),
    _feast("library TR Eid_al-Fitr", "eid al-fitr", "eid al fitr", "eid ul-fitr", "开斋节"),
    _feast("library TR Eid_al-Adha", "eid al-adha", "eid al adha", "宰牲节", "古尔邦节"),
    _feast("library SG Diwali", "diwali", "deepavali", "排灯节", "印度灯节"),
    _feast("library SG Vesak_Day", "vesak", "vesak day", "卫塞节", "佛诞"),
    _feast("library IL Rosh_Hashanah -1 2", "rosh hashanah", "rosh hashana", "犹太新年"),
    _feast("library IL Yom_Kippur -1 2", "yom kippur", "赎罪日"),
    _feast("library IL Pesach -1 8", "passover", "pesach", "逾越节"),
    _feast("library IL Shavuot -1 2", "shavuot", "七七节"),
    _feast("library IL Hanukkah -1 8", "hanukkah", "chanukah", "光明节", "哈努卡节", "献殿节", "修殿节"),
    _feast("library IL Sukkot -1 8", "sukkot", "住棚节"),
    _feast("library IL Lag_BaOmer -1 2", "lag baomer", "lag b'omer", "篝火节"),
    _feast("library IL Purim -1 2", "purim", "普珥节"),
    _feast("library AE Islamic_New_Year", "islamic new year", "hijri new year", "伊斯兰新年"),
    _feast("library IN Parsi_New_Year", "parsi new year", "帕西新年"),
    _feast("library IN Maha_Shivaratri", "maha shivaratri", "shivaratri", "湿婆节"),
    _feast("library IN Raksha_Bandhan", "raksha bandhan", "rakhi", "兄妹节"),
    _feast("library IN Ganesh_Chaturthi_/_Vinayak_Chaturthi", "ganesh chaturthi", "象头神节"),
    _feast("library IN Janmashtami_(Vaishnava)", "janmashtami", "krishna janmashtami", "黑天神节"),
    _feast("library IN Onam", "onam", "欧南节"),
    _feast("library IN Pongal", "pongal", "庞格尔节"),
    _feast("library IN Vaisakhi", "vaisakhi", "baisakhi"),
    _feast("library IN Ashura", "ashura", "阿舒拉节"),
    _feast("library IN Holi", "holi", "五彩节", "胡里节", "洒红节"),
    _feast("library IN Dussehra", "dussehra", "十胜节"),
)  # fmt: skip
RULES = {name: feast.rule for feast in FEASTS for name in feast.names}
TERMS = frozenset(feast.rule[1] for feast in FEASTS if feast.rule[0] == "term")
TERM_OF_SEASON = {"春": "立春", "夏": "立夏", "秋": "立秋", "冬": "立冬"}
# Also words of everyday speech; only next to another time word or on their own are they a day.
WEAK = frozenset({"过年", "小雪", "大雪", "雨水", "520", "年夜", "五一", "六一", "new year's", "new years"})


@lru_cache(maxsize=2048)
def feast_dates(name: str, year: int) -> tuple[date, ...]:
    """Days of the feast in a Gregorian year; none where the calendar behind it does not reach."""
    if not 2 <= year <= 9998:
        return ()
    kind, *arguments = RULES[name]
    match kind:
        case "fixed":
            return (date(year, int(arguments[0]), int(arguments[1])),)
        case "nth":
            month, weekday, n = map(int, arguments)
            span = unit_span(day_of(year, month, 1), "month")
            assert span.start is not None
            assert span.end is not None
            return (nth_weekday(span.start, span.end, weekday, n).date(),)
        case "after":
            return tuple(d + timedelta(days=int(arguments[1])) for d in feast_dates(arguments[0], year))
        case "easter" | "orthodox":
            from dateutil.easter import EASTER_ORTHODOX, EASTER_WESTERN, easter

            method = EASTER_WESTERN if kind == "easter" else EASTER_ORTHODOX
            return (easter(year, method) + timedelta(days=int(arguments[0])),)
        case "lunar":
            month, number = map(int, arguments)
            candidates = (lunar_date(y, month, number) for y in (year - 1, year))
            return tuple(d for d in candidates if d is not None and d.year == year)
        case "term":
            return solar_term(arguments[0], year)
        case _:
            country, said, *rest = arguments
            begin = timedelta(days=int(rest[0]) if rest else 0)
            return tuple(d + begin for d in _library_dates(country, said.replace("_", " "), year))


def feast_days(name: str) -> int:
    """How many days the feast lasts."""
    return int(RULES[name][4]) if len(RULES[name]) > 4 and RULES[name][0] == "library" else 1


def feast_of_lunar_year(name: str, day: date) -> date | None:
    """The feast of the Chinese year that `day` lies in; `None` if the feast goes by another calendar."""
    kind, *arguments = RULES[name]
    year = lunar_year(day) if kind == "lunar" else None
    return None if year is None else lunar_date(year, int(arguments[0]), int(arguments[1]))


def lunar_date(year: int, month: int, number: int, leap: bool = False) -> date | None:
    """Gregorian date of a day of the Chinese calendar (1900 to 2100); day 0 is the last of the month."""
    from borax.calendars.lunardate import LunarDate

    try:
        if number == 0:
            following = lunar_date(year + month // 12, month % 12 + 1, 1)
            return following and following - timedelta(days=1)
        solar: date = LunarDate(year, month, number, int(leap)).to_solar_date()
        return solar
    except ValueError:
        return None


def lunar_year(day: date) -> int | None:
    from borax.calendars.lunardate import LunarDate

    try:
        return int(LunarDate.from_solar(day).year)
    except ValueError:
        return None


def solar_term(name: str, year: int) -> tuple[date, ...]:
    from borax.calendars.lunardate import TermUtils

    try:
        return (TermUtils.nth_term_day(year, term_name=name),)
    except ValueError:
        return ()


def _library_dates(country: str, name: str, year: int) -> tuple[date, ...]:
    import holidays

    source = getattr(holidays, country)
    with warnings.catch_warnings():  # that some of its calendars end before this year
        warnings.simplefilter("ignore")
        days = source(years=year, language="en_US", categories=source.supported_categories)
    found = sorted(d for d, said in days.items() if name in re.split("; ?", said))
    # Some feasts last for days: the first of each run counts.
    return tuple(d for i, d in enumerate(found) if i == 0 or (d - found[i - 1]).days > 20)
