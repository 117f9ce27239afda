"""Facts of made-up people, each said in four ways. Written for calibration; taken from no data set.

`changed` is the same fact with another value: what replaces it, not what repeats it.
"""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    statement: str
    paraphrase: str
    changed: str
    question: str


ENGLISH = [
    Item("I live in Porto.", "My home is in Porto.", "I live in Tallinn.", "Where do I live?"),
    Item("I work as a dental nurse.", "My job is dental nurse.", "I work as a baker.", "What do I do for work?"),
    Item(
        "I'm allergic to walnuts.",
        "Walnuts give me an allergic reaction.",
        "I'm allergic to shrimp.",
        "What am I allergic to?",
    ),
    Item(
        "I prefer tea to coffee.",
        "Between tea and coffee I'd pick tea.",
        "I prefer coffee to tea.",
        "What should I be offered to drink?",
    ),
    Item(
        "My daughter's name is Wren.",
        "I have a daughter called Wren.",
        "My daughter's name is Saskia.",
        "What is my daughter called?",
    ),
    Item(
        "Our weekly meeting is on Tuesday at ten.",
        "We meet every Tuesday at 10 am.",
        "Our weekly meeting is on Thursday at three.",
        "When do we have the weekly meeting?",
    ),
    Item(
        "I drive an old grey Volvo.",
        "My car is a grey Volvo, and it's old.",
        "I drive a new electric Fiat.",
        "What car do I have?",
    ),
    Item(
        "I'm learning to play the cello.",
        "I have started cello lessons.",
        "I'm learning to play the drums.",
        "Which instrument am I learning?",
    ),
    Item(
        "I go to bed at eleven.",
        "I usually fall asleep around eleven at night.",
        "I go to bed at half past one.",
        "When do I go to sleep?",
    ),
    Item(
        "The report must be finished by the ninth of June.",
        "The deadline for the report is June 9th.",
        "The report must be finished by the twentieth of July.",
        "When is the report due?",
    ),
    Item(
        "I had my appendix removed last year.",
        "Last year I had surgery to take out my appendix.",
        "I had my tonsils removed last year.",
        "What operation did I have?",
    ),
    Item(
        "My favourite dish is mushroom risotto.",
        "Nothing tastes better to me than mushroom risotto.",
        "My favourite dish is lamb curry.",
        "What do I like to eat most?",
    ),
    Item(
        "We use PostgreSQL for the billing service.",
        "The billing service stores its data in PostgreSQL.",
        "We use MongoDB for the billing service.",
        "Which database is behind billing?",
    ),
    Item(
        "My brother is getting married in Crete.",
        "The wedding of my brother will be on Crete.",
        "My brother is getting married in Norway.",
        "Where is my brother's wedding?",
    ),
    Item(
        "I ran my first marathon in April.",
        "In April I finished a marathon for the first time.",
        "I ran my first marathon in October.",
        "When did I run a marathon?",
    ),
    Item("I don't eat meat.", "I'm a vegetarian.", "I started eating meat again.", "Do I eat meat?"),
    Item(
        "Please answer me in short sentences.",
        "Keep your replies to me brief.",
        "Please give me long, detailed answers.",
        "How should replies to me be written?",
    ),
    Item(
        "The cat is called Pickle.",
        "Our cat's name is Pickle.",
        "The cat is called Domino.",
        "What is the name of the cat?",
    ),
    Item(
        "I'm saving money for a sailing boat.",
        "I put money aside to buy a sailing boat.",
        "I'm saving money for a camper van.",
        "What am I saving up for?",
    ),
    Item(
        "I grew up on a farm near Galway.",
        "My childhood was spent on a farm outside Galway.",
        "I grew up in a flat in Leeds.",
        "Where did I spend my childhood?",
    ),
    Item("My manager is Yusuf.", "I report to Yusuf.", "My manager is Petra.", "Who is my boss?"),
    Item("I'm afraid of flying.", "Being on a plane frightens me.", "I'm afraid of deep water.", "What scares me?"),
    Item(
        "I study astronomy in the evenings.",
        "In the evenings I take astronomy classes.",
        "I study accounting in the evenings.",
        "What do I study?",
    ),
    Item(
        "The dishwasher has been broken since Friday.",
        "Since Friday our dishwasher doesn't work.",
        "The dishwasher has been repaired.",
        "What is wrong in the kitchen?",
    ),
    Item(
        "My phone has a cracked screen.",
        "The display of my phone is cracked.",
        "My phone has a new screen.",
        "What happened to my phone?",
    ),
    Item(
        "I'd like the dark theme in every app.",
        "I always want apps in dark mode.",
        "I'd like the light theme in every app.",
        "Which theme do I want?",
    ),
    Item(
        "My grandmother taught me how to knit.",
        "I learned knitting from my grandmother.",
        "My neighbour taught me how to knit.",
        "Who taught me knitting?",
    ),
    Item(
        "We're planning a trip to Iceland in September.",
        "In September we want to travel to Iceland.",
        "We're planning a trip to Malta in September.",
        "Where will we go on holiday?",
    ),
    Item(
        "The new release was deployed on Monday.",
        "On Monday we rolled out the new release.",
        "The new release was postponed.",
        "What happened to the release?",
    ),
    Item(
        "I take a pill for high blood pressure every morning.",
        "Each morning I swallow a blood pressure tablet.",
        "I no longer take pills for my blood pressure.",
        "Which medicine do I take?",
    ),
    Item(
        "My best friend moved to Osaka.",
        "Osaka is where my best friend lives now.",
        "My best friend moved to Lima.",
        "Where is my best friend?",
    ),
    Item(
        "I collect stamps from the nineteen-fifties.",
        "Stamps of the fifties are what I collect.",
        "I collect old maps.",
        "What do I collect?",
    ),
    Item(
        "I passed the driving test at the second attempt.",
        "On my second try I got my driving licence.",
        "I failed the driving test at the second attempt.",
        "Did I pass the driving test?",
    ),
    Item(
        "The rent goes up to nine hundred from January.",
        "From January on we pay nine hundred in rent.",
        "The rent stays at seven hundred.",
        "How much is the rent?",
    ),
    Item(
        "I feel lonely since my flatmate left.",
        "Since my flatmate moved out I've been feeling alone.",
        "I feel relieved since my flatmate left.",
        "How do I feel about my flatmate leaving?",
    ),
    Item(
        "I can only work from home on Wednesdays.",
        "Wednesday is my only day of working from home.",
        "I can work from home every day.",
        "When am I working from home?",
    ),
]

