/**
 * MWorkers that end in the middle of their work, of a master in this process: nobody can end a thread from outside.
 * @module
 */

import { RequestTimeoutError } from "../lib/errors.ts";
import { clearRequest } from "../lib/payload.ts";
import { RequestChannel } from "../lib/request_channel.ts";
import { map } from "../lib/value.ts";
import { eventually, startFleet } from "../tests/fleet.ts";
import { ObservedWorkers } from "../tests/observed_workers.ts";
import { opened } from "../tests/scripted_minion.ts";
import type { Fault, Figure } from "./fault.ts";

const LONG = { kills: 50 };
const SHORT = { kills: 5 };
const CLIENTS = 8;
/** How soon a client asks again, in milliseconds. */
const TRY_MS = 20_000;

/** See {@linkcode Fault}. */
export const killWorker: Fault = {
  name: "kill-worker",
  what: "an MWorker ends in the middle of its work, again and again, while clients ask",
  promise: "another takes its place, and what had come for it; the request in its hands is refused, no other fails",
  async run({ long, random, say }): Promise<Figure[]> {
    const { kills } = long ? LONG : SHORT;
    using workers = new ObservedWorkers();
    await using fleet = await startFleet();
    let running = true, answered = 0, refused = 0, silent = 0, lost = 0;
    const ask = async (channel: RequestChannel) => {
      for (let attempt = 0; attempt < 5; attempt++) {
        try {
          const reply = opened(
            await channel.request(clearRequest(map({ cmd: "ping" })), { timeoutMs: TRY_MS, tries: 1 }),
          );
          if (typeof reply !== "string") return void answered++;
          refused++;
        } catch (error) {
          if (!(error instanceof RequestTimeoutError)) throw error;
          silent++;
        }
      }
      lost++;
    };
    const clients = Array.from({ length: CLIENTS }, async () => {
      using channel = new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
      while (running) await ask(channel);
    });
    for (let kill = 1; kill <= kills; kill++) {
      const before = answered;
      await eventually(() => answered > before + 50, { what: "answers" });
      const name = `MWorker-${random.int(2)}`;
      const count = workers.count(name);
      workers.kill(name);
      await eventually(() => workers.count(name) > count, { what: `a new ${name}` });
    }
    running = false;
    await Promise.all(clients);
    say(`${answered} requests answered`);
    return [
      { name: "kills", value: kills },
      { name: "requests answered", value: answered },
      { name: "refused, and asked again", value: refused, atMost: kills },
      { name: "without an answer, and asked again", value: silent, atMost: 0 },
      { name: "never answered", value: lost, atMost: 0 },
    ];
  },
};
