"""Names of time zones behind a clock time: 9:30pm CET, 14:00Z, 北京时间. Data and one conversion."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

# Abbreviations that mean one offset nearly everywhere (CST and IST mean several and are read as US Central and India).
OFFSETS = {
    "utc": 0, "gmt": 0, "z": 0, "wet": 0, "bst": 1, "cet": 1, "cest": 2, "eet": 2, "eest": 3, "msk": 3, "ist": 5.5,
    "sgt": 8, "hkt": 8, "awst": 8, "jst": 9, "kst": 9, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13, "est": -5,
    "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
}  # fmt: skip
PLACES = {
    "北京时间": "Asia/Shanghai", "香港时间": "Asia/Hong_Kong", "台北时间": "Asia/Taipei",
    "新加坡时间": "Asia/Singapore",
    "东京时间": "Asia/Tokyo", "日本时间": "Asia/Tokyo", "伦敦时间": "Europe/London", "巴黎时间": "Europe/Paris",
    "柏林时间": "Europe/Berlin", "德国时间": "Europe/Berlin", "纽约时间": "America/New_York",
    "美东时间": "America/New_York", "美西时间": "America/Los_Angeles", "太平洋时间": "America/Los_Angeles",
    "格林尼治时间": "UTC", "世界时": "UTC",
    "eastern time": "America/New_York", "pacific time": "America/Los_Angeles", "central time": "America/Chicago",
    "mountain time": "America/Denver", "beijing time": "Asia/Shanghai", "london time": "Europe/London",
}  # fmt: skip
NUMERIC = re.compile(r"(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d\d))?")


def zone_of(name: str) -> tzinfo | None:
    """The zone that a folded name or offset ("+08:00", "utc+8") means."""
    if name in PLACES:
        return ZoneInfo(PLACES[name])
    if name in OFFSETS:
        return timezone(timedelta(hours=OFFSETS[name]))
    match = NUMERIC.fullmatch(name)
    if match is None or int(match[2]) > 14:
        return None
    offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
    return timezone(offset if match[1] == "+" else -offset)


def moved(moment: datetime, said: tzinfo, local: tzinfo) -> datetime:
    """Wall time in the zone that was said, as wall time in the local one."""
    return moment.replace(tzinfo=said).astimezone(UTC).astimezone(local).replace(tzinfo=None)