CHINESE = [
    Item("我住在昆明。", "我家在昆明。", "我住在大连。", "我住在哪里？"),
    Item("我是一名牙科护士。", "我的工作是牙科护士。", "我是一名面包师。", "我是做什么工作的？"),
    Item("我对核桃过敏。", "我一吃核桃就会过敏。", "我对虾过敏。", "我对什么过敏？"),
    Item("比起咖啡我更喜欢喝茶。", "茶和咖啡之间我选茶。", "比起茶我更喜欢喝咖啡。", "招待我喝点什么好？"),
    Item("我女儿叫小满。", "我有个女儿，名字叫小满。", "我女儿叫思琪。", "我女儿叫什么名字？"),
    Item(
        "我们每周二上午十点开例会。", "例会时间是每个星期二早上十点。", "我们每周四下午三点开例会。", "例会是什么时候？"
    ),
    Item("我开一辆灰色的旧沃尔沃。", "我的车是辆很旧的灰色沃尔沃。", "我开一辆新买的电动车。", "我开的是什么车？"),
    Item("我最近在学大提琴。", "我开始上大提琴课了。", "我最近在学打鼓。", "我在学什么乐器？"),
    Item("我一般十一点睡觉。", "我通常晚上十一点左右就睡了。", "我一般凌晨一点半睡觉。", "我几点睡觉？"),
    Item(
        "报告要在六月九号之前写完。",
        "这份报告的截止日期是六月九日。",
        "报告要在七月二十号之前写完。",
        "报告什么时候交？",
    ),
    Item("我去年做了阑尾手术。", "去年我动手术切除了阑尾。", "我去年做了扁桃体手术。", "我做过什么手术？"),
    Item("我最爱吃蘑菇烩饭。", "对我来说最好吃的就是蘑菇烩饭。", "我最爱吃咖喱羊肉。", "我最喜欢吃什么？"),
    Item(
        "计费服务用的是PostgreSQL。",
        "计费服务的数据存在PostgreSQL里。",
        "计费服务用的是MongoDB。",
        "计费用哪个数据库？",
    ),
    Item("我哥要在三亚办婚礼。", "我哥哥的婚礼会在三亚举行。", "我哥要在青岛办婚礼。", "我哥的婚礼在哪里办？"),
    Item(
        "我四月份跑了第一个马拉松。",
        "今年四月我第一次跑完马拉松。",
        "我十月份跑了第一个马拉松。",
        "我什么时候跑的马拉松？",
    ),
    Item("我不吃肉。", "我是素食者。", "我又开始吃肉了。", "我吃肉吗？"),
    Item("回答我的时候请简短一点。", "跟我说话尽量言简意赅。", "回答我的时候请尽量详细。", "应该怎么回答我？"),
    Item("我家的猫叫豆包。", "我们那只猫的名字是豆包。", "我家的猫叫芝麻。", "猫叫什么名字？"),
    Item("我在攒钱买帆船。", "我正存钱，想买一艘帆船。", "我在攒钱买房车。", "我攒钱是为了什么？"),
    Item(
        "我小时候在乡下的农场长大。", "我的童年是在乡村农场度过的。", "我小时候在城里的楼房长大。", "我在哪里长大的？"
    ),
    Item("我的经理是周敏。", "我向周敏汇报工作。", "我的经理是何伟。", "我的上级是谁？"),
    Item("我害怕坐飞机。", "坐飞机让我很恐惧。", "我害怕深水。", "我怕什么？"),
    Item("我晚上在学天文学。", "每天晚上我都上天文学的课。", "我晚上在学会计。", "我在学什么专业？"),
    Item(
        "洗碗机从周五开始就坏了。", "星期五以来我们的洗碗机一直用不了。", "洗碗机已经修好了。", "厨房里什么东西坏了？"
    ),
    Item("我的手机屏幕碎了。", "我手机的屏裂了。", "我的手机换了新屏幕。", "我的手机怎么了？"),
    Item(
        "所有软件我都想用深色主题。", "我希望每个应用都是暗黑模式。", "所有软件我都想用浅色主题。", "我要用哪种主题？"
    ),
    Item("织毛衣是奶奶教我的。", "我是跟奶奶学会织毛衣的。", "织毛衣是邻居教我的。", "谁教我织毛衣的？"),
    Item("我们打算九月去冰岛旅行。", "我们计划九月份到冰岛玩。", "我们打算九月去马耳他旅行。", "我们要去哪里度假？"),
    Item("新版本周一已经上线了。", "星期一我们发布了新版本。", "新版本推迟上线了。", "新版本怎么样了？"),
    Item("我每天早上吃一片降压药。", "每天早晨我都要服一片降血压的药。", "我已经不吃降压药了。", "我在吃什么药？"),
    Item(
        "我最好的朋友搬到成都去了。",
        "我最要好的朋友现在住在成都。",
        "我最好的朋友搬到厦门去了。",
        "我最好的朋友在哪里？",
    ),
    Item("我收集五十年代的邮票。", "我的收藏是五十年代的邮票。", "我收集老地图。", "我收藏什么？"),
    Item("我第二次考驾照就通过了。", "驾照考试我考了两次才过。", "我第二次考驾照还是没过。", "我考过驾照了吗？"),
    Item("从一月起房租涨到三千。", "一月开始我们每月要付三千块房租。", "房租还是两千五。", "房租多少钱？"),
    Item(
        "室友搬走以后我觉得很孤单。",
        "自从室友离开，我一直感到寂寞。",
        "室友搬走以后我觉得轻松多了。",
        "室友搬走我心情怎么样？",
    ),
    Item("我只有周三可以在家办公。", "星期三是我唯一能居家办公的日子。", "我每天都可以在家办公。", "我哪天在家办公？"),
]
