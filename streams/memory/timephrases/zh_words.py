"""Chinese words of time: tables only. Simplified characters (`text.fold` turns traditional ones into them)."""

from streams.memory.timephrases.tokens import Relative

WEEKDAYS = {c: i for i, c in enumerate("一二三四五六日")} | {"天": 6} | {str(i): i - 1 for i in range(1, 8)}
UNITS = {
    "秒钟": "second", "秒": "second", "分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day",
    "日": "day", "工作日": "workday", "个工作日": "workday", "周": "week", "星期": "week", "礼拜": "week",
    "周末": "weekend", "月": "month", "季度": "quarter", "年": "year", "世纪": "century", "晚上": "day", "晚": "day",
}  # fmt: skip
BARE_UNITS = {
    "周末": "weekend", "周": "week", "星期": "week", "礼拜": "week", "月份": "month", "月": "month", "季度": "quarter",
    "季": "quarter", "年": "year", "世纪": "century", "日": "day", "天": "day", "晚": "day", "小时": "hour",
    "分钟": "minute", "早上": "day", "晚上": "day",
}  # fmt: skip
PARTS = {
    "凌晨": "small hours", "清晨": "early morning", "清早": "early morning", "大清早": "early morning",
    "一大早": "early morning", "早晨": "morning", "早上": "morning", "早间": "morning", "朝早": "morning",
    "上午": "morning", "午前": "morning", "上昼": "morning", "中午": "noon", "正午": "noon", "晌午": "noon",
    "午间": "noon", "午后": "afternoon", "下午": "afternoon", "晏昼": "afternoon", "下昼": "afternoon",
    "傍晚": "dusk", "黄昏": "dusk", "晚上": "night", "晚间": "night", "夜晚": "night", "夜里": "night",
    "夜间": "night", "深夜": "late night", "半夜": "midnight", "午夜": "midnight", "大半夜": "midnight",
    "早饭后": "after breakfast", "早餐后": "after breakfast", "午饭后": "after lunch", "午餐后": "after lunch",
    "晚饭后": "after dinner", "晚餐后": "after dinner", "下班后": "after work", "放学后": "after work",
    "白天": "daytime", "夜": "night", "晚": "night", "早": "morning",
}  # fmt: skip
SHORT_PARTS = frozenset("夜晚早")  # only behind a day
DAYS = {
    "今天": 0, "今日": 0, "今儿": 0, "本日": 0, "当天": 0, "当日": 0, "明天": 1, "明日": 1, "明儿": 1, "听日": 1,
    "后天": 2, "后日": 2, "大后天": 3, "大后日": 3, "昨天": -1, "昨日": -1, "昨儿": -1,
    "琴日": -1, "寻日": -1, "前天": -2, "前日": -2, "前儿": -2, "大前天": -3, "大前日": -3,
}  # fmt: skip
SHORT_DAYS = {"今": 0, "明": 1, "昨": -1, "当": 0}
YEARS = {
    "今年": 0, "本年": 0, "本年度": 0, "今年度": 0, "这一年": 0, "这年": 0, "当年": 0, "年内": 0, "明年": 1, "来年": 1,
    "下一年": 1, "下年": 1, "后年": 2, "大后年": 3, "去年": -1, "上年": -1, "上一年": -1, "旧年": -1, "前年": -2,
    "大前年": -3,
}  # fmt: skip
NOW = ("此时此刻", "现在", "此时", "此刻", "当前", "目前", "如今", "眼下", "当下", "刚刚", "刚才", "而家", "依家")
RELATIVES = {
    **{word: Relative("day", 1, follows=True) for word in ("次日", "翌日", "隔天")},
    **{word: Relative("month", 1) for word in ("次月", "隔月")},
    **{word: Relative("year", steps) for word, steps in (("次年", 1), ("翌年", 1))},
    **{word: Relative("day", steps) for word, steps in DAYS.items()},
    **{d + p: Relative("day", n, PARTS[p]) for d, n in SHORT_DAYS.items() for p in SHORT_PARTS},
    **{word: Relative("year", steps) for word, steps in YEARS.items()},
    **{word: Relative("second", 0) for word in NOW},
    "今明两天": Relative("day", 0, count=2), "今明两年": Relative("year", 0, count=2),
       "去今两年": Relative("year", -1, count=2), "明后两天": Relative("day", 1, count=2),
    "明后天": Relative("day", 1, count=2), "明后": Relative("day", 1, count=2),
}  # fmt: skip
EDGES = {
    "晚些时候": "late", "早些时候": "early", "余下的时间": "rest", "剩余时间": "rest", "剩余的时间": "rest",
    "剩下的时间": "rest", "余下的日子": "rest", "剩下的日子": "rest", "剩下的几天": "rest",
    "上旬": "first ten", "中旬": "second ten", "下旬": "last ten", "初": "start", "初期": "start", "中": "middle",
    "中期": "middle", "底": "end", "末": "end", "尾": "end", "末期": "end",
    "上半月": "first half", "下半月": "last half",
}  # fmt: skip
LUNAR_MONTHS = {"正": 1, "冬": 11, "腊": 12}
# 年底 alone is this year's; behind a year it is that year's.
EDGE_WORDS = {
    u + e: (unit, edge)
    for u, unit in (("年", "year"), ("月", "month"), ("周", "week"))
    for e, edge in (("初", "start"), ("中", "middle"), ("底", "end"), ("末", "end"), ("尾", "end"))
    if u + e != "周末"
}
EDGE_WORDS |= {"上半月": ("month", "first half"), "下半月": ("month", "last half"), "上半周": ("week", "first half"),
               "下半周": ("week", "last half")}  # fmt: skip
SOME = frozenset({"几", "好几", "数", "若干", "好多", "好些", "多"})

BINDING = {
    "approx": "左右 大约 大概 约 前后 上下",
    "before": "早于",
    "after": "晚于",
    "at_least": "不早于",
    "or_later": "或之后 或以后 及以后 及之后 或者之后 或更晚",
    "or_earlier": "或之前 或以前 及以前 及之前 或更早",
    "amid": "之间 期间 间",
    "inside": "之内 以内 内 里",
    "closing": "为止 止",
    "ago": "之前 以前 前",
    "later": "之后 以后 过后 后",
    "onwards": "起 开始 以来 至今",
    "since": "自从 自",
    "until": "不晚于 不迟于 最迟 最晚 截止到 截至 截止 直至 直到",
    "from": "从 由",
    "to": "到 至 ~",
    "and": "和 与 跟 及 、",
    "glue": "的 又 零 余",
    "comma": ", ，",
}
