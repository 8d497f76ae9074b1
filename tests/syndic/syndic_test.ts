/**
 * Our syndic below our master: a top, a master below it with a minion, and the syndic between them.
 * @module
 */

import { MIN_KEY_BITS } from "#lib/crypto/key_bits.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { messageOf, PreflightError } from "#lib/errors.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { createLogger, SILENT_LOGGER } from "#lib/runtime/log.ts";
import { Syndic } from "#lib/syndic/syndic.ts";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Fleet, type FleetOptions } from "#tests/support/fleet/fleet.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { copyKeys } from "#tests/support/fleet/masters.ts";

/** A top, and a master below it. */
interface Layers {
  readonly top: Fleet;
  readonly low: Fleet;
  /** Starts the syndic; resolves when the top has its start event. */
  startSyndic(): Promise<Syndic>;
}

function layersTest(
  name: string,
  { top: topOptions = {}, low: lowOptions = {} }: { readonly top?: FleetOptions; readonly low?: FleetOptions },
  run: (layers: Layers) => Promise<void>,
): void {
  Deno.test(name, async () => {
    await using top = new Fleet({
      ...topOptions,
      master: { order_masters: true, syndic_wait: 2, ...topOptions.master },
    });
    await using low = new Fleet(lowOptions);
    await top.startMaster();
    await low.startMaster();
    await low.untilServing(["web1"], () => low.startMinion("web1"));
    const minion = low.minionOpts("s1");
    const started: Syndic[] = [];
    const startSyndic = async () => {
      using events = await top.listen("salt/syndic/s1/start");
      const opts = {
        ...low.masterOpts,
        syndic_master: [`127.0.0.1:${top.masterOpts.ret_port}`],
        syndic_event_forward_timeout: 0.1,
      };
      const syndic = await Syndic.start(opts, minion, SILENT_LOGGER);
      syndic.closed.catch((error) => low.logs.push(`syndic ended: ${messageOf(error)}`));
      started.push(syndic);
      if (await events.next(30_000) === undefined) throw new Error("the syndic did not start");
      return syndic;
    };
    try {
      await run({ top, low, startSyndic });
    } catch (error) {
      const logs = [...top.logs.map((line) => `top ${line}`), ...low.logs.map((line) => `low ${line}`)];
      throw new Error(`${messageOf(error)}\n\nLogs:\n${logs.sort().slice(-80).join("\n")}`, { cause: error });
    } finally {
      await Promise.all(started.map((syndic) => syndic.close()));
    }
  });
}

layersTest("a job of the top runs below, and its return comes once to both masters", {}, async ({
  top,
  low,
  startSyndic,
}) => {
  await startSyndic();
  using returns = await top.listen("salt/job/");
  const { code, out } = await top.salt("--out=json", "web1", "test.echo", "hello");
  assertEquals([code, JSON.parse(out)], [0, { web1: "hello" }]);
  const tags: string[] = [];
  for (let event = await returns.next(2_000); event !== undefined; event = await returns.next(1_000)) {
    if (/\/ret\/web1$/.test(event.tag)) tags.push(event.tag);
  }
  assertEquals(tags.length, 1);
  const jid = tags[0].split("/")[2];
  for (const fleet of [top, low]) {
    const { cachedir, hash_type } = fleet.masterOpts;
    const store = jobStore(cachedir, { hashType: hash_type });
    assertEquals(store.getReturn(jid, "web1")?.return, "hello");
    assertEquals(store.getLoad(jid)?.get("Minions"), ["web1"]);
  }
});

layersTest("'*' does not wait for the syndic itself, and a target that matches nowhere is named", {}, async ({
  top,
  startSyndic,
}) => {
  await startSyndic();
  await top.salt("web1", "test.ping");
  const all = await top.salt("--out=json", "*", "test.ping", "-t", "20");
  assertEquals([all.code, JSON.parse(all.out)], [0, { web1: true }]);
  const none = await top.salt("nobody", "test.ping", "-t", "3");
  assertEquals(none.code, 2);
  assertStringIncludes(none.out + none.err, "No minions matched the target");
});

