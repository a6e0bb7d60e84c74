"""Sentences as people write them: wishes about memory that must be heard, and others that must go to the model."""

FORGET = """
olvida lo de los webhooks
Olvídate de lo de los webhooks de n8n
olvida lo del servidor de casa, por favor
¿Puedes olvidar lo de la mudanza?
olvida lo de mi jefe
forget the thing about the webhooks
forget everything about the Lyon project
Forget that n8n webhooks want query params
please forget that Ana is allergic to nuts
Olvida que los webhooks de n8n usan parámetros
forget that I live in Paris
Forget that I live in Paris.
please forget that I live in Paris
Please, forget that my wife is called Ana
forget my address
Forget about my old job
forget the fact that I am allergic to nuts
can you forget that I smoke?
Could you please forget that my salary is 90k?
I want you to forget that I'm vegetarian
I'd like you to forget that I play the piano
hey kenobot, forget that I have a dog
ok, forget that we moved to Berlin
Forget that I’ve been to Japan
forget everything you know about my ex
forget what I told you about my salary
Forget all you know about the Lyon project
forget everything I said about my boss, please
Forget what you remember about Ana
stop remembering that I like tea
Delete from memory that I like tea
delete that I live in Madrid from your memory
erase my phone number from memory
remove the fact that I am diabetic from your memory
erase everything you know about my health
you can forget that I work at Acme
forget that my favourite colour is green, thanks
FORGET THAT I LIVE IN PARIS!!!
forget that I use C++
forget our anniversary
olvida que vivo en Madrid
Olvida que vivo en Madrid.
Por favor, olvida que vivo en Madrid
olvida que me gusta el té
Olvídate de que soy vegano
olvidate de que trabajo en Acme
Olvida mi dirección
olvida mi número de teléfono, por favor
puedes olvidar que tengo un perro?
¿Puedes olvidar que me llamo Juan?
¿Podrías olvidar que fumo?
quiero que olvides que mi mujer se llama Ana
Me gustaría que olvidaras que no
necesito que olvides mi sueldo
Olvida lo que sabes de mi ex
olvida todo lo que te he dicho de mi jefe
Olvida lo que te conté sobre mi salud
Olvídate de lo que te dije sobre el proyecto Lyon
olvida lo de que soy alérgico
Borra de tu memoria que tengo asma
borra mi teléfono de tu memoria
elimina de la memoria mi dirección
Elimina que soy diabético de tu memoria
quita de tu memoria lo de mi sueldo
borra todo lo que sabes sobre Ana
deja de recordar que me gusta el café
ya no recuerdes que vivo en Sevilla
no quiero que recuerdes que fumo
Oye, olvida que tengo un hermano
olvida que estudié en Granada
Olvida que mi cumpleaños es en mayo!
olvida nuestra dirección, gracias
kenobot, olvida que uso n8n
olvidá que vivo en Rosario
""".strip().split("\n")
FORGET.remove("Me gustaría que olvidaras que no")

EVERYTHING = """
forget everything you know about me
Forget what you know about me.
olvida todo lo que sabes de mí
Olvida lo que sabes sobre mi
""".strip().split("\n")

TELL = """
what do you know about me?
What do you know about me
what do you remember about me?
What do you actually know about me?
hey, what do you know about me?
so what do you know about me so far?
tell me everything you know about me
Tell me what you know about me, please
show me what you remember about me
show me everything you have stored about me
what have you learned about me?
What have you learnt so far about me?
what did you remember about me?
What's in your memory?
what is in your memory about me?
what information do you have about me?
what data do you keep on me?
what do you have saved about me?
WHAT DO YOU KNOW ABOUT ME??
¿Qué sabes de mí?
que sabes de mi
¿Qué sabes sobre mí?
Qué sabes acerca de mí?
¿Qué recuerdas de mí?
Oye, ¿qué sabes de mí?
Hola, qué sabes de mí hasta ahora?
¿Y qué sabes de mí?
dime todo lo que sabes de mí
Cuéntame lo que sabes de mí, por favor
muéstrame lo que recuerdas de mí
¿qué has aprendido de mí?
¿Qué has aprendido sobre mí?
¿Qué tienes guardado sobre mí?
¿qué tienes apuntado de mí?
¿Qué hay en tu memoria?
qué tienes en tu memoria sobre mí
¿Qué información tienes sobre mí?
¿qué datos guardas de mí?
¿De qué te acuerdas de mí?
todo lo que sabes de mí
""".strip().split("\n")

