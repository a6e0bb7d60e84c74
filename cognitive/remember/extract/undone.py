"""Tell ends that did not come: denied, wished, advised, feared, spoken about, or believed by another."""

from kenobot.core import lazy

_ENDING = (
    r"(?:quit(?:ting)?|stopp(?:ed|ing)|g(?:iven|ave|iving) up|s(?:old|elling)|cancell?(?:ed|ing)|call(?:ed|ing) off|"
    r"left|leaving|dropp(?:ed|ing)|lost|mov(?:ed|ing)|br(?:oken?|eaking) up|split up|pull(?:ed|ing) out|finished|"
    r"resigned|put off|postponed|rescheduled|scrapped|ditched|swapped|changed|no longer)"
)
_FINAL = (
    r"(?:dej(?:[eoa]|ado|ar)|vend(?:o|i|io|ido|er)|cancel(?:e|o|ad[oa]|ar)|anulad[oa]|perdi(?:o|do)?|cambi(?:e|o|ado|ar)|"
    r"borrad[oa]|renunci(?:e|o|ado)|suspendid[oa]|roto|terminado|acabado)"
)
_MANNER = r"(?:(?:yet|ever|even|actually|really|just|quite|simply|only|been|be|being|get|have|has|had|got) )"
UNDONE = lazy.regex(
    rf"\b(?:\w+n't|not|never|should|[cw]ould|must|may|why would) (?:(?:i|we|he|she|they) )?{_MANNER}{{0,2}}{_ENDING}\b"
    r"|\b(?:want(?:s|ed|ing)?|wish(?:es)?|tempted|needs?|needed|ought|t(?:ell|old|elling)|ask(?:s|ed|ing)?|beg(?:s|ged)?|"
    r"advis\w+|refus\w+|promis\w+|afraid|scared|urg\w+|tr(?:y|ied|ying)|hate|likes?|love) "
    rf"(?:\w+ ){{0,2}}to {_MANNER}?{_ENDING}\b"
    r"|\b(?:about|of|without|before|against|from|hate|love|like|dread|miss|avoid|consider\w*|mean|risk) "
    rf"(?:(?:me|my|us|our|you|the \w+) )?{_MANNER}?(?:being {_ENDING}|\w+ing(?: up| off)?)\b"
    rf"|\bnot that .{{0,40}}?{_ENDING}\b"
    r"|\b(?<!\bi )(?<!\bwe )(?:thinks|believes|reckons|assumes|fears|hopes|pretends|worries)(?: that)? "
    rf"[^,;.]{{0,40}}?{_ENDING}\b"
    r"|\b(?:no|nunca|jamas|tampoco) (?:(?:me|te|se|nos|lo|la|los|las|le|les) ){0,2}"
    rf"(?:(?:he|ha|hemos|han|habia|voy a|vamos a|quiero|puedo|pienso|quise|pude) )?{_FINAL}\b"
    r"|\b(?:nobody|no one)(?:'s| has)? (?:quit|left|given up)\b|\bnadie (?:ha |se ha )?(?:dejado|ido|borrado)\b"
    r"|\b(?:tendria|deberia|podria)\w* (?:que )?haber \w+"
    r"|\bno es (?:que|verdad que|cierto que) (?:haya|hayamos|hayan|ha|he|hemos) \w+"
)
"""An end that did not come: denied, wished, advised, feared, spoken about, or believed by another."""
