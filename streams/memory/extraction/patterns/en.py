"""English wordings of slots. Order is precedence: the more specific wording first."""

from __future__ import annotations

from streams.memory.extraction.patterns import Wordings

_FRAGMENTS = {
    # A name: capitalised words, joined by small ones ("Bank of England").
    "name": r"(?-i:(?!<no_name>)[A-Z][\w’'&-]*(\.(?=\w| [A-Z]))?( (of|the|de|van|von|la|al|bin|da|di|and"
    r"|&) (?!I\b)(?=[A-Z])[\w’'.&-]+| [A-Z0-9][\w’'.&-]*){0,5})",
    "no_name": (
        r"(I|I['’]\w+|Id|Im|Ive|A|An|The|This|That|These|Those|It|Its|He|She|They|We|You|Your|My|Our|His|Her|Their"
        r"|What|Which|Who|When"
        r"|Where|Why|How|If|So|And|But|Or|Because|Since|Then|There|Here|Yes|No|Not|Please|Let|Lets|Let['’]s|Also"
        r"|Just|Now|Today|Do|Does"
        r"|Did|Is|Are|Was|Were|Can|Could|Would|Will|Should|Everyone|Everything|Someone|Nobody|Nothing|People|Some"
        r"|Many|Most|All|Any|Each"
        r"|Every|Both|Ok|Okay|Sure|Thanks|Hi|Hello|Hey|Well|Maybe|Actually|For|From|With|In|On|At|As|By|To|Of"
        r"|After|Before|While|Once"
        r"|Still|Never|Always|Write|Make|Give|Tell|Show|Add|Use|Try|Keep|One|Two|Imagine|Suppose|Great|Good|Nice"
        r"|Exactly|Right)\b"
    ),
    "kin": (
        r"(wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|father|mom|mum|dad|parents?|son|daughter"
        r"|kids?|child|children|brother|sister|sibling|uncle|aunt|cousin|nephew|niece|grand(ma|pa|mother|father|parents"
        r"|son|daughter)|friend|roommate|flatmate|colleague|co-?worker|boss|manager|supervisor|professor|teacher|tutor"
        r"|neighbou?r|landlord|client|team|company|dog|cat|puppy|kitten|pet|doctor|therapist|coach|ex)"
    ),
    # Who: the speaker, somebody of theirs with or without a name, a name, a pronoun.
    "who": r"(?P<s>i|we|(my|our) (\w+ ){0,2}?<kin>(,? <name>)?|<name>|he|she|they)",
    "thing": r"(?P<s>(the|our|my|this|that) [\w’' .-]{2,40}?|<name>)",
    "whose": r"(?P<s>my|our|his|her|(my )?[\w ]{2,24}['’]s)",
    "be": r"(['’](m|s|re)| am| is| are| was| were)",
    "have": r"(['’](ve|s)| have| has)",
    "adv": (
        r"( (also|now|still|just|actually|really|currently|recently|usually|always|mostly|mainly|generally|often"
        r"|only|both"
        r"|all|already|finally|officially|absolutely|definitely|simply|personally|honestly|totally|originally|do"
        r"|so|very"
        r"|pretty much|basically|too|even|quite|kind of|sort of|probably|normally|typically|primarily|no longer))*"
    ),
    "neg": (
        r"(?P<n> (do|does|did|am|is|are|was|were|have|has|can|could|will|would)( not|n['’]t)( \w+ly| even)?"
        r"|['’](m|re|s) not( \w+ly)?| never| cannot| can['’]?t| won['’]?t| no longer)?"
    ),
    "stop": (
        r"(?=$|[,.;!?\(\)\n—–]|:(?!\d)| [-–] | (and (i|we|he|she|they|my|it)\b|but|because|cause|so|since|when|while"
        r"|which|who|though"
        r"|although|if|unless|now|right now|these days|nowadays|at the moment|currently|any ?more|(this|last|next) \w+"
        r"|until|till|after|before|too|either|already|as well|instead|every|for (now|the|about|over|almost|nearly"
        r"|a|an|two"
        r"|three|four|five|six|\d+)|with|in \d{4}|on (mon|tues|wednes|thurs|fri|satur|sun)day|today|yesterday|tomorrow"
        r"|tonight|please|thanks|lately|recently|again|any longer)\b)"
    ),
    "place": (
        r"(?P<v>(?-i:[A-Z][\w’'-]*(,? ((of|the|de|la) )?[A-Z][\w’'-]*){0,4})|[a-z][\w’'-]*( [\w’'-]+){0,3}?)<stop>"
    ),
    "old_place": r"(?P<o>(?-i:[A-Z][\w’'-]*( [A-Z][\w’'-]*){0,3})|[a-z]\w+)",
    "like": r"(likes?|loves?|enjoys?|adores?|((am|is|are) )?((really|so|super) )?into|((am|is|are) )?an? ((huge"
    r"|big|massive) )?fan of)",
    "job": (
        r"([\w-]+ ){0,3}?(\w{3,}(er|or|ist|ian|yst|eer)|assistant|accountant|consultant|nurse|student|freshman"
        r"|sophomore|lawyer"
        r"|chef|cook|pilot|intern|clerk|judge|coach|mechanic|ceo|cto|cfo|pm|dba|sre|undergrad|undergraduate|phd"
        r"|apprentice"
        r"|athlete|soldier|salesman|saleswoman|businessman|businesswoman|housewife|agent|attorney|vet|architect"
        r"|specialist"
        r"|veteran|officer|native|immigrant|expat|introvert|extrovert|christian|muslim|buddhist|atheist|widow|teen"
        r"|woman"
        r"|man|girl|boy|female|male|mom|dad|parent)"
    ),
    "no_fact": r"(?!(it|that|this|these|those|them|what|how|when|if|you|your|the (idea|sound|way|suggestion|first"
    r"|second|plan))\b)",
    "no_request": (
        r"(?!to (know|see|have|get|ask|hear|request|add|make|use|do|be|create|write|go|start|try|thank|say|learn"
        r"|understand"
        r"|work|change|keep|buy|find|book|reserve|schedule|rent|watch|leave|travel|take|pay|look|purchase|order|eat)\b)"
    ),
    # What only a person works as: of a name by itself "is a broker" may tell what a program does.
    "calling": (
        r"([\w-]+ ){0,2}?(instructor|teacher|tutor|professor|lecturer|nurse|doctor|surgeon|dentist|paramedic|midwife"
        r"|therapist|psychologist|pharmacist|lawyer|solicitor|accountant|engineer|developer|designer|architect|scientist"
        r"|researcher|analyst|consultant|manager|director|chef|cook|baker|barista|waiter|waitress|pilot|driver|mechanic"
        r"|plumber|electrician|carpenter|gardener|photographer|journalist|musician|singer|actor|actress|painter|student"
        r"|intern|coach|librarian|firefighter|policeman|policewoman|translator|interpreter|vet)"
    ),
    "time": (
        r"(?=\d{1,2}([:.]\d\d)? ?([ap]\.?m|o['’]clock)\b|\d{1,2}:\d\d|noon\b|midnight\b|tomorrow\b|(next|this) \w"
        r"|(mon|tues|wednes|thurs|fri|satur|sun)day|(the )?\d{1,2}(st|nd|rd|th)\b"
        r"|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d|\d{1,2} (jan|feb|mar|apr|may|jun|jul|aug|sep|oct"
        r"|nov|dec))"
    ),
    # Whom a place is filled with: "my dentist is Indian" says how somebody is.
    "person": (
        r"(?!(?-i:[A-Z])\w*(ish|ese)\b|(american|indian|italian|russian|canadian|australian|brazilian|mexican|iranian"
        r"|asian|african|european|korean|norwegian|belgian|austrian|ukrainian|egyptian|nigerian|german|french|dutch|greek"
        r"|czech|swiss|thai|(mon|tues|wednes|thurs|fri|satur|sun)day)\b)<name>"
    ),
    # What somebody owns by being responsible for it.
    "work": (
        r"(back-?end|front-?end|api|services?|project|release|roadmap|rollout|migration|docs|design|module|pipeline"
        r"|website|app|launch|onboarding|qa|testing|infrastructure|database|product|feature|codebase|repo|process"
        r"|budget|integration|dashboard)"
    ),
    "number": r"(no|an?|one|two|three|four|five|six|\d)",
}
_SAY = Wordings(_FRAGMENTS, boundary=r"(?<![\w’'-])")
_T = r"(?P<v>[^,;!?\n—]{1,70}?)<stop>"

