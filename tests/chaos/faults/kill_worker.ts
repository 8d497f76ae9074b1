/**
 * Ends MWorkers of a master in this process: threads cannot be ended from outside. Every second one ends in the middle
 * of its work, in a system call (tests/support/fleet/hanging_worker.ts); the rest end at any point, mostly between two
 * requests.
 * @module
 */

import { clearRequest } from "#lib/protocol/payload.ts";
import type { Frames } from "#lib/sockets/libzmq.ts";
import { isMap, map } from "#lib/values/value.ts";
import { eventually } from "#tests/support/eventually.ts";
import { HangingFleet, unknownMinionSignIn } from "#tests/support/fleet/hanging_worker.ts";
import { ObservedWorkers } from "#tests/support/threads/observed_workers.ts";
import { makeNonce, opened } from "#tests/support/fleet/scripted_minion.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { Peer } from "#tests/support/fleet/peer.ts";

const LONG = { kills: 50 };
const SHORT = { kills: 6 };
const CLIENTS = 8;
/** Time after which a client repeats a request, in milliseconds. */
const TRY_MS = 20_000;

/** The outcomes of the clients' requests. */
interface Counts {
  answered: number;
  /** Requests answered with an error, and repeated. */
  refused: number;
  /** Requests not answered in {@linkcode TRY_MS}, and repeated. */
  silent: number;
  /** Further answers to the same request. */
  twice: number;
}

/** Sends one request after the other, and receives every message: a REQ socket would hide unexpected ones. */
async function keepAsking(address: string, counts: Counts, goOn: () => boolean): Promise<void> {
  using peer = Peer.dealer({ highWaterMark: 0 });
  peer.connect(address);
  while (goOn()) {
    const nonce = makeNonce();
    await peer.send([new Uint8Array(), clearRequest(map({ cmd: "ping", nonce }))]);
    let outcome = outcomeOf(await peer.receive(TRY_MS), nonce);
    for (; outcome === "twice"; outcome = outcomeOf(await peer.receive(TRY_MS), nonce)) counts.twice++;
    counts[outcome]++;
  }
}

function outcomeOf(frames: Frames | undefined, nonce?: string): keyof Counts {
  if (frames === undefined) return "silent";
  const value = opened(frames.at(-1) ?? new Uint8Array());
  if (!isMap(value)) return "refused";
  return value.get("nonce") === nonce ? "answered" : "twice";
}

/** See {@linkcode Fault}. */
export const killWorker: Fault = {
  name: "kill-worker",
  what:
    "an MWorker ends in the middle of its work or between two requests, again and again, while clients send requests",
  promise:
    "another one replaces it and takes its queued requests; the request that it handled is answered with an error, once; no other fails",
  async run({ long, random, say }): Promise<Figure[]> {
    const { kills } = long ? LONG : SHORT;
    using workers = new ObservedWorkers();
    await using hanging = await HangingFleet.start();
    const address = `tcp://127.0.0.1:${hanging.fleet.masterOpts.ret_port}`;
    const counts: Counts = { answered: 0, refused: 0, silent: 0, twice: 0 };
    let running = true;
    const clients = Array.from({ length: CLIENTS }, () => keepAsking(address, counts, () => running));
    const kill = async (name: string) => {
      const count = workers.count(name);
      workers.kill(name);
      await eventually(() => workers.count(name) > count, { what: `a new ${name}` });
    };
    using stranger = Peer.dealer({ highWaterMark: 0 });
    stranger.connect(address);
    let heldAndRefused = 0;
    for (let n = 1; n <= kills; n++) {
      const before = counts.answered;
      await eventually(() => counts.answered > before + 50, { what: "answers" });
      if (n % 2 === 0) {
        await kill(`MWorker-${random.int(2)}`);
        continue;
      }
      await stranger.send([new Uint8Array(), await unknownMinionSignIn()]);
      await kill(await hanging.hanging());
      if (outcomeOf(await stranger.receive(TRY_MS)) === "refused") heldAndRefused++;
      // The thread continues after it was replaced; messages that it still sends are received before the next answer,
      // or at the end.
      hanging.release();
    }
    running = false;
    await Promise.all(clients);
    while (await stranger.receive(1_000) !== undefined) counts.twice++;
    say(`${counts.answered} requests answered`);
    const held = Math.ceil(kills / 2);
    return [
      { name: "kills", value: kills },
      { name: "of these, in the middle of a request", value: held },
      { name: "of these, answered with an error", value: heldAndRefused, atLeast: held },
      { name: "requests answered", value: counts.answered },
      { name: "answered with an error, and repeated", value: counts.refused, atMost: kills - held },
      { name: "without an answer, and repeated", value: counts.silent, atMost: 0 },
      { name: "answered twice", value: counts.twice, atMost: 0 },
    ];
  },
};
