"""One spelling for the lexers, character for character, so that offsets stay those of the input."""

_FULL_WIDTH = {0xFF01 + i: 0x21 + i for i in range(94)} | {0x3000: 0x20, 0xA0: 0x20, 0x2009: 0x20, 0x202F: 0x20}
_UPPER = {ord(c): ord(c.lower()) for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−~～〜˜"), ord("-"))
_QUOTES = dict.fromkeys(map(ord, "’‘ʼ`´′"), ord("'"))
# Traditional characters of the words of time and of what stands around them, each line above its simplified one.
_TRADITIONAL_OVER_SIMPLIFIED = (
    "週個號點時鐘鍾後兩這禮節過內間歲聖國際兒婦農陰曆歷舊臘閏陽從開當現鄰勞動復誕萬驚蟄滿穀種處雙樹軍黨師",
    "周个号点时钟钟后两这礼节过内间岁圣国际儿妇农阴历历旧腊闰阳从开当现邻劳动复诞万惊蛰满谷种处双树军党师",
    "親戰爭學紀終結餘來幾還頭頓晝專東靜愛聯慶勝獨獻燈龍門慘紅蓮謝馬顯單將擇裡裏發與為爲於離總統獲歐沈",
    "亲战争学纪终结余来几还头顿昼专东静爱联庆胜独献灯龙门惨红莲谢马显单将择里里发与为为于离总统获欧沉",
)
_TRADITIONAL = {
    ord(old): ord(new)
    for traditional, simplified in zip(
        _TRADITIONAL_OVER_SIMPLIFIED[::2], _TRADITIONAL_OVER_SIMPLIFIED[1::2], strict=True
    )
    for old, new in zip(traditional, simplified, strict=True)
}
_TABLE = _FULL_WIDTH | _UPPER | _DASHES | _QUOTES | _TRADITIONAL | {ord("“"): ord('"'), ord("”"): ord('"')}


def fold(text: str) -> str:
    """Half-width, lower case, simplified, plain dashes and quotes; the length never changes."""
    return text.translate(_TABLE).translate(_UPPER)
