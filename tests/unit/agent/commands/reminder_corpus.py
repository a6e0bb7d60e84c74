"""Messages as people write them: orders to remind, and look-alikes that are none."""

from kenobot.core.i18n import Language

ORDERS: dict[Language, str] = {
    "es": """
recuérdame mañana a las 8 llamar a Luis
Recuérdame que mañana tengo dentista a las 10
recuérdame comprar pan
recuérdame en 20 minutos que saque la pizza
Avísame a las 5 para sacar la basura
avísame dentro de 1 hora
Que no se me olvide comprar leche mañana
que no se me pase llamar al banco el lunes a las 9
No dejes que se me olvide la cita del jueves a las 12
ponme un recordatorio para mañana a las 9: ITV del coche
Pon una alarma a las 7
ponme una alarma para las 7 de la tarde
despiértame mañana a las 6:30
acuérdame de pagar la luz el viernes
recordame mañana llamar a mamá
hazme acordar de sacar turno el lunes
¿Puedes recordarme mañana a las 9 que llame a Ana?
¿me recuerdas el jueves a las 10 lo del seguro?
Necesito que me recuerdes tomar la pastilla a las 22:00
quiero que me avises el sábado a las 11 para la comida
Mañana a las 8 recuérdame llamar a Luis
el lunes a las 9, avísame de que toca la revisión
Todos los días a las 22:00 recuérdame la pastilla
cada lunes recuérdame sacar la basura
en 10 minutos avísame
recordatorio: comprar pan mañana a las 9
Oye Keno, recuérdame por favor regar las plantas esta tarde
recuérdame la pastilla a las 10
Recuérdame tender la ropa
recuérdame que tengo que llamar al fontanero
crea un recordatorio para el viernes: renovar el DNI
pon un temporizador de 10 minutos
recuérdamelo mañana a las 9
recuérdame esto en 2 horas
Recuérdame pasado mañana a las 9 de la mañana que tengo cita con el médico
recuérdame el 3 de diciembre renovar el seguro
¿Me puedes recordar mañana que saque la ropa de la lavadora?
me recuerdas en media hora apagar el horno?
podrías avisarme a las 18:45 para salir
oye, avísame en un cuarto de hora
avísanos mañana a las 7 para ir al aeropuerto
recuérdanos el domingo llamar a la abuela
no dejes que olvide pagar el alquiler el día 1
Que no se me pase la ITV el martes
pon un recordatorio mañana a las 10 para llamar al seguro
Ponme recordatorio a las 8 de la tarde: medicina
añade un recordatorio: comprar flores el viernes
programa un recordatorio cada domingo a las 20 para preparar la semana
hazme un recordatorio para el lunes de entregar el informe
levántame a las 6 y media
recuérdame todos los martes a las 7 ir al gimnasio
cada 8 horas recuérdame el antibiótico
recuérdame cada día a las 9 y a las 21 la pastilla
El viernes por la tarde recuérdame felicitar a Marta
recuerdame k tengo q llamar a juan mañana
recuérdame, por favor, que mañana es el cumpleaños de Ana
dime a las 5 que saque al perro
mándame un aviso a las 3 para recoger a los niños
acuérdame mañana temprano de llevar los papeles
necesito un recordatorio para mañana a las 9
recuérdame revisar el correo dentro de dos horas
recuérdeme mañana a las 10 llamar al banco
recuérdame que hay que regar las plantas el sábado
me avisas cuando sean las 5?
hola! recuérdame a las 4 lo de la reunión con Pedro
a las 22 recuérdame apagar la calefacción
recuérdame que mi madre llega el jueves a las 11
recuérdame la semana que viene pedir cita
recuérdame comprar el regalo de Ana antes del viernes
Recordarme mañana a primera hora que llame al colegio
me puedes avisar mañana por la tarde de que recoja el paquete
¿podrías recordarme que a las 6 tengo clase de inglés?
avísame media hora antes de las 8 para preparar la cena
ponme una alarma mañana a las siete y cuarto
pon alarma a las 6:15
quiero una alarma a las 8
necesito que me despiertes a las 5:30
Recuérdame el 24 de diciembre a las 20:00 encender el horno
recuérdame en una semana revisar el contrato
recuérdame dentro de 3 días pagar la multa
recuérdame a final de mes hacer la factura
recuérdanos todos los viernes por la tarde regar las plantas
que no me olvide de tomar la medicina a las 9
que no se nos olvide el regalo de mamá el sábado
no me dejes olvidar la reunión de las 4
hey, recuérdame esta noche sacar al perro
Porfa recuérdame mañana ir al banco
recuérdame llamar a la abuela cada domingo a las 12
apúntame un recordatorio para el jueves: dentista 17:30
haz que me acuerde de llamar a Pepe mañana
cada mañana a las 7 avísame de tomar la pastilla
el día 15 de cada mes recuérdame pagar el alquiler
""",
    "en": """
remind me to call Luis tomorrow at 8
remind me tomorrow at 8 to call Luis
Remind me at 5pm that the oven is on
remind me in 20 minutes to take the pizza out
remind me about the dentist on Friday at 9
Can you remind me to buy bread tomorrow?
could you please remind me to water the plants this evening?
please remind me to pay rent
I need you to remind me to take my pill at 22:00
I'd like you to remind me tomorrow at 9 about the meeting
don't let me forget to send the invoice on Monday
make sure I don't forget Ana's birthday on Friday
set a reminder for 5 pm to pick up the kids
set an alarm for 7 am
Set a reminder to call mum
create a reminder for tomorrow at 10: standup
wake me up at 6:30
ping me in 10 minutes
let me know at 5 to take the trash out
tell me at 5pm to leave
set a timer for 10 minutes
set a 5 minute timer
tomorrow at 8 remind me to call Luis
Every Monday at 9 remind me to take the bins out
every day at 22:00, remind me to take my pill
reminder: buy bread tomorrow at 9
remind me again in an hour
remind me tomorrow
remind me of this in 2 hours
remind me not to eat before the blood test tomorrow
hey keno, could you remind me to call Bob at 3?
I must not forget to call Ana tomorrow
remind me the day after tomorrow at 9 am that I have a doctor's appointment
remind me on December 3rd to renew the insurance
can u remind me tmrw to take the laundry out
could you remind me in half an hour to turn off the oven?
would you remind us on Sunday to call grandma?
give me a nudge at 6:45 to leave
drop me a reminder on Friday about the rent
remind me at noon to eat
don't let me forget the car inspection on Tuesday
Add a reminder: buy flowers on Friday
schedule a reminder every Sunday at 8pm to plan the week
set up a reminder for Monday to hand in the report
set me an alarm for 6:30 tomorrow
I need a reminder tomorrow at 9 to call the bank
get me up at 6
remind me every Tuesday at 7am to go to the gym
remind me every 8 hours to take the antibiotic
Friday afternoon, remind me to congratulate Marta
remind me that mum arrives on Thursday at 11
remind me to check the mail in two hours
remind me next week to book an appointment
Hi! Remind me at 4 about the meeting with Pedro
at 10pm remind me to switch off the heating
remind me to buy Ana's present before Friday
remind me on the last day of every month to send the invoice
I want you to remind me to drink water every hour
alert me at 3pm to pick up the kids
message me at 5 to walk the dog
please don't let me forget to call Joe at 4pm
remind me I have a dentist appointment tomorrow at 10
remind me Monday to pay rent
quick reminder to call Dad at 7
remind me later to call Bob
pls remind me 2 buy milk at 6
put a reminder on for 9 tomorrow to water the plants
remind me first thing tomorrow to call the school
can you give me a reminder tomorrow afternoon to pick up the parcel
could you remind me that I have English class at 6?
remind me half an hour before 8 to cook dinner
set alarm 7:15
alarm at 6:15 please
I want an alarm at 8
I need you to wake me up at 5:30
remind me on the 24th of December at 8pm to turn on the oven
remind me in a week to check the contract
remind me in 3 days to pay the fine
remind me at the end of the month to do the invoice
remind us every Friday afternoon to water the plants
don't let us forget mum's present on Saturday
remind me tonight to walk the dog
remind me to call grandma every Sunday at noon
put in a reminder for Thursday: dentist 17:30
remind me each morning at 7 to take the pill
on the 15th of every month remind me to pay the rent
hey can you remind me abt the gym at 6
just remind me tmrw at 9am, to send the email to Sarah
Remind me: dentist Tuesday 3pm
remind me when it's 5 to leave
remind me to leave at 5
remind me to wake up at 6
""",
}
OTHERS: dict[Language, str] = {
    "es": """
me recuerda a mi madre
me recuerdas a mi madre
me recuerdas mucho a mi hermana
recuérdame cuándo nació Ana
recuerdame cuando nacio ana
recuérdame qué hice ayer
recuérdame cómo se llama el médico
recuérdame el nombre del médico
recuérdame la dirección de Ana
recuérdame lo de Luis
recuérdame dónde aparqué
recuérdame siempre
esto me recuerda que mañana es fiesta
¿recuerdas lo que te dije mañana?
no me recuerdes eso
ayer me recordaste comprar pan
mi mujer me recuerda tomar la pastilla a las 10
le puse una alarma a las 7
avísame si llueve mañana
avísame cuando llegues
recuérdale a Ana que mañana hay cena
¿puedes recordarme cosas?
¿puedes poner recordatorios?
recuérdame si llamé a Luis
dime qué tengo mañana a las 9
dime un chiste
que no se te olvide quién soy
no olvides que vivo en Madrid
recuerda que vivo en Madrid
no me despiertes a las 7
quedé en llamar a Luis mañana a las 8
tengo que llamar a Luis mañana a las 8
cancela mi suscripción a Netflix
pasa a las 5 por casa
borra lo del dentista
recuérdame quién ganó el mundial en 2010
¿por qué no me avisaste a las 8?
ponlo en español
olvídalo
se me olvida siempre llamar a mi madre
recuérdame con cariño
no dejes que me olvide de ti
recuérdame la reunión de mañana
me recuerda mucho a cuando vivía en Sevilla
esa película me recuerda al verano
¿Me recuerdas?
recuérdame tu nombre
recuérdame de qué hablamos ayer
recuérdame quién viene mañana
recuérdame a qué hora es la cena
recuérdame en qué quedamos el lunes
recuérdame cuánto pagué el lunes por el gas
recuérdame por qué dejé el trabajo
recuérdame el plan de mañana
recuérdame los ingredientes de la paella
recuérdame mi número de teléfono
recuérdame lo que te dije ayer
¿te acuerdas de que mañana tengo médico?
acuérdate de que soy vegano
recuerda que mañana tengo dentista a las 10
Pedro me pidió que le recordara llamar a Luis
mi alarma suena a las 7
la alarma de las 7 no sonó
puse una alarma para las 7
no me olvido de llamar a mi madre nunca
se me olvidó llamar a Luis
que no se te olvide
cuando hablo de Lisboa me pongo triste
si hablo de política en la mesa, mi padre se enfada
avisa a Luis de que llego a las 8
avísame de cualquier cambio
me avisaron a las 5 de que no venían
¿A qué hora me avisas?
despiértame cuando acabe
hecho un lío
listo para salir
cancela la cena del viernes
borra el archivo
quita el del medio
salta el muro
pásalo a PDF
cámbialo a inglés
muévelo a la derecha
ponlo a las finas hierbas
pásame el libro el viernes
estoy en casa hasta las 8
dime a las claras qué piensas
dime el lunes qué tal te fue
mi hermana me recuerda los cumpleaños
recuérdame si tengo algo mañana
recuérdame eso que dijiste
tengo un recordatorio en la nevera
el recordatorio de ayer no llegó
recordatorios de Apple o de Google, ¿cuál es mejor?
me recordó a las 8 que tenía cita
recuérdame qué tengo mañana
¿qué me tienes que recordar mañana a las 8?
recuérdame la contraseña del wifi
recuérdame el cumpleaños de Ana
recuérdame dónde dejé las llaves ayer por la tarde
ayer te pedí que me recordaras llamar a Luis y no lo hiciste
gracias por recordarme lo de mañana
no hace falta que me avises mañana
no me pongas alarma
mi madre me despierta a las 7
el despertador suena a las 7
quiero que me recuerdes como era antes
recuérdame cuando sea vieja
me avisarán el lunes
avísame si mañana llueve
avísame en cuanto llegue el paquete
dime a qué hora sale el tren mañana
dime que me quieres
pasa el lunes por aquí
cancela la alarma de incendios
quita la alarma del coche
para el coche a las 8
he hecho la cena
""",
    "en": """
remind me of you
you remind me of my mother
That reminds me, I need milk
remind me what time lunch is
could you remind me what time lunch is?
remind me who Ana is
remind me where I live
remind me how to cook rice
remind me why we left
remind me when the train leaves
remind me of the address
remind me of Ana's birthday
remind me again what you said
can you remind me?
do you remember my mother?
remember to breathe
I reminded him to call at 8
she reminded me to buy bread yesterday
remind me never to drink again
don't remind me
my mum always reminds me to eat at 8
he set an alarm for 7
the reminder at 5 was late
your reminder came late
why didn't you remind me at 8?
you forgot to remind me
can you set reminders?
did you remind me to call Luis?
remind my wife to call at 8
If it rains tomorrow remind me to take an umbrella
remind me when I get home to feed the cat
alert me if the price drops
let me know when you're done
let me know what you think tomorrow
tell me a joke at 5
tell me about the war of 1812
wake me up before you go go
set the table for 7
I forgot to set an alarm for 7
this song reminds me of last Friday
remind me about Luis
remind me that I'm allergic to nuts
cancel my Netflix subscription
cancel the meeting tomorrow at 5
move to Madrid
move the sofa to the left
skip the intro
make it shorter
he moved it to Friday
how do I set a reminder on my iPhone?
me despierto a las 7
quita el volumen
pásalo bien
muévelo
when I mention the boiler, tell me a joke
cambia de tema
remind me of our conversation yesterday
remind me what we said on Monday
remind me when the meeting tomorrow is
remind me how much I paid for gas on Monday
remind me whether I have anything tomorrow
remind me your name
remind me which bus goes at 8
remind me where we are eating tomorrow at 8
remind me of the time we went to Rome
remind me of the plan for tomorrow
you remind me of Luis at 20
this reminds me to be grateful
nothing reminds me more of summer than melon
I need to remind Bob about Friday
I have a reminder on the fridge
the alarm at 7 didn't ring
I set an alarm for 7
she told me at 5 to leave
let me know if you can make it at 5
let me know by Friday what you decide
tell me tomorrow how it went
tell me at what time the train leaves
wake up at 7 every day
I wake up at 7
don't forget that I live in Paris
don't forget me
I forgot to call Luis
I never forget to call mum
remember that tomorrow at 10 I have the dentist
when I mention my ex I get sad
if I talk about politics, my dad gets angry
done with this job
all done here, thanks for asking about my day
took the train at 8
cancel the dinner on Friday
delete the file
drop the subject
move it to the left
move it to PDF
make it rain
push it to GitHub
change it to English
skip the queue
stop it
what reminders mean to a Buddhist
reminders are annoying
I'm in a meeting until 8
my timer broke at 5
set the oven timer to what?
set a trap for 7 mice
ping me if the server goes down
alert the team at 5
notify me about new features
avísale a Juan a las 8
cambia la bombilla
hecho a mano
listo
what was the reminder you set yesterday?
thanks for reminding me about tomorrow
no need to wake me at 7
don't wake me up tomorrow
tell Juan at 8 that I'm late
my mum wakes me up at 7
the alarm clock rings at 7
remind me how it was before
remind me when I'm old
they will let me know on Monday
let me know if it rains tomorrow
let me know as soon as the parcel arrives at 5
tell me when the train leaves tomorrow at 8
remind me of my appointment times
remind me what my appointment tomorrow is
the fire alarm at 5 scared me
cancel the fire alarm test
change the bulb
move over
stop the car at 8
push the commit to main at 5
postpone the wedding to June
reschedule the meeting to Monday
skip breakfast
make it better
finished my homework at 5
called Bob at 3, he says hi
I get a reminder every Monday at 9 from Google
set a reminder
the movie "Remind me tomorrow" is good
""",
}