OTHER = """
don't forget that n8n webhooks want query params
Please don't forget the thing about the webhooks
never forget that n8n webhooks want query params
no olvides que los webhooks de n8n usan parámetros
no olvides lo de los webhooks
no te olvides de lo de los webhooks
nunca olvides lo de los webhooks
olvida lo de ayer
olvida lo de antes
olvida lo del otro día
Olvida lo de esta mañana
olvida lo de la cena, mejor salimos
se me olvidó lo de los webhooks
he olvidado lo de los webhooks
olvidé lo de los webhooks
¿olvidaste lo de los webhooks?
forget everything about yesterday
forget the thing about that
forget that old idea
don't forget that I like tea
Don't forget my birthday!
never forget that I am allergic to nuts
please don't forget that my flight is at nine
do not forget my appointment
did you forget that I live in Paris?
Have you forgotten my name?
You forgot that I am vegetarian
I forgot that I had an exam
I keep forgetting my keys
I will never forget my grandmother
let's forget about it
forget it
Forget it!
forget about it
forget that
forget this
forget everything
forget them
Forget me
forget that I asked
Forget that I ever asked.
forget that I said that
forget I said anything
forget what I said
forget what I just said about that, what is the time?
forget my last message
Forget my question
forget my previous request
forget that idea
Forget that plan, let's go to Lyon
forget that I live in Paris and remember that I live in Lyon
Forget that I like tea, what should I drink?
forget that I'm here for a second
forget that I live in Paris? I never said that
why did you forget that I like tea?
How do I forget my ex?
how can I make you forget that I like tea?
what happens if I say forget that I like tea?
"forget that I like tea" is what he said
> forget that I like tea
Write a poem: forget that I loved you
translate "forget my address" into Spanish
Remember that I like tea
remember to forget my umbrella
He asked me to forget my past
She said: forget that I called
forget that I called
unforgettable that I live in Paris
forgetting my keys again
forget the milk
Forget the milk, buy bread
forget Paris
Can you delete my appointment on Monday?
delete the file from memory stick
remove my name from the guest list
erase the last line
what do you know about Paris?
what do you know about me and my sister?
what do you know about melons?
What do you know about mexico?
what do you know about my dog?
what do you know?
what do you remember?
what do people know about me?
what does Ana know about me?
what do you think about me?
do you know anything about Meissen?
what do you know about me that Ana does not know?
Who told you what you know about me?
how do you know about me?
tell me about yourself
tell me everything
tell me what you know about webhooks
show me the memory usage
what is in your fridge?
what is in memory bank 3?
what have you learned about Rust?
I wonder what you know about me, but first: what time is it?
no olvides que soy alérgico
No olvides mi cumpleaños
no te olvides de que mañana viajo
no te olvides de mi cita
nunca olvides que te quiero
que no se te olvide que vivo en Madrid
se me olvida que vivo aquí
se me olvidó mi paraguas
¿olvidaste que vivo en Madrid?
¿Has olvidado mi nombre?
Te has olvidado de que soy vegano
olvidé que tenía examen
olvidaba que hoy es fiesta
siempre olvida que vivo en Madrid
mi madre olvida que ya no vivo con ella
Ana olvida mi nombre
olvídalo
Olvídalo!
olvida eso
olvida esto
olvida todo
olvídate
olvídame
olvida que te lo dije
Olvida que te lo he pedido
olvida lo que te dije
olvida que pregunté
Olvida mi último mensaje
olvida mi pregunta
olvida mi anterior petición
olvida que vivo en Madrid y recuerda que vivo en Lyon
Olvida que me gusta el té, mejor dime qué hora es
olvida por un momento que vivo en Madrid
olvida que existo
olvida que estoy aquí
olvida que vivo en Madrid. ¿Qué hora es?
¿por qué olvidas que vivo en Madrid?
¿Cómo hago para olvidar que la quiero?
quiero olvidar que la conocí
no puedo olvidar mi infancia
ella me pidió que olvidara mi pasado
traduce "olvida mi dirección" al inglés
«olvida que vivo en Madrid» es lo que dijo
recuerda que vivo en Madrid
no recuerdo que me lo dijeras
borra el archivo de la memoria USB y avísame
borra la última línea
elimina a Ana de la lista
quita mi nombre de la lista de invitados
¿Qué sabes de los webhooks?
¿Qué sabes de mi perro?
¿qué sabes de mi hermana?
¿Qué sabes de Miami?
¿Qué sabes de mí y de mi hermana?
¿qué sabe Ana de mí?
¿Qué sabes?
¿Qué sabes hacer?
¿qué recuerdas?
¿qué recuerdas de ayer?
¿Qué piensas de mí?
¿Qué opinas de mí?
¿quién te ha dicho lo que sabes de mí?
¿cómo sabes eso de mí?
dime lo que sabes de Kubernetes
cuéntame algo de ti
¿Qué hay en tu nevera?
¿qué tienes en mente?
¿Qué has aprendido hoy?
me pregunto qué sabes de mí
/forget my address
""".strip().split("\n")
