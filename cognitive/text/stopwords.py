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

UNSPOKEN = frozenset(
    # Spanish
    "el la los las lo un una unos unas de del al a que y e o u ni en con sin por para como cuando donde quien cual "
    "cuyo es son era eran fue ser sido esta estan estaba estar hay ha han he has habia se si no me te le les nos os "
    "mi mis tu tus su sus yo ella ellos ellas nosotros usted ustedes pero porque muy mas menos tambien tan ya hoy "
    "ahora esto eso este ese estos esos estas esas aquel aqui alli todo toda todos todas nada algo cada otro otra "
    "sobre entre hasta desde segun contra hacia tras ante bajo durante "
    # English
    "the a an of to in on at for with without by from and or nor but not is are was were be been being am i you he "
    "she it we they them him me my your yours his her hers its our ours their theirs this that these those what who "
    "whom whose when where why how which do does did done can could will would shall should may might must have has "
    "had having so as if then than there here just only also too very more most all any some no each other about "
    "into over under until s t d ll re ve m "
    # what every memory of somebody says of them
    "owner user person dueno duena usuario usuaria persona propietario propietaria "
    # agreeing, and asking for something to be done or kept
    "si vale ok okay okey dale claro bueno bien venga adelante perfecto genial exacto hecho gracias favor porfa haz "
    "hazlo hagas hacer hace guarda guardalo guardala guardar apunta apuntalo anota anotalo recuerda recuerdalo "
    "recordar acuerdate memoriza sigue siguelo mensaje texto dice decia pone ponia yes yeah yep sure fine right "
    "good great perfect thanks thank please go ahead make sense agreed save note keep store remember memorize "
    "memorise follow message text say says said tell told it's let's ".split()
)
"""Words that do not tell whose a text is: function words, names of the owner, agreement and requests."""
