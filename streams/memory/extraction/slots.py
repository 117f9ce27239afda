"""The table of slots: what statements can be about, and whether one value at a time holds.

A slot is (subject, attribute). `single`: a later value replaces the earlier one (city, employer). `multi`: values
add up (likes, languages). Attributes that are not in the table are relation phrases as said ("capital of"); those
count as single when the relation is functional (`FUNCTIONAL`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Cardinality = Literal["single", "multi"]
Kind = Literal["preference", "fact", "progress", "task"]


@dataclass(frozen=True, slots=True)
class Slot:
    """`importance`: 1-5 before what the wording adds; `english` and `chinese`: nouns that name the slot."""

    attribute: str
    cardinality: Cardinality
    kind: Kind
    importance: int
    english: tuple[str, ...] = ()
    chinese: tuple[str, ...] = ()


_TABLE = (
    # who somebody is
    Slot("name", "single", "fact", 5, ("name", "full name", "first name", "surname", "last name"), ("名字", "姓名")),
    Slot("nickname", "single", "preference", 4, ("nickname",), ("昵称", "小名", "外号", "称呼")),
    Slot("age", "single", "fact", 4, ("age",), ("年龄", "岁数")),
    Slot("birthday", "single", "fact", 4, ("birthday", "date of birth", "birth date"), ("生日", "出生日期")),
    Slot("birthplace", "single", "fact", 3, ("birthplace", "place of birth"), ("出生地",)),
    Slot("hometown", "single", "fact", 4, ("hometown", "home town"), ("老家", "家乡", "籍贯")),
    Slot("nationality", "single", "fact", 4, ("nationality", "citizenship"), ("国籍",)),
    Slot("gender", "single", "fact", 4, ("gender", "sex", "pronouns"), ("性别",)),
    Slot("identity", "multi", "fact", 3),
    Slot("zodiac", "single", "fact", 2, ("zodiac sign", "star sign"), ("星座", "属相", "生肖")),
    Slot("blood_type", "single", "fact", 4, ("blood type",), ("血型",)),
    Slot("height", "single", "fact", 3, ("height",), ("身高",)),
    Slot("weight", "single", "fact", 3, ("weight",), ("体重",)),
    Slot("size", "single", "fact", 3, ("shoe size", "clothing size"), ("鞋码", "尺码")),
    Slot("personality", "multi", "fact", 3, ("personality",), ("性格",)),
    # where
    Slot("city", "single", "fact", 5, ("city", "home"), ("住处", "居住地", "所在城市")),
    Slot("address", "single", "fact", 3, ("address",), ("地址", "住址")),
    Slot("location", "single", "fact", 2, ("location",), ("位置",)),
    Slot("timezone", "single", "fact", 4, ("time zone", "timezone"), ("时区",)),
    # work and study
    Slot("employer", "single", "fact", 5, ("employer", "company", "workplace"), ("公司", "单位", "东家")),
    Slot("occupation", "single", "fact", 5, ("job", "occupation", "profession", "job title", "role", "position"),
         ("职业", "工作", "职位", "岗位", "职务")),
    Slot("income", "single", "fact", 3, ("salary", "income", "pay"), ("工资", "月薪", "年薪", "收入")),
    Slot("school", "single", "fact", 4, ("school", "university", "college"), ("学校", "大学", "母校")),
    Slot("major", "single", "fact", 4, ("major", "degree"), ("专业",)),
    Slot("grade", "single", "fact", 3, ("grade", "year"), ("年级",)),
    Slot("boss", "single", "fact", 3, ("boss", "manager", "supervisor"), ("老板", "上司", "领导", "导师")),
    Slot("team", "single", "fact", 3, ("team", "department"), ("部门", "团队")),
    # people and animals
    Slot("marital_status", "single", "fact", 5, ("marital status", "relationship status"), ("婚姻状况", "感情状况")),
    Slot("spouse", "single", "fact", 5, ("wife", "husband", "spouse", "partner"),
         ("老婆", "妻子", "太太", "老公", "丈夫", "爱人")),
    Slot("partner", "single", "fact", 4, ("girlfriend", "boyfriend", "fiancé", "fiancée"),
         ("女朋友", "男朋友", "对象", "女友", "男友")),
    Slot("children", "multi", "fact", 4, ("child", "kid", "son", "daughter"), ("孩子", "儿子", "女儿")),
    Slot("family", "multi", "fact", 4, ("mother", "father", "mom", "dad", "brother", "sister"),
         ("妈妈", "爸爸", "母亲", "父亲", "哥哥", "弟弟", "姐姐", "妹妹")),
    Slot("friend", "multi", "fact", 3, ("friend", "best friend"), ("朋友", "闺蜜", "室友", "同事")),
    Slot("pet", "multi", "fact", 4, ("dog", "cat", "pet", "puppy", "kitten"), ("狗", "猫", "宠物")),
    # body
    Slot("diet", "single", "preference", 5, ("diet",), ("饮食习惯",)),
    Slot("allergy", "multi", "fact", 5, ("allergy",), ("过敏",)),
    Slot("health", "multi", "fact", 4, ("condition",), ("病", "身体")),
    Slot("medication", "multi", "fact", 4, ("medication",), ("药",)),
    # taste
    Slot("likes", "multi", "preference", 4, ("hobby", "hobbies", "interest"), ("爱好", "兴趣")),
    Slot("favorite", "single", "preference", 4),
    Slot("prefers", "multi", "preference", 4, ("preference",), ("偏好",)),
    Slot("drink", "multi", "preference", 3),
    Slot("instruction", "multi", "preference", 5),
    Slot("constraint", "multi", "preference", 4),
    Slot("language", "multi", "fact", 4, ("native language", "mother tongue"), ("母语",)),
    Slot("reply_language", "single", "preference", 5),
    Slot("interest", "multi", "preference", 3),
    # things
    Slot("owns", "multi", "fact", 3),
    Slot("device", "multi", "fact", 3, ("phone", "laptop", "computer"), ("手机", "电脑")),
    Slot("car", "single", "fact", 3, ("car",), ("车",)),
    Slot("uses", "multi", "fact", 3),
    # habits, plans, work in hand
    Slot("habit", "multi", "preference", 3, ("habit", "routine"), ("习惯",)),
    Slot("decision", "multi", "fact", 4),
    Slot("skill", "multi", "fact", 3, ("skill",), ("技能", "特长")),
    Slot("learning", "multi", "progress", 3),
    Slot("working_on", "multi", "progress", 3),
    Slot("progress", "multi", "progress", 3),
    Slot("plan", "multi", "task", 3),
    Slot("goal", "multi", "task", 4, ("goal", "dream"), ("目标", "梦想")),
    Slot("need", "multi", "task", 3),
    Slot("experience", "multi", "fact", 2),
    Slot("feeling", "multi", "fact", 2),
    Slot("purpose", "multi", "fact", 3),
    Slot("budget", "single", "fact", 4, ("budget",), ("预算",)),
    Slot("deadline", "single", "task", 4, ("deadline", "due date"), ("截止日期", "截止时间", "期限")),
    Slot("notification_time", "single", "preference", 4, ("notification time", "reminder time"),
         ("提醒时间", "通知时间")),
    Slot("meeting_time", "single", "task", 4),
    Slot("schedule", "multi", "task", 3),
    Slot("owner", "single", "fact", 4, ("owner", "lead", "leader", "person in charge"), ("负责人", "组长")),
    Slot("status", "single", "progress", 3, ("status",), ("状态", "进度")),
)  # fmt: skip

SLOTS = {slot.attribute: slot for slot in _TABLE}
NOUNS = {noun: slot for slot in _TABLE for noun in slot.english + slot.chinese}

# Relations of which a thing has one at a time: the wording of a general statement decides by these words.
_FUNCTIONAL = """
    capital author director head chief chairperson chairman chairwoman president minister king queen mayor
    governor ceo cto cfo coach captain manager founder creator inventor developer owner leader lead boss
    headquarters language currency religion citizen citizenship continent country sport position genre employer
    spouse husband wife child birthplace born died married located founded created developed invented designed
    discovered written performed directed led owned managed run headed educated affiliated employed works worked
    famous associated university type price version deadline budget status address number colour color date
    time place venue name broadcaster network label producer composer manufacturer
"""
FUNCTIONAL = frozenset(_FUNCTIONAL.split())


def slot_for(attribute: str) -> Slot:
    """The slot of an attribute; a relation phrase gets its cardinality from its words."""
    known = SLOTS.get(attribute)
    if known is not None:
        return known
    functional = any(word in FUNCTIONAL for word in attribute.replace("_", " ").split())
    return Slot(attribute, "single" if functional else "multi", "fact", 3)
