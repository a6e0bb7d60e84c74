"""Questions about nothing in particular, in many languages: what the vectors of all questions have in common.

A model puts a question near whatever else is asked, and near what is said in the same language, before it looks at what
it is about. The mean of these questions, and the ways in which those of one language differ from those of another, tell
which part of a vector says so; see `kenobot.cognitive.recall.vectors.calibration`.
"""

COMMON_QUESTIONS: tuple[tuple[str, ...], ...] = (
    (
        "¿Qué coche tiene mi vecino?",
        "¿Cuándo es la cita con el abogado?",
        "¿Dónde dejé las gafas de sol?",
        "¿Quién me recomendó esa película?",
        "¿Por qué cambié de banco?",
        "¿Cuánto cuesta la entrada del museo?",
        "¿Cómo se llama el hotel de Roma?",
        "¿Qué le regalé a mi hermano?",
        "¿En qué año terminé los estudios?",
        "¿A quién tengo que llamar mañana?",
        "¿Qué me dijo el profesor de piano?",
        "¿Con quién fui al concierto?",
        "¿Qué no me gusta hacer los lunes?",
        "¿Tengo alguna reunión esta tarde?",
        "¿Cada cuánto hay que regar las plantas?",
        "¿Para qué sirve la llave pequeña?",
    ),
    (
        "What car does my neighbour have?",
        "When is the appointment with the lawyer?",
        "Where did I leave my sunglasses?",
        "Who recommended that film to me?",
        "Why did I change banks?",
        "How much is a ticket to the museum?",
        "What is the hotel in Rome called?",
        "What did I give my brother?",
        "In which year did I finish my studies?",
        "Whom do I have to call tomorrow?",
        "What did the piano teacher tell me?",
        "Who did I go to the concert with?",
        "What do I dislike doing on Mondays?",
        "Do I have a meeting this afternoon?",
        "How often do the plants need water?",
        "What is the small key for?",
    ),
    (
        "Quelle voiture a mon voisin ?",
        "Quand est le rendez-vous chez l'avocat ?",
        "Où ai-je laissé mes lunettes de soleil ?",
        "Pourquoi ai-je changé de banque ?",
    ),
    (
        "Welches Auto hat mein Nachbar?",
        "Wann ist der Termin beim Anwalt?",
        "Wo habe ich meine Sonnenbrille gelassen?",
        "Warum habe ich die Bank gewechselt?",
    ),
    (
        "Que carro tem o meu vizinho?",
        "Quando é a consulta com o advogado?",
        "Onde deixei os óculos de sol?",
        "Por que mudei de banco?",
    ),
    (
        "Che macchina ha il mio vicino?",
        "Quando è l'appuntamento con l'avvocato?",
        "Dove ho lasciato gli occhiali da sole?",
        "Perché ho cambiato banca?",
    ),
    (
        "我的邻居有什么车?",
        "和律师的约会是什么时候?",
        "我把太阳镜放在哪里了?",
        "我为什么换了银行?",
    ),
    (
        "Какая машина у моего соседа?",
        "Когда встреча с адвокатом?",
        "Где я оставил солнечные очки?",
        "Почему я сменил банк?",
    ),
    (
        "隣の人はどんな車を持っていますか?",
        "弁護士との約束はいつですか?",
        "サングラスをどこに置きましたか?",
        "なぜ銀行を変えましたか?",
    ),
    (
        "이웃은 무슨 차를 가지고 있나요?",
        "변호사와의 약속은 언제인가요?",
        "선글라스를 어디에 두었나요?",
        "왜 은행을 바꿨나요?",
    ),
    (
        "ما سيارة جاري؟",
        "متى موعد المحامي؟",
        "أين تركت نظارتي الشمسية؟",
        "لماذا غيرت البنك؟",
    ),
)
"""Those of each language; the languages count the same."""
