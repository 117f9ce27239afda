"""Chat-like sentences about anything, for a model's mean: what all sentences have in common, whatever they say."""

from __future__ import annotations

from itertools import product

_ENGLISH = (
    (
        ["I", "My sister", "Our team", "The neighbour", "A friend of mine"],
        [
            "bought a second-hand bicycle", "is thinking about a new job", "will visit the museum",
            "can't find the keys", "finished the first draft", "cooked soup for everyone", "forgot the password",
            "wants to sleep longer", "called the doctor", "planted tomatoes",
        ],
        ["yesterday.", "next week.", "because of the rain.", "and was happy about it.", "for the first time."],
    ),
    (
        ["Could you", "Please", "Remember to", "Don't", "How do I"],
        [
            "send the invoice", "book a table for two", "explain this error", "change the appointment",
            "translate the letter", "water the plants",
        ],
        ["today", "before noon", "again", "without asking"],
    ),
)  # fmt: skip
_CHINESE = (
    (
        ["我", "我妹妹", "我们组", "隔壁邻居", "我的一个朋友"],
        ["昨天", "下个星期", "因为下雨", "最近", "第一次"],
        [
            "买了一辆二手自行车。", "在考虑换工作。", "要去博物馆。", "找不到钥匙了。", "写完了初稿。",
            "给大家煮了汤。", "忘了密码。", "想多睡一会儿。", "给医生打了电话。", "种了西红柿。",
        ],
    ),
    (
        ["麻烦你", "请", "记得", "不要", "怎么"],
        ["今天", "中午之前", "再", "直接"],
        ["把发票发过来", "订一张两个人的桌子", "解释一下这个报错", "改一下预约", "翻译这封信", "给花浇水"],
    ),
)  # fmt: skip


def generic_sentences(*, every: int = 2) -> tuple[list[str], list[str]]:
    """(English, Chinese) sentences, every `every`-th combination of the templates: 185 each by default."""
    english = [" ".join(parts) for template in _ENGLISH for parts in product(*template)]
    chinese = ["".join(parts) for template in _CHINESE for parts in product(*template)]
    return english[::every], chinese[::every]
