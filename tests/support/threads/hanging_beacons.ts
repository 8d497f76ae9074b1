/**
 * A thread of beacons in which the beacon `hangs` computes for ever, one whose name begins with `dies` ends the thread,
 * `once` has run once, `silent` finds nothing, `junk` says what is no message, and each other one sends an event.
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
        if (name.startsWith("dies")) return void setTimeout(() => reportError(new Error(`the fault of ${name}`)));
        if (name === "junk") host.post({ kind: "none" });
        else if (name === "once") host.post({ kind: "once", name });
        else if (name === "silent") host.post({ kind: "found", events: pack([]) });
        else host.post({ kind: "found", events: pack([map({ tag: name })]) });
      }
    },
    close: () => Promise.resolve(),
  })
);
