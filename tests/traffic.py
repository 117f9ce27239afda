"""Made-up chats, the same for the same seed: facts that change, repeats, small talk, secrets, two languages."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from schemas import ConversationEvent, Message

CITIES = ["Bonn", "Berlin", "Lyon", "Oslo", "Porto", "Graz"]
COMPANIES = ["Acme", "Globex", "Initech", "Umbrella"]
FOODS = ["noodles", "curry", "soup", "rice", "bread", "dumplings"]
ZH_FOODS = ["面条", "咖喱", "饺子", "火锅", "米饭"]
PROJECTS = ["Apollo", "Hermes", "Zeus"]
PEOPLE = ["Lee", "Dana", "Wang", "Maria"]
SMALL = ["hi", "ok", "thanks!", "好的", "谢谢", "haha", "👍", "good night", "晚安"]


def say(rng: random.Random) -> str:
    """One thing that a user of a chat might say."""
    match rng.randrange(14):
        case 0:
            return f"I live in {rng.choice(CITIES)}."
        case 1:
            return f"I moved to {rng.choice(CITIES)} and I work for {rng.choice(COMPANIES)} now."
        case 2:
            return f"I like {rng.choice(FOODS)}."
        case 3:
            return f"I don't like {rng.choice(FOODS)} any more."
        case 4:
            return f"我喜欢吃{rng.choice(ZH_FOODS)}。"
        case 5:
            return f"我现在住在{rng.choice(['上海', '北京', '杭州', '成都'])}。"
        case 6:
            return f"Please notify me at {rng.randrange(6, 12)} am."
        case 7:
            return f"The {rng.choice(PROJECTS)} project is led by {rng.choice(PEOPLE)} now."
        case 8:
            return f"My phone number is +49 30 {rng.randrange(1000000, 9999999)}, and my sister plays chess."
        case 9:
            return f"My password is hunter{rng.randrange(1000)}!"
        case 10:
            return f"明天下午{rng.choice('二三四五')}点我要去见客户，需要准备{rng.randrange(2, 9)}份材料。"
        case 11:
            return f"We finished step {rng.randrange(1, 9)} of the migration today and the next one is planned."
        case _:
            return rng.choice(SMALL)


def traffic(seed: int, events: int, tenants: int, *, start: datetime | None = None) -> Iterator[ConversationEvent]:
    """`events` events with distinct ids, of `tenants` users, event times distinct and rising."""
    rng = random.Random(seed)
    now = start or datetime(2026, 3, 1, 8, tzinfo=UTC)
    for number in range(events):
        now += timedelta(seconds=rng.randrange(1, 90))
        messages = [Message(text=say(rng))]
        if rng.random() < 0.15:
            messages.append(Message(role="assistant", text="Sure, I will keep that in mind for you."))
            messages.append(Message(text=say(rng)))
        yield ConversationEvent(
            event_id=f"e-{seed}-{number}",
            namespace="chaos" if number % 3 else "other",
            user_id=f"user {rng.randrange(tenants)}",
            session_id=f"s{number // 40}",
            occurred_at=now,
            timezone="Europe/Berlin",
            messages=tuple(messages),
        )


def repeated(events: list[ConversationEvent], seed: int, share: float = 0.1) -> list[ConversationEvent]:
    """The same events with some delivered twice, the second time somewhere later."""
    rng = random.Random(seed)
    result = list(events)
    for event in rng.sample(events, int(len(events) * share)):
        result.insert(rng.randrange(result.index(event) + 1, len(result) + 1), event)
    return result
