""" Fires events on the bus of a minion with Python Salt, and prints what it hears there as one line of JSON.

    python minion_bus.py CONFIGURATION_OF_THE_MINION
"""
import json
import sys

import salt.config
import salt.utils.event

opts = salt.config.minion_config(sys.argv[1])
heard = {}
with salt.utils.event.get_event("minion", opts=opts, listen=True) as bus:
    heard["fired"] = bus.fire_event({"n": 1, "text": "é"}, "my/tag")
    heard["own event"] = {
        key: value for key, value in (bus.get_event(wait=20, tag="my/tag") or {}).items() if key != "_stamp"
    }
    bus.fire_event({}, "pillar_refresh")
    done = "/salt/minion/minion_pillar_refresh_complete"
    heard["what the minion does"] = (bus.get_event(wait=60, tag=done) or {}).get("complete")
print(json.dumps(heard))
