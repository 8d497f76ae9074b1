/**
 * `no_log`: searches for a secret of a job's arguments and return in everything that a fleet writes and sends, while
 * the job runs and afterwards; and tests the rules of the option one by one.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { packEvent } from "#lib/bus/event.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { hideReturn, showReturn } from "#lib/protocol/hidden_return.ts";
import { minionCommand } from "#lib/master/requests/minion_commands.ts";
import { MASK } from "#lib/protocol/no_log.ts";
import { publishCommand } from "#lib/master/requests/publish.ts";
import { ReturnKey, sealReturn } from "#lib/protocol/return_key.ts";
import { KeyError } from "#lib/errors.ts";
import { runSalt } from "#lib/commands/programs/salt.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";
import { filesBelow, ifThere } from "#tests/support/tree.ts";

const CANARY = "canary-3f9c1b7e";
const HIDDEN = "canary-00no00log";
const TALKATIVE = { log_level_logfile: "all" };
const latin = new TextDecoder("latin1");

/** The files below `directory` that hold `text`. */
function* holding(text: string, directory: string): Generator<string> {
  for (const path of filesBelow(directory)) {
    const bytes = ifThere(() => Deno.readFileSync(path));
    if (bytes !== undefined && latin.decode(bytes).includes(text)) yield path;
  }
}

const names = (directory: string) => [...Deno.readDirSync(directory)].map(({ name }) => name);

Deno.test("a no_log job leaves its secret in no log, cache, event and file, and the operator sees the result", async () => {
  await using fleet = await ProcessFleet.start({
    minions: 1,
    master: TALKATIVE,
    minion: { ...TALKATIVE, cache_jobs: true },
  });
  const { root, masterOpts } = fleet;
  using events = await EventSubscriber.connect(masterBus(masterOpts.sock_dir).pub, [""]);

  // Without no_log the secret is found: this shows that the search covers the right places.
  await fleet.salt("salt", "m00", "cmd.run", `echo ${CANARY}`);
  assert([...holding(CANARY, root)].length >= 2);

  const shown: [words: string[], within: string][] = [
    [["m00", "cmd.run", `echo ${HIDDEN}`], HIDDEN],
    [["--static", "--out=json", "m00", "test.arg", HIDDEN, `key=${HIDDEN}`], HIDDEN],
    [["m00", "test.exception", HIDDEN], HIDDEN],
    [["m00", "cmd.run", `echo ${HIDDEN} >&2; exit 3`], HIDDEN],
    [["m00", "test.ping", "unwanted", HIDDEN], "Passed invalid arguments"],
    [["m00", "test.ping,cmd.run", ",", `echo ${HIDDEN}`], HIDDEN],
    [["--batch=1", "m00", "cmd.run", `echo ${HIDDEN}`], HIDDEN],
  ];
  for (const [words, within] of shown) {
    const ran = await fleet.salt("salt", "-l", "info", "--no-log", ...words);
    assertStringIncludes(ran.out, within, `${words.join(" ")}: ${ran.err}`);
  }
  const source = `${root}.txt`;
  Deno.writeTextFileSync(source, HIDDEN);
  try {
    for (const words of [[], ["--chunked", "-n"]]) {
      const copied = await fleet.salt("salt-cp", ...words, "--no-log", "m00", source, `${root}.copy`);
      assertEquals([copied.code, Deno.readTextFileSync(`${root}.copy`)], [0, HIDDEN], copied.err);
    }
  } finally {
    for (const path of [source, `${root}.copy`]) Deno.removeSync(path);
  }
  // A job that no client waits for, while it runs.
  const gate = `${root}/gate`;
  const waiting = `while [ ! -e ${gate} ]; do sleep 0.05; done; echo ${HIDDEN}`;
  assertEquals((await fleet.salt("salt", "--async", "--no-log", "m00", "cmd.run", waiting)).code, 0);
  const proc = `${fleet.minionCacheDir("m00")}/proc`;
  await eventually(() => names(proc).length > 0, { what: "a job that runs" });
  assertEquals([...holding(HIDDEN, root)], []);
  const running = await fleet.salt("salt", "--out=json", "--static", "m00", "saltutil.running");
  assertStringIncludes(running.out, MASK);
  assert(!running.out.includes(HIDDEN), running.out);
  Deno.writeTextFileSync(gate, "");
  await eventually(() => names(proc).length === 0, { what: "its end" });

  const called = await fleet.saltCall("m00", "--no-log", "cmd.run", `echo ${HIDDEN}`);
  assertStringIncludes(called.out, HIDDEN, called.err);

  const all = fleet.jobs.list();
  // the earlier job, the batch's ping, salt-cp twice, async, running, salt-call
  assertEquals(all.length, 1 + shown.length + 6);
  for (const { jid, load } of all) {
    if (!isMap(load.get("kwargs") ?? null) || load.get("fun") === "test.ping") continue;
    if (latin.decode(packEvent("", load)).includes(CANARY) || load.get("fun") === "saltutil.running") continue;
    assertEquals(load.get("arg"), [MASK]);
    assertEquals(fleet.jobs.getReturn(jid, "m00")?.return, MASK, String(load.get("fun")));
  }
  let received = "";
  for (let event = await events.next(500); event !== undefined; event = await events.next(500)) {
    received += latin.decode(packEvent(event.tag, event.data));
  }
  assertEquals([...holding(HIDDEN, root)], []);
  assert(
    received.includes(CANARY) && received.includes(MASK) && !received.includes(HIDDEN),
    "a secret on the event bus",
  );
});

