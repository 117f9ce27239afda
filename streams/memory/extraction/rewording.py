"""The words that a rewording of what was said brings in. No name is among them, and none that denies."""

from __future__ import annotations

from typing import Final

_ORDINARY = """
    user user's the i i'm i've i'd i'll
    currently usually always often sometimes recently previously formerly now still already also
    only mainly mostly generally regularly daily weekly monthly yearly
    prefers prefer likes like loves love dislikes dislike hates hate enjoys enjoy wants want needs need avoids avoid
    lives live works work moved moves moving plans plan planning planned has had having owns own uses use using
    is was are were does do did doing goes go going went takes take taking drinks drink eats eat plays play
    speaks speak studies study studying learns learn learning reads read writes write runs run cooks cook
    travels travel started starts start stopped stops stop changed changes change switched switches switch
    bought buys buy sold sells sell booked books book scheduled schedules schedule
    expects expect hopes hope intends intend decided decides asked asks requests request requested
    allergic vegetarian vegan married single divorced engaged born based interested responsible
    meeting appointment deadline birthday address name job employer project budget goal
    please send keep reply answer remind notify remember call contact yes some any every each all both most many
    my your his her their our its this that these those there here
    in on at by for from with before after since during about as to of
"""
# They may begin a sentence with a capital though nobody said them.
ORDINARY: Final = frozenset(_ORDINARY.split())

_ZH_WORDS = """
    用户 他 她 其 本人 自己 说 表示 提到 认为 觉得 希望 想要 想 要 需要 愿意 打算 计划 准备 决定 正在 正 已经 已 曾经
    目前 现在 当前 如今 最近 以后 以前 之前 之后 今后 将 将要 将会 会 能 能够 可以 可 请 喜欢 喜爱 爱 偏好 偏爱 更 很
    非常 最 比较 讨厌 习惯 习惯于 通常 经常 常 一般 一直 总是 每 每次 住在 居住在 居住 住 搬到 搬去 搬家 搬 来到 到 去
    来 从 往 向 位于 工作 上班 任职于 任职 就职于 就职 从事 担任 职业 负责 学习 学 学会 就读于 就读 上学 毕业于 毕业
    使用 用 拥有 有 养 养了 买 买了 购买 开始 停止 结束 完成 完成了 进行 继续 改为 改成 改 换成 换 变成 变为 更换 取消
    推迟 提前 名字 名叫 名为 叫做 叫 称为 称呼 是 为 属于 对于 对 过敏 患有 身体 吃 喝 看 听 玩 做 打 写 读 讲 走 坐
    开 出 进 回 给 让 使 得 跟 和 与 及 以及 或 或者 而 并 并且 且 但 但是 因为 所以 由于 因此 如果 由 于 以 用于 里
    中 内 上 下 前 后 外 时 时候 时间 期间 左右 大约 约 地方 地点 人 家 家里 家人 者 位 名 种 些 一些 一个 一种 一起
    一同 参加 出席 安排 预订 预约 提醒 通知 告诉 回答 回复 保持 记住 注意 避免 必须 应该 应当 要求 相关 方面 事情 事
    有关 关于 作为 成为 除了 只 仅 仅仅 都 均 全部 所有 大家 双方 共 共有 总共 共同 另外 其他 其他人 仍 仍然 依然 还
    再 又 才 刚 刚刚
"""
# Other words for the same thing are made of these.
ZH_WORDS: Final = frozenset(_ZH_WORDS.split())
