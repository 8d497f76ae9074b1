/**
 * Arguments of 400 bytes that stand for 9 ** 10 values, in each command that takes arguments from a minion or a client,
 * on a running master: an answer or a refusal at once, and the next request is answered.
 * @module
 */

import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { makeNonce, opened, ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";

/** A list of 400 characters that stands for 9 ** 10 texts. */
const ALIASES = `[${
  Array.from({ length: 10 }, (_, i) => `&a${i} [${Array.from({ length: 9 }, () => i ? `*a${i - 1}` : "x").join(",")}]`)
    .join(",")
}]`;
const ARGUMENT = `text=${ALIASES}`;
/** Each answer comes within this time, in milliseconds: many times what it takes. */
const SOON_MS = 5_000;

const directory = Deno.makeTempDirSync({ prefix: "users_" });
Deno.writeTextFileSync(`${directory}/users`, "fred:secret\n");
const LOGIN = { eauth: "file", username: "fred", password: "secret" };

const FROM_MINIONS = [
  { cmd: "minion_pub", fun: "test.echo", arg: [ARGUMENT], tgt: "*", tgt_type: "glob", ret: "", tmo: 1 },
  { cmd: "minion_publish", fun: "test.echo", arg: [ARGUMENT], tgt: "*", tgt_type: "glob", ret: "", tmo: 1 },
  { cmd: "minion_runner", fun: "test.arg", arg: [ARGUMENT] },
];
const FROM_USERS = [
  {
    cmd: "publish",
    fun: "test.echo",
    arg: [ARGUMENT],
    tgt: "*",
    tgt_type: "glob",
    ret: "",
    user: "fred",
    kwargs: LOGIN,
  },
  { cmd: "runner", fun: "test.arg", arg: [ARGUMENT], ...LOGIN },
  { cmd: "wheel", fun: "key.finger", arg: [ALIASES], ...LOGIN },
];

fleetTest("arguments whose aliases stand for billions of values stop no worker, in any command of minions and users", {
  minions: [],
  master: {
    worker_threads: 1,
    peer: { ".*": ["test.*"] },
    peer_run: { ".*": ["test.*"] },
    external_auth: { file: { "^filename": `${directory}/users`, fred: ["test.*", "@runner", "@wheel"] } },
  },
}, async (fleet) => {
  try {
    using channel = new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
    const ask = (frame: Uint8Array) => channel.request(frame, { timeoutMs: SOON_MS, tries: 1 });
    const clear = async (load: Record<string, unknown>): Promise<Value> => opened(await ask(clearRequest(map(load))));
    const ping = async (after: string) => {
      const nonce = makeNonce();
      const reply = await clear({ cmd: "ping", nonce });
      assert(isMap(reply), after);
      assertEquals(reply.get("nonce"), nonce, after);
    };
    const minion = new ScriptedMinion("web1", await testKey("web1"), ask);
    await minion.signIn();
    for (const load of FROM_MINIONS) {
      await minion.request(load);
      await ping(load.cmd);
    }
    for (const load of FROM_USERS) {
      await clear(load);
      await ping(load.cmd);
    }
    assertEquals(fleet.logs.filter((line) => line.includes("CRITICAL")), []);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});
