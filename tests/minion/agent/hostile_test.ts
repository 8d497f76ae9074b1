/**
 * A real minion with a hostile master.
 * @module
 */

import { generateKeyString } from "#lib/crypto/crypticle.ts";
import { loadMinionConfig } from "#lib/config/load.ts";
import { dumpJson } from "#lib/values/json.ts";
import { Minion } from "#lib/minion/agent/minion.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, repr, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { MasterKeys, memoryLog, type ReceivedRequest, ScriptedMaster } from "#tests/support/fleet/scripted_master.ts";

interface MinionFixture extends AsyncDisposable {
  readonly master: ScriptedMaster;
  readonly minion: Minion;
  readonly lines: string[];
  /** The received returns. */
  readonly returns: ReceivedRequest[];
  /**
   * Publishes a job.
   * @returns Its id.
   */
  publish(changes?: Record<string, unknown>): Promise<string>;
  /** Waits for a return. */
  returned(jid: string): Promise<ReceivedRequest>;
}

let serial = 0;
let jids = 0;

async function start(
  changes: Record<string, unknown> = {},
  prepare?: (master: ScriptedMaster) => void,
): Promise<MinionFixture> {
  const root = Deno.makeTempDirSync({ prefix: "hostile_" });
  const master = await ScriptedMaster.start(await MasterKeys.make());
  prepare?.(master);
  Deno.mkdirSync(`${root}/etc/salt`, { recursive: true });
  const config = {
    root_dir: root,
    id: "web1",
    master: "127.0.0.1",
    master_port: Number(master.address.split(":").at(-1)),
    acceptance_wait_time: 0.1,
    auth_timeout: 60,
    return_retry_timer: 0,
    return_retry_timer_max: 0,
    request_channel_timeout: 60,
    ...changes,
  };
  Deno.writeTextFileSync(`${root}/etc/salt/minion`, dumpJson(toValue(config)));
  const { opts } = loadMinionConfig({ configDir: `${root}/etc/salt` });
  for (const path of [opts.pki_dir, opts.cachedir, opts.sock_dir]) Deno.mkdirSync(path, { recursive: true });
  const { log, lines } = memoryLog();
  const minion = await Minion.start(opts, log);
  minion.closed.catch(() => {});
  await eventually(() => lines.some((line) => line.startsWith("INFO Signed in")), { what: "a sign-in" });
  const returns = () => master.requests.filter(({ cmd }) => cmd === "_return");
  const fixture: MinionFixture = {
    master,
    minion,
    lines,
    get returns() {
      return returns();
    },
    async publish(changes = {}) {
      const jid = `2026010100000001${String(++jids).padStart(4, "0")}`;
      const load = {
        fun: "test.ping",
        arg: [],
        tgt: "*",
        jid,
        ret: "",
        tgt_type: "glob",
        user: "root",
        serial: ++serial,
      };
      await master.publish(master.keys.publish({ ...load, ...changes }));
      return jid;
    },
    returned: (jid) =>
      eventually(() => returns().find(({ load }) => load.get("jid") === jid), { what: `the return of ${jid}` }),
    async [Symbol.asyncDispose]() {
      await minion.close();
      await master[Symbol.asyncDispose]();
      Deno.removeSync(root, { recursive: true });
    },
  };
  // The subscription works when a job is received.
  await eventually(async () => {
    await fixture.publish({ fun: "test.echo", arg: ["hello"] });
    return returns().length > 0;
  }, { what: "a first job", everyMs: 300 });
  return fixture;
}

const HOSTILE: readonly Value[] = [
  null,
  "load",
  [1],
  map({ jid: "../../etc/passwd", fun: "test.ping", arg: [], tgt: "*" }),
  map({ jid: "20260101000000990001", fun: "test.ping", tgt: "*" }),
  map({ jid: "20260101000000990002", fun: "test.ping", arg: {}, tgt: "*" }),
];

Deno.test("each hostile publish adds one log line, and the next job is run", async () => {
  await using fixture = await start();
  const { master, lines } = fixture;
  const frames = [
    new Uint8Array(),
    new Uint8Array([0xc1]),
    new Uint8Array(100_000).fill(0x91),
    encode("x", "wire"),
    encode(map({ enc: "clear", load: {} }), "wire"),
    ...HOSTILE.map((value) => master.keys.publish({}, { value })),
  ];
  const before = lines.length;
  for (const frame of frames) await master.publish(frame);
  await fixture.returned(await fixture.publish({ jid: undefined }).then(() => fixture.publish()));
  const dropped = lines.slice(before).filter((line) => line.startsWith("ERROR Dropped a publish"));
  assertEquals(dropped.length, frames.length + 1);
  assert(dropped.every((line) => !line.includes("\n")));
});

