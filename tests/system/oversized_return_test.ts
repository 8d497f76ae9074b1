/**
 * Returns that are larger than the master accepts (`max_request_bytes`): the job fails with that reason, and the minion
 * continues.
 * @module
 */

import { jobStore } from "#tests/support/fleet/job_store.ts";
import { RequestTimeoutError } from "#lib/errors.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";
import { runOn, startJob } from "#tests/support/fleet/jobs.ts";
import { ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";

const LIMIT = 65_536;
const SMALL = { master: { max_request_bytes: LIMIT }, minions: ["web1"] };
/** Writes 200,000 bytes; no two lines are equal. */
const LARGE = "seq -w 100000 128570";

/** The return of the only minion, from `salt --static --out=json`. */
async function shown(fleet: Fleet, ...words: string[]): Promise<Value> {
  const all = await fleet.saltJson("web1", ...words);
  return isMap(all) ? all.get("web1") ?? null : all;
}

const jobs = ({ masterOpts: { cachedir, hash_type } }: Fleet) => jobStore(cachedir, { hashType: hash_type });
const cachedir = (fleet: Fleet) => `${fleet.minionConfigDir("web1")}/var/cache/salt/minion`;

fleetTest(
  "a return above max_request_bytes becomes a failure with that reason, at once, and the minion continues",
  SMALL,
  async (fleet) => {
    const job = await startJob(fleet, "cmd.run", { tgt: "web1", arg: [LARGE] });
    const [answer] = await job.done;
    if (answer.kind !== "returned") throw new Error("no return came");
    const text = str(answer.return);
    assert(/too large for the master: [0-9]{6} bytes, and it takes 65536 \(max_request_bytes\)/.test(text), text);
    assertStringIncludes(text, `saltutil.kept_return ${job.jid}`);
    const stored = jobs(fleet).getReturn(job.jid, "web1");
    assertEquals([stored?.retcode, stored?.success], [1, false]);
    assertStringIncludes((await fleet.saltRun("jobs.outcomes", job.jid, "--out=json")).out, '"failed"');
    assertEquals(await runOn(fleet, "web1", "test.ping"), true);
    // The beginning can be requested, in pieces.
    const expected = Array.from({ length: 28_571 }, (_, i) => 100_000 + i).join("\n");
    const piece = (await runOn(fleet, "web1", "saltutil.kept_return", job.jid)) as string;
    assertEquals(piece, expected.slice(0, piece.length));
    assertEquals(piece.length, 16_384);
    assertEquals(
      await runOn(fleet, "web1", "saltutil.kept_return", job.jid, "offset=7000", "size=6"),
      expected.slice(7_000, 7_006),
    );
    // The master's log names the minion and the job.
    const warnings = fleet.logs.filter((line) => line.includes("master: [WARNING") && line.includes(job.jid));
    assertEquals(warnings.length, 1, warnings.join("\n"));
    assertStringIncludes(warnings[0], "The return of web1");
    const dir = `${cachedir(fleet)}/kept_returns`;
    assertEquals([(Deno.statSync(dir).mode ?? 0) & 0o777, (Deno.statSync(`${dir}/${job.jid}.p`).mode ?? 0) & 0o777], [
      0o700,
      0o600,
    ]);
    await eventually(() => [...Deno.readDirSync(`${cachedir(fleet)}/returns`)].length === 0, {
      what: "an empty spool",
    });
  },
);

fleetTest(
  "test.echo of more than half of max_request_bytes is returned completely: the return omits the arguments",
  SMALL,
  async (fleet) => {
    const text = "x".repeat(40_000);
    assertEquals(await runOn(fleet, "web1", "test.echo", text), text);
    // A return that cannot be sent at all fails at once.
    const refused = await fleet.salt("web1", "test.echo", "x".repeat(LIMIT));
    assertEquals(refused.code, 64);
    assertStringIncludes(refused.err, "the master takes 65536 (max_request_bytes)");
    assertEquals(await shown(fleet, "test.ping"), true);
  },
);

fleetTest("a minion's own max_request_bytes applies if the master sends no limit or a larger one", {
  minions: ["web1"],
  minion: { max_request_bytes: LIMIT },
}, async (fleet) => {
  assertStringIncludes(str(await shown(fleet, "cmd.run", LARGE)), "and it takes 65536 (max_request_bytes)");
  assertEquals(await shown(fleet, "test.ping"), true);
});

fleetTest(
  "a no_log return that is too large is not stored unencrypted, and the operator gets the failure",
  SMALL,
  async (fleet) => {
    const ran = await fleet.salt("--no-log", "--out=json", "--static", "web1", "cmd.run", LARGE);
    assertStringIncludes(ran.out, "too large for the master");
    assertEquals(await shown(fleet, "test.ping"), true);
    assertEquals(await shown(fleet, "saltutil.kept_returns"), []);
    for (const { name } of Deno.readDirSync(cachedir(fleet))) assert(name !== "kept_returns", name);
  },
);

fleetTest("events, live output and salt-call's return that are too large are reported, and the minion continues", {
  ...SMALL,
  minion: { live_output_rate: 100_000_000 },
}, async (fleet) => {
  const called = await fleet.saltCall("web1", "event.send", "my/tag", `blob=${"z".repeat(100_000)}`);
  assertStringIncludes(called.out, "False");
  assertStringIncludes(called.err, "max_request_bytes");
  // Output that a command writes in pieces of 64 KB is sent in batches that fit.
  const live = await fleet.salt(
    "--live",
    "web1",
    "cmd.run",
    "head -c 60000 /dev/zero | tr '\\0' '\\377'; echo; echo the end",
  );
  assertStringIncludes(live.out, "the end");
  const echoed = await fleet.saltCall("web1", "cmd.run", LARGE);
  assertStringIncludes(echoed.out, "128570");
  assertStringIncludes(echoed.err, "max_request_bytes");
  await eventually(
    () =>
      jobs(fleet).list().some(({ jid, load }) =>
        load.get("fun") === "cmd.run" &&
        str(jobs(fleet).getReturn(jid, "web1")?.return ?? "").includes("too large for the master")
      ),
    { what: "the failure of salt-call's return" },
  );
  assertEquals(await shown(fleet, "test.ping"), true);
});

fleetTest(
  "the master's log names the address of a minion that does not know the limit, such as older and Python minions",
  SMALL,
  async (fleet) => {
    const old = new ScriptedMinion("web1", await testKey("old"), (frame) => ask(fleet, frame));
    fleet.keys.put("web1", "accepted", old.key.publicKey.pem);
    await old.signIn();
    const frame = old.seal({ cmd: "_return", jid: makeJid(), fun: "test.echo", return: "x".repeat(5_000_000) });
    const warnings = () => fleet.logs.filter((line) => line.includes("in the middle of a message"));
    // Without a reply the minion would time out and send again. The connection is older than the request, like a
    // minion's.
    for (let tries = 0; tries < 10 && warnings().length === 0; tries++) {
      using channel = new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
      for (let i = 0; i < 3; i++) {
        await channel.request(clearRequest(map({ cmd: "ping" })), { timeoutMs: 60_000, tries: 1 });
      }
      await assertRejects(() => channel.request(frame, { timeoutMs: 1_000, tries: 1 }), RequestTimeoutError);
    }
    assertEquals(warnings().length, 1);
    assert(
      /A connection of 127\.0\.0\.1 \(there is web1\) to ret_port was closed in the middle of a message: larger than max_request_bytes \(65536\)/
        .test(warnings()[0]),
      warnings()[0],
    );
  },
);

fleetTest(
  "a client that connects, sends a request and disconnects is not reported as having sent too much",
  SMALL,
  async (fleet) => {
    for (let i = 0; i < 100; i++) await ask(fleet, clearRequest(map({ cmd: "ping" })));
    assertEquals(await shown(fleet, "test.ping"), true);
    assertEquals(fleet.logs.filter((line) => line.includes("in the middle of a message")), []);
  },
);

async function ask(fleet: Fleet, frame: Uint8Array, timeoutMs = 60_000): Promise<Uint8Array> {
  using channel = new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
  return await channel.request(frame, { timeoutMs, tries: 1 });
}