Deno.test("a waiting no_log job survives the master, and is never unencrypted on a disk", async () => {
  const master = { ...TALKATIVE, job_ttl: 600 };
  await using fleet = await ProcessFleet.start({ minions: 1, master, minion: TALKATIVE });
  await fleet.stopMinion("m00");
  const proof = `${fleet.root}/${HIDDEN}`;
  assertEquals((await fleet.salt("salt", "--async", "--no-log", "m00", "cmd.run", `touch ${proof}`)).code, 0);
  await eventually(() => names(`${fleet.cacheDir}/undelivered`).length === 1, { what: "the job on disk" });
  await fleet.killMaster();
  assertEquals([...holding(HIDDEN, fleet.root)], []);
  await fleet.startMaster();
  await fleet.startMinion("m00");
  await eventually(() => names(fleet.root).includes(HIDDEN), { what: "the job to be delivered" });
  await eventually(() => names(`${fleet.cacheDir}/undelivered`).length === 0, { what: "its sign" });
  assertEquals([...holding(HIDDEN, fleet.root)], []);
});

/** Services with an accepted minion, and a publish to it. */
async function site(kwargs: Record<string, unknown>): Promise<{ services: TestServices; jid: string; reply: Value }> {
  const services = await testServices();
  services.auth.keys.put("web1", "accepted", (await testKey("web1")).publicKey.pem);
  const load = { cmd: "publish", tgt: "*", tgt_type: "glob", fun: "test.arg", arg: [HIDDEN], ret: "", jid: "" };
  const key = services.accessKeys.get("root");
  const reply = await publishCommand(map({ ...load, user: "root", key, kwargs }), services);
  return { services, jid: services.stored.list()[0]?.jid ?? "", reply };
}

Deno.test("a minion without no_log returns in clear, and the master stores and publishes the mask", async () => {
  const key = await ReturnKey.create();
  const { services, jid } = await site({ no_log: key.publicKey, live: true });
  using _ = services;
  assertEquals(services.published[0].get("arg"), [HIDDEN]);
  assertEquals(services.published[0].has("live"), false);
  const load = { cmd: "_return", id: "web1", jid, fun: "test.arg", fun_args: [HIDDEN], retcode: 0, success: true };
  const returned = map({ ...load, return: HIDDEN });
  for (const forged of [returned, new Map([...returned, ["return", "another"]])]) {
    await minionCommand(forged, "web1", services);
  }
  assertEquals(services.stored.getReturn(jid, "web1"), { return: MASK, retcode: 0, success: true });
  const firedText = services.fired.map(({ tag, data }) => latin.decode(packEvent(tag, data))).join("");
  assert(!firedText.includes(HIDDEN) && firedText.includes(MASK));
  const event = services.fired.find(({ tag }) => tag.endsWith("/ret/web1"));
  assertEquals((await showReturn(event?.data ?? new Map(), key)).get("return"), HIDDEN);
  // Another process of this master does not share the memory of the job, but obeys the same mark.
  assertEquals(services.logged.filter((line) => line.includes(HIDDEN)), []);
});

