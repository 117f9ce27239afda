"""One spelling for the lexers, character for character, so that offsets stay those of the input."""

_FULL_WIDTH = {0xFF01 + i: 0x21 + i for i in range(94)} | {0x3000: 0x20, 0xA0: 0x20, 0x2009: 0x20, 0x202F: 0x20}
_UPPER = {ord(c): ord(c.lower()) for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−~～〜˜"), ord("-"))
_QUOTES = dict.fromkeys(map(ord, "’‘ʼ`´′"), ord("'"))
_TRADITIONAL = dict(
    zip(
        map(ord, "週個號點時鐘鍾後兩這禮節過內間歲聖國際兒婦農陰曆舊臘閏陽從開當現鄰勞動復誕萬驚蟄滿穀種處個雙樹軍黨師親戰爭學紀終結廿餘來幾還達頭頓晝間專東靜愛聯"),
        "周个号点时钟钟后两这礼节过内间岁圣国际儿妇农阴历旧腊闰阳从开当现邻劳动复诞万惊蛰满谷种处个双树军党师亲战争学纪终结廿余来几还达头顿昼间专东静爱联",
        strict=True,
    )
)
_TABLE = _FULL_WIDTH | _UPPER | _DASHES | _QUOTES | _TRADITIONAL | {ord("“"): ord('"'), ord("”"): ord('"')}


def fold(text: str) -> str:
    """Half-width, lower case, simplified, plain dashes and quotes; the length never changes."""
    return text.translate(_TABLE).translate(_UPPER)
