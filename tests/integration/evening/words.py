"""What is said on the evening, in both languages: by the owner, by the model, and by the bot itself."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """The words of one language. page: its title and its text; document: lines of a PDF."""

    page: tuple[str, str]
    document: tuple[str, ...]
    owner: Mapping[str, str]
    model: Mapping[str, str]
    asked: str
    yes: str
    stopped: str
    tools: str
    down: str
    notice: str
    why: str


ENGLISH = Words(
    page=("Ferry to Formentera", "The last ferry to Formentera leaves at 21:15 from gate 4."),
    document=("Contract of Calle Mayor 4", "The rent is 650 euros."),
    owner={
        "hello": "Hello! I live in Ibiza and my dentist is Dr. Serra",
        "search": "Search for the ferry to Formentera, please",
        "read": "Read this page for me: {page}",
        "document": "What does my contract say about the rent?",
        "count": "Count the words of my notes with the shell",
        "tomorrow": "Ask the weather station for tomorrow",
        "past": "And what about last year?",
        "again": "Try last year once more",
        "list": "Write my list down",
        "long": "Start the long command",
        "tools": "/tools",
        "stop": "/stop",
        "why": "/why",
    },
    model={
        "hello": "Noted, hello.",
        "search": "This is what I found: {page}",
        "read": "The last one leaves at 21:15.",
        "document": "The rent is 650 euros.",
        "count": "They have five words.",
        "tomorrow": "It will be sunny.",
        "past": "The station broke off in the middle.",
        "again": "The station is away at the moment.",
        "list": "It is written.",
        "want": "I would like to do this.",
    },
    asked="May I run this? Words of others are on show here, and may be what asks for it. Yes or no.",
    yes="Yes",
    stopped="Stopped.",
    tools="Tools that are on: web_search, web_fetch, write_file, shell",
    down="- weather: cannot be used for …: it ended the connection…. Tools it had: 2",
    notice="⚠️ Something is not right with me:\n- The MCP server weather cannot be used: it ended the connection…. "
    "It is tried again by itself.",
    why='…Tools that were called for it:\n- write_file {"path": "list.txt", "text": "milk\\n"}: done',
)
SPANISH = Words(
    page=("Ferry a Formentera", "El último ferry a Formentera sale a las 21:15 de la puerta 4."),
    document=("Contrato de Calle Mayor 4", "El alquiler es de 650 euros."),
    owner={
        "hello": "¡Hola! Vivo en Ibiza y mi dentista es el Dr. Serra",
        "search": "Busca el ferry a Formentera, por favor",
        "read": "Léeme esta página: {page}",
        "document": "¿Qué dice mi contrato del alquiler?",
        "count": "Cuenta las palabras de mis notas con la consola",
        "tomorrow": "Pregunta a la estación por el tiempo de mañana",
        "past": "¿Y cómo fue el año pasado?",
        "again": "Prueba otra vez con el año pasado",
        "list": "Apunta mi lista, por favor",
        "long": "Lanza ya la orden larga",
        "tools": "/herramientas",
        "stop": "para",
        "why": "/porqué",
    },
    model={
        "hello": "Anotado, hola.",
        "search": "Esto es lo que encontré: {page}",
        "read": "El último sale a las 21:15.",
        "document": "El alquiler es de 650 euros.",
        "count": "Tienen cinco palabras.",
        "tomorrow": "Hará sol.",
        "past": "La estación se cortó a medias.",
        "again": "La estación no está en este momento.",
        "list": "Apuntada.",
        "want": "Quisiera hacer esto.",
    },
    asked="¿Puedo ejecutar esto? Aquí hay palabras de otros a la vista, y quizá sean ellas quienes lo piden. Sí o no.",
    yes="Sí",
    stopped="Parado.",
    tools="Herramientas activas: web_search, web_fetch, write_file, shell",
    down="- weather: no se puede usar desde hace …: cerró la conexión…. Herramientas que tenía: 2",
    notice="⚠️ Algo no va bien conmigo:\n- El servidor MCP weather no se puede usar: cerró la conexión…. "
    "Se vuelve a intentar solo.",
    why='…Herramientas que se usaron para ella:\n- write_file {"path": "list.txt", "text": "milk\\n"}: hecho',
)