Deno.test("any value of no_log other than a clear no hides a job", async () => {
  for (const wish of [true, 1, "yes", "f".repeat(63), ["x"]]) {
    const { services, jid } = await site({ no_log: wish });
    using _ = services;
    assertEquals(services.stored.getLoad(jid)?.get("arg"), [MASK], String(wish));
    assertEquals(services.stored.noLog.reader(jid), "");
  }
  for (const wish of [false, null, 0, ""]) {
    const { services, jid } = await site({ no_log: wish });
    using _ = services;
    assertEquals([services.stored.getLoad(jid)?.get("arg"), services.stored.noLog.reader(jid)], [
      [HIDDEN],
      undefined,
    ]);
  }
});

Deno.test("a no_log job that cannot be marked is not published", async () => {
  const services = await testServices();
  using _ = services;
  services.auth.keys.put("web1", "accepted", (await testKey("web1")).publicKey.pem);
  Deno.writeTextFileSync(`${services.opts.cachedir}/jobs`, "no directory");
  const load = { cmd: "publish", tgt: "*", tgt_type: "glob", fun: "test.arg", arg: [HIDDEN], ret: "", jid: "" };
  const who = { user: "root", key: services.accessKeys.get("root") };
  const reply = await publishCommand(map({ ...load, ...who, kwargs: { no_log: true } }), services);
  assert(reply.has("error"));
  assertEquals([services.published, services.fired], [[], []]);
});

Deno.test("only the requester can decrypt a sealed return, and a forged return ends no wait", async () => {
  const [reader, other] = [await ReturnKey.create(), await ReturnKey.create()];
  const value = map({ out: HIDDEN, n: 1 });
  const hidden = await hideReturn(map({ return: value, fun_args: [HIDDEN], retcode: 0, sig: "x" }), reader.publicKey);
  assertEquals([hidden.get("return"), hidden.get("fun_args"), hidden.has("sig")], [MASK, [MASK], false]);
  assertEquals((await showReturn(hidden, reader)).get("return"), value);
  assertEquals((await showReturn(hidden, other)).get("return"), MASK);
  const sealed = await sealReturn(value, reader.publicKey);
  for (let at = 0; at < sealed.length; at += 17) {
    const changed = sealed.slice();
    changed[at] ^= 1;
    assertEquals((await showReturn(map({ return: MASK, sealed: changed }), reader)).get("return"), MASK, `byte ${at}`);
  }
  for (const size of [0, 1, 31, 32, 33, 100]) {
    const forged = map({ return: MASK, sealed: new Uint8Array(size) });
    assertEquals((await showReturn(forged, reader)).get("return"), MASK, `${size} bytes`);
  }
  const shown = map({ return: value });
  assertEquals(await showReturn(shown, reader), shown);
  await assertRejects(() => sealReturn(value, "no key"), KeyError);
  // A public key with which no shared secret can be computed.
  await assertRejects(() => sealReturn(value, "0".repeat(64)));
  assertEquals((await hideReturn(map({ return: value }), "0".repeat(64))).has("sealed"), false);
});

Deno.test("--no-log cannot be combined with --live and --return, which store the hidden values", async () => {
  for (const [other, reason] of [["--live", "--live"], ["--return=mysql", "--return"]]) {
    let message = "";
    const io = {
      write: () => {},
      writeError: (text: string) => message += text,
      isTerminal: false,
      isErrorTerminal: false,
      readStdin: () => Promise.resolve(""),
      signal: new AbortController().signal,
    };
    assertEquals(await runSalt(["--no-log", other, "web1", "test.ping"], io), 64);
    assertStringIncludes(message, `--no-log cannot go with ${reason}`);
  }
});
