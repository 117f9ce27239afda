"""Word lists of English and Chinese that search leans on: stop words and irregular forms. No list is of a topic."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_STOP = """
    a an the this that these those here there
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    who whom whose which what when where why how
    am is are was were be been being do does did doing done have has had having
    can could will would shall should may might must ought
    and or but if because as until while of at by for with about against between into through during before after
    above below to from up down in out on off over under again further then once than so
    all any both each few more most other some such no nor not only own same too very just also
    s t d m ll re ve don won ain
    it's i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll we're we've we'd we'll
    they're they've they'd they'll that's there's here's what's who's how's let's
    isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't won't wouldn't
    shan't shouldn't mustn't mightn't needn't
    oh hey hi hello ah um uh yeah yep yes ok okay
"""
STOP_WORDS: Final = frozenset(_STOP.split())

_VERBS = """
    arise arose arisen|awake awoke awoken|bear bore borne|beat beaten|become became|begin began begun|bend bent|bet|
    bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|
    burn burnt|buy bought|catch caught|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug|
    draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|
    feel felt|fight fought|find found|flee fled|fling flung|fly flew flown|forbid forbade forbidden|
    forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|
    go went gone goes|grind ground|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|
    kneel knelt|know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt|leave left|lend lent|
    light lit|lose lost|make made|mean meant|meet met|pay paid|prove proven|ride rode ridden|ring rang rung|
    rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent|sew sewn|shake shook shaken|
    shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|
    slide slid|smell smelt|sneak snuck|speak spoke spoken|speed sped|spell spelt|spend spent|spill spilt|spin spun|
    spoil spoilt|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|strike struck stricken|
    string strung|strive strove|swear swore sworn|sweep swept|swell swollen|swim swam swum|swing swung|
    take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown|
    understand understood|undergo underwent undergone undergoes|wake woke woken|
    wear wore worn|weave wove woven|weep wept|
    win won|wind wound|withdraw withdrew withdrawn|write wrote written
"""
_NOUNS = """
    child children|person people|man men|woman women|foot feet|tooth teeth|mouse mice|goose geese|wife wives|
    knife knives|half halves|shelf shelves|loaf loaves|thief thieves|wolf wolves|calf calves|
    hobby hobbies|grandchild grandchildren|stepchild stepchildren|sibling siblings
"""
_ADJECTIVES = "good better best|bad worse worst|far farther farthest further furthest"


def _forms(*tables: str) -> dict[str, str]:
    """{form: base} of lines "base form form|base form"."""
    rows = (row.split() for table in tables for row in table.split("|"))
    return {form: row[0] for row in rows if row for form in row[1:]}


# Irregular form -> base. Where a form is also a common word of its own (left, found, ground, saw) the verb wins:
# in what people tell of themselves it is the likelier reading.
# "lives" and "leaves" are left to the stemmer: they are verbs more often than life and leaf in the plural.
IRREGULAR: Final = MappingProxyType(_forms(_VERBS, _NOUNS, _ADJECTIVES))

# Chinese characters of grammar. A bigram that holds one says nothing of what a question asks for.
FUNCTION_CHARACTERS: Final = frozenset("我你您他她它们这那哪的了着吗呢吧啊呀嘛么怎何就也都还又很与把被给让是个在")
