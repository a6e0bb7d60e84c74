"""Function words of Spanish and English, folded: they say how a sentence is built, not what it is about."""

_ENGLISH = """
a about above after again all also am an and any are aren't as at be because been before being below between both but
by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from further had
hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself his how how's i i'd
i'll i'm i've if in into is isn't it it's its itself just let's me more most mustn't my myself nor of off on once only
or other ought our ours ourselves out over own same shall she she'd she'll she's should shouldn't so some such than
that that's the their theirs them themselves then there there's these they they'd they'll they're they've this those
through to too under until up us very was wasn't we we'd we'll we're we've were weren't what what's when when's where
where's which while who who's whom why why's will with won't would wouldn't you you'd you'll you're you've your yours
yourself yourselves please tell know remember
"""
_SPANISH = """
a al algo alguna algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos aqui asi aun aunque cada
casi como con contra cual cuales cuando cuanta cuantas cuanto cuantos de del desde donde dos el ella ellas ello ellos
en entre era eran eras eres es esa esas ese eso esos esta estaba estaban estado estais estamos estan estar estas este
esto estos estoy fue fueron fui fuimos ha habia habian haber han has hasta hay he hemos la las le les lo los mas me
mi mia mias mientras mio mios mis mucha muchas mucho muchos muy nada ni nos nosotras nosotros nuestra nuestras nuestro
nuestros o os otra otras otro otros para pero poco por porque pues que quien quienes se sea sean ser si sido sin sobre
sois somos son soy su sus suya suyas suyo suyos tal tambien tampoco tan tanto te tenia tener tengo ti tiene tienen
toda todas todo todos tu tus tuya tuyas tuyo tuyos un una unas uno unos usted ustedes va vais vamos van vosotras
vosotros voy vuestra vuestras vuestro vuestros y ya yo sabes dime recuerdas
"""

NEGATIONS = frozenset(
    "no not never nor none nobody nothing neither without isn't aren't wasn't weren't don't doesn't didn't won't "
    "can't cannot couldn't wouldn't shouldn't hasn't haven't hadn't nunca jamas ni sin nada nadie ningun ninguna "
    "ninguno tampoco".split()
)
"""Words that turn a statement round. They are no stop words: "no gluten" is not "gluten"."""

STOPWORDS = frozenset(f"{_ENGLISH} {_SPANISH}".split()) - NEGATIONS
