/**
 * A thread of built-in beacons that declare the same permissions.
 * @module
 */

import { pack, unpackValue } from "#lib/minion/worker/job_protocol.ts";
import { BEACONS } from "#modules/beacons/_built_in.ts";
import { serveThread, type ThreadHost } from "#lib/runtime/thread.ts";
import { isMap, type Value } from "#lib/values/value.ts";
import {
  type BeaconThreadInit,
  type FromBeacons,
  LookNote,
  parseToBeacons,
  type ToBeacons,
} from "./beacon_messages.ts";
import { BeaconRunner } from "./beacon_runner.ts";
import { messageOf } from "#lib/errors.ts";

/** The beacons of this thread, and the calls that they wait for. */
class BeaconService {
  readonly #host: ThreadHost;
  readonly #calls = new Map<number, PromiseWithResolvers<Value>>();
  readonly #runner: BeaconRunner;
  #asked = 0;

  constructor({ id, loopMs, permissions, note }: BeaconThreadInit, host: ThreadHost) {
    this.#host = host;
    const lookNote = new LookNote(note);
    this.#runner = new BeaconRunner({
      id,
      loopMs,
      permissions,
      table: BEACONS,
      log: host.log,
      call: (fun, args, kwargs) => {
        const asked = this.#asked++, answer = Promise.withResolvers<Value>();
        this.#calls.set(asked, answer);
        this.#post({ kind: "call", id: asked, fun, call: pack({ args, kwargs }) });
        return answer.promise;
      },
      send: (events) => this.#post({ kind: "found", events: pack(events) }),
      elsewhere: (name, declared) => this.#post({ kind: "elsewhere", name, permissions: declared }),
      once: (name) => this.#post({ kind: "once", name }),
      mistake: (name, text, runs) => this.#post({ kind: "mistake", name, text, runs }),
      begin: (name) => lookNote.begin(name),
    });
  }

  #post(message: FromBeacons): void {
    this.#host.post(message);
  }

  describe(): string {
    return this.#runner.describe();
  }

  receive(message: ToBeacons): void {
    switch (message.kind) {
      case "configure": {
        const beacons = unpackValue(message.beacons);
        this.#runner.configure(isMap(beacons) ? beacons : new Map(), message)
          .catch((error) => this.#host.log.error(`The beacons were not configured: ${messageOf(error)}`));
        return;
      }
      case "state_run":
        this.#runner.stateRun = message.running;
        return;
      case "result":
        return this.#settle(message.id)?.resolve(unpackValue(message.value));
      case "refused":
        return this.#settle(message.id)?.reject(new Error(message.reason));
    }
  }

  #settle(id: number): PromiseWithResolvers<Value> | undefined {
    const waiting = this.#calls.get(id);
    this.#calls.delete(id);
    return waiting;
  }

  close(): void {
    this.#runner.close();
  }
}

serveThread<BeaconThreadInit>((init, host) => {
  const service = new BeaconService(init, host);
  return Promise.resolve({
    describe: () => service.describe(),
    onMessage: (message) => service.receive(parseToBeacons(message)),
    close: () => Promise.resolve(service.close()),
  });
});
