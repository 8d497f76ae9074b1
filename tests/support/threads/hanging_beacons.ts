/**
 * A thread of beacons in which the beacon `hangs` computes for ever, and each other one sends an event.
 * @module
 */

import { type BeaconThreadInit, LookNote, parseToBeacons } from "#lib/minion/beacons/beacon_messages.ts";
import { pack, unpackValue } from "#lib/minion/worker/job_protocol.ts";
import { serveThread } from "#lib/runtime/thread.ts";
import { isMap, map, str } from "#lib/values/value.ts";

serveThread<BeaconThreadInit>(({ note }, host) =>
  Promise.resolve({
    describe: () => "watching",
    onMessage(given) {
      const message = parseToBeacons(given);
      if (message.kind !== "configure") return;
      const beacons = unpackValue(message.beacons);
      const names = isMap(beacons) ? [...beacons.keys()].map(str) : [];
      for (const name of names.filter((one) => !message.stopped.includes(one))) {
        new LookNote(note).begin(name);
        if (name === "hangs") { for (;;) Math.random(); }
        host.post({ kind: "found", events: pack([map({ tag: name })]) });
      }
    },
    close: () => Promise.resolve(),
  })
);