PATTERNS = (
    # ---- who
    _SAY("name", "name", r"<whose>( (full|first|last|real|actual|family))? name( is|['’]s)( (actually|really"
                         r"|now))?(?! (not|n['’]t))"
         r" (?P<v>[\w’'. -]{1,40}?)<stop>"),
    _SAY("name", "called named", r"<who><be> (called|named) (?P<v>(?-i:[A-Z])[\w’'. -]{0,40}?)<stop>"),
    _SAY("name", "i m am", r"(?P<s>i)(['’]m| am) (?P<v>(?-i:[A-Z][a-z]+( [A-Z][a-z]+){0,2}))(?=$|[,.!;]| and\b"
                           r"| from\b)"),
    _SAY("nickname", "call", r"(please |you can |just |everyone |friends )*calls? me (?P<v>(?!back|on|at|an?|later"
                             r"|when|if|the|for|in"
         r"|out|up)[\w’'-]{1,20}( (?-i:[A-Z])[\w’'-]*)?)(?=$|[,.!;]| (from|instead|please|not|now|and)\b)"),
    _SAY("age", "years year turned turning aged yo", r"<who>(<be>| (just |recently )?turned"
        r"| is turning)<adv> (?P<v>\d{1,3})"
         r"(?= ?(years?[- ]old|yo|y/o)\b| this| last| in| next|$|[.,!])"),
    _SAY("birthday", "birthday", r"<whose> birthday( is|['’]s| falls)( on)? (?P<v>[^,;:!?\n]{2,40}?)<stop>"),
    _SAY("birthday", "born", r"<who> (was|were) born on (?P<v>[^;:!?\n]{2,40}?)(?=$|[.;!?]| and\b)"),
    _SAY("birthplace", "born", r"<who> (was|were) born( and raised)? in (?=(?-i:[A-Z]))<place>"),
    _SAY("hometown", "from grew", r"<who>(<be><adv> from| grew up in) (?=(?-i:[A-Z]))<place>"),
    # ---- where
    _SAY("city", "moved moving relocated relocating move", r"<who>(<be>|<have>)?<adv> (moved|moving|relocated"
        r"|relocating|move)"
         r"( (back|over|house|out))? from <old_place> to <place>"),
    _SAY("city", "moved moving relocated relocating", r"<who>(<be>|<have>)?<adv> (moved|moving|relocated|relocating)"
         r"( (back|over|out|down|up))? to (?!(the (next|end|other)|an?\b)|<time>)<place>"),
    _SAY("city", "live lives living based reside resides", r"<who><neg>(<be>)?<adv> (live|lives|living|based"
        r"|resides?|residing)"
         r"( (right|out|over|just|alone|together|here))? (in|near|at|outside) (?!(an?|the (past|moment|present"
         r"|same))\b)<place>"),
    # ---- work and study
    _SAY("employer", "work works working", r"<who><neg>(<be>|<have> been)?<adv> (work|works"
        r"|working)( as [^,.]{2,40}?)? (at|for)"
         r" (?P<v>(?!(least|all|night|home|a while|the moment|my|me|you|us|now|\d|it|this|that"
         r"|an?)\b)[^,;.!?\n]{2,50}?)"
         r"(?=$|[.,;:!?\n]| (as|in|on|and|but|for|since|now|with|because|these|until|from|who|which|where|when"
         r"|while)\b)"),
    _SAY("employer", "joined joining hired started job", r"<who>(<be>|<have>)?<adv> (joined|joining|got hired by"
        r"|got a job at"
         r"|started (working )?at|was hired by) (?P<v>(?-i:[A-Z])[^,;.!?\n]{1,50}?)<stop>"),
    _SAY("employer", "left quit resigned", r"<who>(<have>)?<adv> (left|quit|resigned from) (my job at )?"
         r"(?P<v>(?-i:[A-Z])[\w’'.& -]{1,40}?)<stop>", operation="retract"),
    _SAY("occupation", "work works working", r"<who>(<be>)?<adv> (work|works|working) as (an? "
        r"|the )?(?P<v>[^,;.!?\n]{2,40}?)"
         r"(?=$|[,.;!?]| (at|for|in|and|but|with|now)\b)"),
    _SAY("school", "go goes study studies studying attend attends student", r"<who>(<be>)?<adv> (go to|goes to"
        r"|study at|studies at|studying at|attends?"
         r"|a student at) (?P<v>(?-i:(?!<no_name>)[A-Z])[^,;.!?\n]{1,50}?)<stop>"),
    _SAY("*", "manager boss supervisor roommate flatmate accountant dentist lawyer landlord landlady trainer vet "
              "therapist hairdresser mentor advisor physio nanny insurer",
         r"(?P<s>my) ((new|current) )?(?P<a>manager|boss|supervisor|roommate|flatmate|accountant|dentist|lawyer"
         r"|landlord|landlady|trainer|vet|therapist|hairdresser|mentor|advisor|physio|nanny|insurer)( is"
         r"|['’]s)( now| called| named)* (?P<v><person>)<stop>"),
    _SAY("*", "wife husband partner girlfriend boyfriend son daughter dog cat mother father brother sister",
         r"(?P<s>my) (?P<a>wife|husband|partner|girlfriend|boyfriend|son|daughter|dog|cat|mother|father|brother|sister)"
         r"( is|['’]s)( now| called| named)* (?P<v><name>)<stop>"),
    _SAY("boss", "report reporting",
         r"(?P<s>i|we)(['’]m| am)?<adv> (report|reporting) (directly )?to (?P<v><name>)<stop>"),
    _SAY("spouse", "married", r"<who>(<be>| got) married to (?P<v>[^,;.!?\n]{2,50}?)<stop>"),
    _SAY("marital_status", "married single divorced engaged widowed separated", r"<who><neg>(<be>| got| get"
        r"|<have> (got|been))<adv>"
         r" (?P<v>married|single|divorced|engaged|widowed|separated)(?=$|[,.;!?]| (and|but|now|to|with|last|since"
         r"|in|for|again)\b)"),
    _SAY("diet", "vegan vegetarian pescatarian halal kosher keto gluten dairy", r"<who><neg>(<be>| eat| went| go"
        r"| follow)?<adv>"
         r" (an? |on a |strictly |strict )*(?P<v>vegan|vegetarian|pescatarian|halal|kosher|keto|gluten[- ]free"
         r"|dairy[- ]free)\b"),
    _SAY("allergy", "allergic allergy", r"<who><neg>(<be>|<have>)?<adv> (an? )?((severe|bad|mild) )?(allergic"
        r"|allergy) to <no_fact>" + _T),
    _SAY("occupation", "a an", r"(?P<s>i|we|(my|our) <kin>(,? <name>)?|he|she)(?P<n>['’]m not| am not| is not"
                               r"| isn['’]t)?(<be>)?<adv>"
         r" an? (?P<v><job>)(?=$|[,.;!?]| (and|but|at|in|from|with|who|by|now|based|on|for|working|trying)\b)"),
    _SAY("occupation", "a an", r"(?P<s>(?!User)<name>)(?P<n> is not| isn['’]t)?( is|['’]s)<adv> an? (?P<v><calling>)"
         r"(?=$|[,.;!?]| (and|but|at|in|from|with|who|by|now|based|on|for|working)\b)"),
    # ---- taste
    _SAY("*", "favorite favourite", r"<whose>( (all[- ]time|absolute|new|current))? (?P<a>favou?rite [\w ]{1,25}?)"
         r"( is|['’]s| are| has always been) " + _T),
    _SAY("likes", "like likes love loves enjoy enjoys adore adores fan into", r"<who>(?P<n> (do|does)( not"
        r"|n['’]t)( \w+ly| even)?"
         r"| never| no longer|['’]m not( \w+ly)?| am not( \w+ly)?"
         r"| isn['’]t)?(<be>)?<adv> (?!['’]d)<like> <no_fact><no_request>" + _T),
    _SAY("likes", "hate hates dislike dislikes detest detests stand loathe despise", r"<who><adv> (hates?"
        r"|dislikes?|detests?|loathes?"
         r"|despises?|can['’]?t stand|can ?not stand) <no_fact>(?!to (say|ask|bother|admit|be)\b)" + _T,
         polarity="negative"),
    _SAY("prefers", "prefer prefers rather", r"<who>(?P<n> (do|does)( not|n['’]t)( \w+ly)?)?(['’]d"
        r"| would)?<adv> (prefers?|rather)"
         r"( to)? (?P<v>[^,;!?\n]{2,80}?)( (over|than|instead of|rather than) (?P<o>[^,;.!?\n]{2,40}?))?<stop>"),
    _SAY("diet", "eat eats", r"<who>(?P<n> (do|does)( not|n['’]t)( \w+ly)?| never| can['’]?t| cannot"
                             r"| won['’]?t) (eat|eats) <no_fact>"
         r"(?!(much|anything|any)\b)" + _T),
    _SAY("drink", "drink drinks", r"<who><neg><adv> drinks? <no_fact>" + _T),
    _SAY("health", "have has diagnosed suffer suffers got", r"<who><neg>(<have>|<be>)?<adv>( (have|has|got"
        r"|suffers? from|diagnosed with|been diagnosed with))"
         r" (an? )?(?P<v>((type \d|mild|severe|chronic|high) )?(diabetes|asthma|cancer|arthritis|migraines?|adhd"
         r"|autism|depression|anxiety|insomnia"
         r"|hypertension|blood pressure|epilepsy|eczema|anemia|dyslexia|\w+itis|\w+ (disease|syndrome|disorder"
         r"|intolerance|cancer)))\b"),
    # ---- people and belongings
    _SAY("children", "have has", r"<who><neg><have>( got)? (?P<v><number>( \w+){0,2}? (sons?|daughters?|kids?"
                                 r"|child(ren)?|boys?|girls?"
         r"|bab(y|ies)|toddlers?))\b"),
    _SAY("pet", "have has got adopted own", r"<who>(<have>)?( got| adopted"
        r"| own)? (?P<v><number>( \w+){0,3}? (dogs?|cats?|pupp(y|ies)"
         r"|kittens?|rabbits?|hamsters?|parrots?|turtles?|horses?|guinea pigs?))\b"),
    _SAY("family", "have has", r"<who><have>( got)? (?P<v><number>( \w+)? (brothers?|sisters?|siblings?|uncles?"
                               r"|aunts?|cousins?"
         r"|grandchildren))\b"),
    _SAY("car", "drive drives", r"<who><adv> drives? (?P<v>an? [^,;.!?\n]{2,40}?)<stop>"),
    _SAY("owner", "owns", r"(?P<v><name>)( now| currently)? owns (?P<s>the ([\w-]+ ){0,2}<work>)(<stop>|(?= from\b))"),
    _SAY("owns", "own owns bought purchased", r"<who>(<have>)?<adv> (owns?|bought|purchased) (?P<v>(an?|two|some"
        r"|my|new|the)"
         r" [^,;.!?\n]{2,50}?)<stop>"),
    _SAY("language", "speak speaks", r"<who><neg><adv> speaks? ((fluent|some"
                                     r"|a little) )?(?P<v>(?-i:[A-Z])[a-z]+((, and|,| and)"
         r" (?-i:[A-Z])[a-z]+)*)"),
    _SAY("learning", "learning studying", r"<who>(<be>|<have> been)<adv> (learning|studying) (?P<v>(?!(about|how"
        r"|for|from)\b)"
         r"[^,;.!?\n]{2,40}?)<stop>"),
    _SAY("*", "manager boss supervisor wife husband girlfriend boyfriend partner roommate teacher doctor coach "
              "daughter son",
         r"(?P<v><name>) (is|was) my (new )?(?P<a>manager|boss|supervisor|wife|husband|girlfriend|boyfriend"
         r"|partner|roommate"
         r"|teacher|doctor|coach|daughter|son)(?=$|[,.!;]| (and|but|now|at|in)\b)"),
    _SAY("marital_status", "broke split", r"(?P<s>i|we)( and <name>)? (?P<v>broke up|split up)\b"
        r"|\band (?P<t>i) (?P<w>broke up|split up)\b"),
    _SAY("birthday", "born", r"<who> (was|were) born in (?P<v>(early |late )?(\w+ )?(19|20)\d\d)\b"),
    # ---- habits and decisions
    _SAY("habit", "quit stopped gave given", r"<who>(<have>)?<adv> (quit|stopped|gave up|given up) (?P<v>(?!(my"
        r"|the|it|this|that)\b)\w+ing\b"
         r"[^,;.!?\n]{0,30}?|alcohol|coffee|sugar|meat|cigarettes)<stop>", operation="retract"),
    _SAY("habit", "usually always often never normally typically every", r"(?P<s>i|we|<name>"
        r"|my <kin>)( \w+ly)? (?P<v>(usually|always|often|never"
         r"|normally|typically) (?!(thought|knew|wanted|been|had|have|wonder|worry|mind|know"
         r"|think)\b)\w+[^,;.!?\n]{2,60}?)(?=$|[,.;!?]| (but|because|so)\b)"),
    _SAY("habit", "every", r"(?P<s>i|we|<name>|my <kin>) (?!(am|was|want|need|would|will|can|could|like"
                           r"|have)\b)(?P<v>\w+ [^,;.!?\n]{0,40}?every"
         r" (single )?(day|morning|evening|night|week|weekend|month|year|(mon|tues|wednes|thurs|fri|satur|sun)day))\b"),
    _SAY("decision", "decided chose settled agreed", r"(?P<s>we|i)(<have>)?( \w+ly)? (decided|agreed|chose"
        r"|settled) (to|on|that) (?!(it|this|that)\b)" + _T),
    # ---- work in hand
    _SAY("working_on", "working building writing preparing developing", r"<who>(<be>|<have> been)<adv> (working on"
        r"|building|writing|preparing|developing)"
         r" <no_fact>" + _T),
    _SAY("budget", "budget", r"(?P<s>(my|our|the)( [\w’'-]+){0,4}?) budget( (for|of) (?P<t>(the |our "
                             r"|my )?[\w ]{2,30}?))?( is| was| would be"
         r"| will be|['’]s| has been| changed| raised| went| got)( (now|only|about|around|up to|actually|to|at"
         r"|raised|cut|changed|increased))*"
         r" (?P<v>[^;!?\n]{0,6}?\d[^;!?\n]{0,30}?|[\w ]{3,30}?)(?=$|[.;!?]( |$)|, | (and|but|for|so|this)\b)"),
    _SAY("deadline", "deadline due", r"(?P<s>(the|our|my)( [\w’'-]+){0,4}?) (deadline|due date)( (for"
                                     r"|of) (?P<t>(the |my |our )?[\w ]{2,30}?))?"
         r"( is| was| has| got|['’]s| will be)?( (been|moved|pushed|changed|extended|now|on|by|to|back))* (?!(for"
         r"|of|is|was|has)\b)" + _T),
    _SAY("deadline", "due", r"<thing>( is|['’]s| are)( now)? due( on| by| at| in)? (?!to\b)" + _T),
    _SAY("notification_time", "notify remind alert wake ping", r"(notify|remind|alert|wake|ping)( me"
        r"| us)( up)?( every day| daily| each (day|morning))?( at| before) (?P<v>noon|midnight"
         r"|\d{1,2}(:\d\d)?( ?[ap]\.?m\.?)?)(?![\w:]| (about|of|for|that|when|to)\b)"),
    _SAY("meeting_time", "cancelled canceled", r"(?P<s>(the|our|my|this)( [\w’'-]+){1,4}?)( is| was| has been| got"
        r"|['’]s)( now)? (?P<v>cancell?ed)\b",
         operation="retract"),
    _SAY("meeting_time", "meeting appointment interview call flight standup class demo presentation exam wedding "
                         "dinner with one on",
         r"(?P<s>(my|our|the|this)( [\w-]+){0,3}? (meeting|1:1|1-on-1|one-on-one"
         r"|appointment|interview|call|flight|stand-?up|class|demo"
         r"|presentation"
         r"|exam|wedding|dinner)( with [\w ]{2,25}?)?)( is| has been| was| got|['’]s)?( now| scheduled| set| moved"
         r"| rescheduled"
         r"| postponed| changed| pushed| planned)*( from (?P<o>[\w: ]{2,25}?))?( for| on| at| to) (?!the (same"
         r"|next)\b)" + _T),
    _SAY("meeting_time", "moved postponed rescheduled pushed brought scheduled set on",
         r"(?P<s>(the|our|my)( [\w-]+){1,4}?)( is| has been| was| got|['’]s| have been| are)( now| scheduled| set"
         r"| moved| rescheduled| postponed| changed| pushed| planned| back| forward| brought)*"
         r"( from (?P<o>[\w: ]{2,25}?))?( for| on| at| to) (?P<v><time>[^,;!?\n—]{0,40}?)<stop>"),
    _SAY("meeting_time", "starts begins leaves departs start begin leave moves",
         r"<thing> (starts?|begins?|leaves?|departs?|moves? to)( now| only)?( at| on)? (?P<v><time>"
         r"[^,;!?\n—]{0,30}?)<stop>"),
    # ---- who is responsible
    _SAY("owner", "with", r"(?P<s>the [\w’' .-]{2,40}?|<name>) (is|lies|sits)( now)? with (?P<v><name>)<stop>"),
    _SAY("owner", "led owned managed run headed handled maintained", r"(?P<s>the [\w’' .-]{2,40}?|<name>) (is|was|are)"
         r"( now| currently| being)* (led|owned|managed|run|headed|handled|maintained) by (?P<v><name>|my \w+"
         r"|me)<stop>"),
    _SAY("owner", "leads owns manages runs heads handles charge responsible over leading running",
         r"(?P<v><name>)( now| currently)?"
         r" (leads|manages|runs|heads|handles|is (now )?(in charge of|responsible for|leading|running|managing)"
         r"|(took|takes|has taken)"
         r" over) (?P<s>the [\w’' .-]{2,40}?|<name>)<stop>"),
)  # fmt: skip