Deno.test("unusual functions and arguments fail only their own job", async () => {
  await using fixture = await start();
  const odd: readonly (readonly [fun: unknown, arg: unknown[], says: string])[] = [
    [5, [], "'5' is not available"],
    [null, [], "'None' is not available"],
    [{ a: 1 }, [], "is not available"],
    ["", [], "is not available"],
    ["test.constructor", [], "is not available"],
    ["__proto__.x", [], "is not available"],
    ["../modules/test.ping", [], "is not available"],
    ["test.ping", [1, 2, 3], "Passed invalid arguments to test.ping"],
    ["test.echo", [{ __kwarg__: true, nope: 1 }], "ERROR executing 'test.echo'"],
  ];
  for (const [fun, arg, says] of odd) {
    const { load } = await fixture.returned(await fixture.publish({ fun, arg }));
    assertEquals([load.get("success"), load.get("retcode")], [false, 1]);
    assertStringIncludes(repr(load.get("return") ?? null), says);
  }
  const { load } = await fixture.returned(await fixture.publish({ fun: ["test.ping"], arg: ["no list"] }));
  assertEquals(load.get("jid") !== undefined, true);
});

Deno.test("a publish under a new key makes the minion sign in once, and is then run", async () => {
  await using fixture = await start();
  const { master } = fixture;
  const before = master.count("_auth");
  master.keys.sharedKey = generateKeyString();
  serial = 0;
  await fixture.returned(await fixture.publish());
  assertEquals(master.count("_auth"), before + 1);
  assertEquals(fixture.lines.filter((line) => line.startsWith("ERROR")), []);
});

Deno.test("a publish under a wrong key makes the minion sign in once, and is dropped; the next job is run", async () => {
  await using fixture = await start();
  const { master, lines } = fixture;
  const before = master.count("_auth");
  await master.publish(master.keys.publish({ fun: "test.ping" }, { sharedKey: generateKeyString() }));
  await fixture.returned(await fixture.publish());
  assertEquals(master.count("_auth"), before + 1);
  assertEquals(lines.filter((line) => line.startsWith("ERROR Dropped a publish")).length, 1);
});

Deno.test("a replay is not run", async () => {
  await using fixture = await start();
  const frame = fixture.master.keys.publish({
    fun: "test.ping",
    arg: [],
    tgt: "*",
    jid: "20260101000000880001",
    serial: ++serial,
  });
  await fixture.master.publish(frame);
  await fixture.returned("20260101000000880001");
  await fixture.master.publish(frame);
  await fixture.returned(await fixture.publish());
  assertEquals(fixture.returns.filter(({ load }) => load.get("jid") === "20260101000000880001").length, 1);
});

Deno.test("a publish without a job id is not run, also not when it is repeated", async () => {
  await using fixture = await start();
  const { master, lines } = fixture;
  const load = { fun: "test.ping", arg: [], tgt: "*", ret: "", tgt_type: "glob", user: "root" };
  for (const changes of [{}, { jid: "" }, { jid: null }, { jid: "req" }, { jid: "x" }]) {
    const frame = master.keys.publish({ ...load, serial: ++serial, ...changes });
    await master.publish(frame);
    await master.publish(frame);
  }
  await fixture.returned(await fixture.publish());
  const odd = fixture.returns.filter(({ load }) => !/^2026010100000001\d{4}$/.test(String(load.get("jid"))));
  assertEquals(odd, []);
  assertEquals(lines.filter((line) => line.includes("Dropped a publish")).length, 10);
});

Deno.test("if a master does not answer events, returns and pillar requests for a while, no return is lost and the minion keeps running", async () => {
  let deaf = 2; // a refused request is repeated after a sign-in
  await using fixture = await start({ request_channel_timeout: 1 }, (master) => {
    master.script = (request) =>
      request.cmd === "_pillar" && deaf-- > 0 ? encode("bad load", "wire") : master.honest(request);
  });
  const { master, lines } = fixture;
  await eventually(
    () => lines.some((line) => line.startsWith("ERROR The pillar stays empty until it is refreshed: ")),
    {
      what: "the line about the pillar",
    },
  );
  const answers = [undefined, encode("bad load", "wire"), encode("Some exception handling minion payload", "wire")];
  let left = [...answers, ...answers];
  master.script = (request) => request.cmd === "_return" && left.length > 0 ? left.shift() : master.honest(request);
  const jids = [await fixture.publish(), await fixture.publish()];
  await eventually(() => left.length === 0, { what: "six refusals" });
  for (const jid of jids) await fixture.returned(jid);
  left = [];
  assertEquals(lines.filter((line) => line.startsWith("CRITICAL")), []);
  await fixture.returned(await fixture.publish());
});

Deno.test("a return that the master never answers, such as one too large for an older master, does not delay others", async () => {
  await using fixture = await start({ request_channel_timeout: 1, request_channel_tries: 1 });
  const { master } = fixture;
  let tries = 0;
  master.script = (request) => {
    if (request.cmd === "ping") return request.frame;
    if (request.load.get("return") !== "mute") return master.honest(request);
    tries++;
    return undefined;
  };
  await fixture.publish({ fun: "test.echo", arg: ["mute"] });
  await eventually(() => tries > 0, { what: "a first try" });
  for (let i = 0; i < 3; i++) await fixture.returned(await fixture.publish());
  assert(tries >= 2 && tries <= 20, `${tries} tries`);
});