layersTest("a job below that runs longer than the time-out is asked about, and waited for", {}, async ({
  top,
  startSyndic,
}) => {
  await startSyndic();
  const { code, out } = await top.salt(
    "--out=json",
    "-t",
    "2",
    "web1",
    "cmd.run",
    "sleep 7; echo late",
    "python_shell=true",
  );
  assertEquals([code, JSON.parse(out)], [0, { web1: "late" }]);
});

layersTest("a return waits while the top is away", {}, async ({ top, low, startSyndic }) => {
  await startSyndic();
  const path = `${low.root}/go`;
  const { out } = await top.salt(
    "--async",
    "web1",
    "cmd.run",
    `while [ ! -e ${path} ]; do sleep 0.1; done; echo done`,
    "python_shell=true",
  );
  const jid = /\d{20}/.exec(out)?.[0] ?? "";
  await eventually(() => low.logs.some((line) => line.includes("Executing command 'while'")), { what: "the command" });
  await top.stopMaster();
  Deno.writeTextFileSync(path, "");
  await eventually(() => low.logs.some((line) => line.includes(`web1 returned cmd.run (jid ${jid})`)), {
    what: "the return",
  });
  await top.startMaster();
  const { cachedir, hash_type } = top.masterOpts;
  await eventually(() => jobStore(cachedir, { hashType: hash_type }).getReturn(jid, "web1")?.return === "done", {
    what: "the return at the top",
  });
});

layersTest("only ids that syndics names may return for others, and never for an id with a key at the top", {
  top: { master: { syndics: ["other"] } },
}, async ({ top, startSyndic }) => {
  await startSyndic();
  await top.salt("--async", "web1", "test.ping");
  await eventually(
    () => top.logs.some((line) => line.includes("Minion s1 sent returns of other minions, which it may not")),
    {
      what: "the refusal",
    },
  );
});

layersTest("a syndic without a top does not start, and one top that refuses it keeps it from no other", {}, async ({
  top,
  low,
}) => {
  const minion = low.minionOpts("s1", { acceptance_wait_time: 1 }), messages: string[] = [];
  const log = createLogger([{ level: 0, write: ({ message }) => void messages.push(message), close: () => {} }]);
  const start = (tops: string[]) =>
    Syndic.start({ ...low.masterOpts, syndic_master: tops, syndic_event_forward_timeout: 0.1 }, minion, log);
  for (const none of [[], ["top:port"]]) {
    await assertRejects(() => start(none), PreflightError, "syndic_master names no master");
  }
  assertStringIncludes(messages.join("\n"), "syndic_master: ");
  await using other = new Fleet({ master: { order_masters: true } });
  // Masters that a syndic serves have one key pair, as those of a minion.
  copyKeys(top, other);
  await other.startMaster();
  const store = new KeyStore(other.masterOpts.pki_dir);
  store.put("s1", "rejected", (await PrivateKey.generate(MIN_KEY_BITS)).publicKey.pem);
  const syndic = await start([top, other].map(({ masterOpts }) => `127.0.0.1:${masterOpts.ret_port}`));
  try {
    const refusal = `127.0.0.1:${other.masterOpts.ret_port} is not served, and tried again in 1 seconds`;
    await eventually(() => messages.some((line) => line.includes(refusal)), { what: "the refusal" });
    assertEquals(JSON.parse((await top.salt("--out=json", "web1", "test.ping")).out), { web1: true });
    assertMatch((await syndic.describeThreads()).join("\n"), /: connected\n.*: signing in/);
    store.remove("s1");
    await eventually(async () => (await syndic.describeThreads()).every((line) => line.endsWith(": connected")), {
      what: "the second sign-in",
    });
    assertEquals(JSON.parse((await other.salt("--out=json", "web1", "test.ping")).out), { web1: true });
  } finally {
    await syndic.close();
  }
});
