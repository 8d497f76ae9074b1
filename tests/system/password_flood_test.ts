/**
 * A flood of wrong passwords keeps nobody out: a real master, and strangers who guess at full speed.
 * @module
 */

import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { isMap, map, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";
import { opened } from "#tests/support/fleet/scripted_minion.ts";

const PASSWORD = "correct-horse-battery";
// More than an MWorker can hold, for each of the two.
const STRANGERS = 600;
/** Right passwords, one after the other. */
const SIGN_INS = 12;
/** Each is accepted within this time: a second for each check before it would be far more. */
const SOON_MS = 10_000;

const directory = Deno.makeTempDirSync({ prefix: "users_" });
Deno.writeTextFileSync(`${directory}/users`, `fred:${PASSWORD}\n`);

function channelTo(fleet: Fleet): RequestChannel {
  return new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
}

async function signIn(channel: RequestChannel, password: string): Promise<Value> {
  const load = { cmd: "mk_token", eauth: "file", username: "fred", password };
  return opened(await channel.request(clearRequest(map(load)), { timeoutMs: WITHIN_MS, tries: 1 }));
}

fleetTest("while 600 connections send wrong passwords, every right password is accepted within seconds", {
  minions: [],
  master: { external_auth: { file: { "^filename": `${directory}/users`, fred: ["test.*"] } }, worker_threads: 2 },
}, async (fleet) => {
  const flood = new AbortController();
  let wrong = 0;
  const guess = async () => {
    using channel = channelTo(fleet);
    while (!flood.signal.aborted) {
      const answer = await signIn(channel, "wrong");
      assert(!isMap(answer) || !answer.has("token"), repr(answer));
      wrong++;
    }
  };
  const strangers = Promise.all(Array.from({ length: STRANGERS }, guess));
  try {
    // Each MWorker has failures that are delayed.
    while (wrong < STRANGERS) assertEquals(await signInOnce(fleet), "a token");
    for (let i = 0; i < SIGN_INS; i++) {
      const since = performance.now();
      assertEquals(await signInOnce(fleet), "a token", `sign-in ${i}, after ${wrong} wrong passwords`);
      assert(performance.now() - since < SOON_MS, `sign-in ${i} took ${Math.round(performance.now() - since)} ms`);
    }
  } finally {
    flood.abort();
    await strangers;
    Deno.removeSync(directory, { recursive: true });
  }
});

/** Signs in; a user who is told that there are too many attempts tries again. */
async function signInOnce(fleet: Fleet): Promise<string> {
  using channel = channelTo(fleet);
  for (const since = performance.now();;) {
    const answer = await signIn(channel, PASSWORD);
    if (isMap(answer) && typeof answer.get("token") === "string") return "a token";
    if (!repr(answer).includes("Try again") || performance.now() - since > SOON_MS) return repr(answer);
  }
}
