"""Why a memory gave way, by the words that replaced it."""

from kenobot.language.changes.replacement_kind import classify_replacement
from tests.cases import each


@each(
    "former, current, message, kind",
    [
        ("I live in Madrid", "I live in Valencia now", "", "change"),
        ("I'm vegetarian", "I'm not vegetarian anymore", "", "change"),
        ("Vivo en Madrid", "Ahora vivo en Valencia", "", "change"),
        ("Ana vive en Bilbao", "Ana ya no vive en Bilbao, se mudó a Vigo", "", "change"),
        ("The user lives in Madrid", "The user lives in Valencia", "No, I'm fine. I moved to Valencia.", "change"),
        ("I work at Acme", "I work at Beta", "I left Acme, I work at Beta", "change"),
        ("My sister is called Eva", "my sister is called Ana, not Eva", "", "correction"),
        ("My sister is called Eva", "my sister is called Ana", "no, my sister is called Ana", "correction"),
        ("Mi hermana se llama Eva", "mi hermana se llama Ana", "No, mi hermana se llama Ana", "correction"),
        ("My rent is 850", "My rent is 850. Actually it's 900", "", "correction"),
        ("My rent is 850", "My rent is 900", "I got that wrong, my rent is 900", "correction"),
        ("I live in Madrid", "I live in Paris, not in Madrid", "", "correction"),
        ("Vivo en Madrid", "Vivo en París", "me equivoqué, vivo en París", "correction"),
        ("My rent is 850", "My rent is 900", "My rent is 900, there's no error", "unknown"),
        ("Peso 80 kg", "peso 75 kg", "Perdona el error de antes, peso 75 kg", "unknown"),
        ("I work at Acme", "I work at Beta now", "I work at Beta now, leaving Acme was no mistake", "unknown"),
        ("My boss is Eva", "My boss is Ana", "My boss is Ana, don't get me wrong, she is nice", "unknown"),
        ("My boss is Eva", "My boss is Ana, not Eva", "My boss is Ana, not Eva, my mistake", "correction"),
        ("My birthday is 3 May", "My birthday is 5 May", "My birthday is 5 May", "unknown"),
        ("I live in Madrid", "I live in Paris", "no, I live in Paris now", "unknown"),
        ("My keys are on the right", "My keys are on the left", "", "unknown"),
        ("Vivo en Madrid", "Vivo en París desde 2010", "", "unknown"),
        ("I live in Oslo", "I live in New York", "", "unknown"),
        ("Vivo en Madrid", "Vivo en Nueva York", "", "unknown"),
        ("vivo en madrid", "vivo en nueva york", "", "unknown"),
        ("I live in Oslo", "i live in new zealand", "", "unknown"),
        ("My sister lives in Leeds", "My sister lives in New Malden", "", "unknown"),
        ("Ana vive en Vigo", "Ana vive en Nuevo León", "", "unknown"),
        ("I live in Oslo", "I live in New York now", "", "change"),
        ("My boss is Eva", "My new boss is Ana", "", "change"),
        ("My phone number is 600111222", "New number: 600333444", "New phone number: 600333444", "change"),
        ("Mi jefa es Eva", "Mi nueva jefa es Ana", "", "change"),
    ],
)
def test_words_tell_of_a_change_or_of_a_mistake(former: str, current: str, message: str, kind: str) -> None:
    """Those of the sentence that told it; where they tell of neither or of both, nobody can tell."""
    assert classify_replacement(former, current, message) == kind
