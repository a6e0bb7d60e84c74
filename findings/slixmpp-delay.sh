#!/bin/sh
# slixmpp gives the last of a message's delays (XEP-0203), which is not when the message was sent.
# A server that cannot bring a message puts a delay behind those that are there: Prosody 0.12.3 (mod_offline.lua) one for
# each time that a client dies before it acknowledges the message. So its date moves, and is no part of what it is known by.
# Exits 0 while that is so, 1 once it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check slixmpp==1.17.0
cd "$folder"
"$folder/venv/bin/python" - <<'END'
import sys
from importlib.metadata import version
from xml.etree import ElementTree

from slixmpp import Message
from slixmpp.plugins.xep_0203 import stanza
from slixmpp.xmlstream import register_stanza_plugin

register_stanza_plugin(Message, stanza.Delay)
delays = "".join(f'<delay xmlns="urn:xmpp:delay" stamp="2026-11-28T{hour}:00:00Z"/>' for hour in (10, 12))
text = f'<message xmlns="jabber:client"><body>hello</body>{delays}</message>'
stamp = Message(xml=ElementTree.fromstring(text))["delay"]["stamp"]
print("slixmpp", version("slixmpp"), "sent at 10:00, brought again at 12:00, dated", stamp)
sys.exit(stamp.hour != 12)
END
