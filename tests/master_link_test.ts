/** @module */
import { type Backoff, backoff } from "../lib/backoff.ts";
import { Crypticle, generateKeyString } from "../lib/crypticle.ts";
import { AuthenticationError, RequestTimeoutError, SignInError, WireError } from "../lib/errors.ts";
import { MasterLink, type SignInPatience } from "../lib/master_link.ts";
import { encode } from "../lib/msgpack.ts";
import { asBytes } from "../lib/payload.ts";
import type { RequestPatience } from "../lib/request_channel.ts";
import { PrivateKey } from "../lib/rsa.ts";
import { map, type Value, type ValueMap } from "../lib/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "./assert.ts";
import { eventually } from "./eventually.ts";
import {
  applicant,
  keptLog,
  type Lies,
  MasterKeys,
  type PillarLies,
  type Script,
  ScriptedMaster,
  TEST_KEY_BITS,
} from "./scripted_master.ts";
import { AT_ONCE_MS } from "./time.ts";

const [minion, stranger, masterKey] = await Promise.all(
  Array.from({ length: 3 }, () => PrivateKey.generate(TEST_KEY_BITS)),
);

/** Nobody listens there. */
const NOWHERE = "tcp://127.0.0.1:1";

const PATIENCE: SignInPatience = {
  authTimeoutMs: 2_000,
  authTries: 2,
  masterTries: -1,
  acceptanceWaitMs: 10,
  acceptanceWaitMaxMs: 0,
  rejectedRetry: false,
  rejectedWaitMs: [10, 20],
  failOnPending: false,
};

interface World extends AsyncDisposable {
  readonly master: ScriptedMaster;
  readonly link: MasterLink;
  readonly lines: string[];
  readonly never: AbortSignal;
  /** A request, and what came of it. */
  ask(load?: ValueMap): Promise<Value>;
}

interface WorldOptions {
  readonly script?: (honest: Script, master: ScriptedMaster) => Script;
  readonly patience?: Partial<SignInPatience>;
  readonly backoff?: Backoff;
  readonly requestPatience?: RequestPatience;
  readonly address?: string;
  readonly signMessages?: boolean;
}

async function start(options: WorldOptions = {}): Promise<World> {
  const master = await ScriptedMaster.start(new MasterKeys(masterKey));
  if (options.script !== undefined) master.script = options.script(master.honest, master);
  const pkiDir = Deno.makeTempDirSync({ prefix: "link_" });
  const { log, lines } = keptLog();
  const link = new MasterLink({
    address: options.address ?? master.address,
    applicant: applicant(minion, pkiDir),
    patience: { ...PATIENCE, ...options.patience },
    backoff: options.backoff ?? backoff({ leastMs: 10, mostMs: 50, randomize: true }),
    requestPatience: options.requestPatience ?? { timeoutMs: 5_000, tries: 1 },
    signMessages: options.signMessages ?? false,
    log,
  });
  const never = new AbortController().signal;
  return {
    master,
    link,
    lines,
    never,
    ask: (load = map({ cmd: "_return", jid: "1" })) => link.request(load, never),
    async [Symbol.asyncDispose]() {
      link.close();
      await master[Symbol.asyncDispose]();
      Deno.removeSync(pkiDir, { recursive: true });
    },
  };
}

/** Answers sign-ins with these lies, one after the other, then honestly. */
function signInsWith(...lies: Lies[]) {
  return (honest: Script, master: ScriptedMaster): Script => {
    const left = [...lies];
    return (asked) => {
      const lie = asked.cmd === "_auth" ? left.shift() : undefined;
      return lie === undefined ? honest(asked) : master.keys.signIn(asked.load, lie);
    };
  };
}

/** Answers everything but sign-ins so. */
function requestsWith(
  answer: (asked: Parameters<Script>[0], honest: Script, master: ScriptedMaster) => Uint8Array | undefined,
) {
  return (honest: Script, master: ScriptedMaster): Script => (asked) =>
    asked.cmd === "_auth" ? honest(asked) : answer(asked, honest, master);
}

const PENDING: Lies = { ret: true };
const REJECTED: Lies = { ret: false };
const FULL: Lies = { ret: "full" };
const WRONG: Lies = { signer: stranger };

Deno.test("a minion whose key is pending asks again until it is accepted, and says that it waits", async () => {
  await using world = await start({ script: signInsWith(PENDING, PENDING) });
  const credentials = await world.link.signIn(world.never);
  assertEquals(credentials, world.link.credentials);
  assertEquals(world.master.count("_auth"), 3);
  const text = "ERROR The Salt Master has cached the public key for this node, this salt minion will wait for " +
    "0.01 seconds before attempting to re-authenticate. To accept it, on the master: salt-key -a web1";
  assertEquals(world.lines.filter((line) => line.startsWith("ERROR")), [text, text]);
});

Deno.test("the wait doubles up to acceptance_wait_time_max, if that is larger", async () => {
  await using world = await start({
    script: signInsWith(PENDING, FULL, PENDING, PENDING),
    patience: { acceptanceWaitMaxMs: 30 },
  });
  await world.link.signIn(world.never);
  const waits = world.lines.map((line) => / (0\.\d+) seconds/.exec(line)?.[1]).filter((wait) => wait !== undefined);
  assertEquals(waits, ["0.01", "0.02", "0.03", "0.03"]);
});

Deno.test("a rejected minion ends with 77 after its wait", async () => {
  await using world = await start({ script: signInsWith(PENDING, REJECTED), patience: { rejectedWaitMs: [50, 60] } });
  const started = performance.now();
  const error = await assertRejects(() => world.link.signIn(world.never), SignInError, "rejected");
  assertEquals(error.exitCode, 77);
  assert(performance.now() - started >= 50);
});

Deno.test("a rejected minion with rejected_retry asks again", async () => {
  await using world = await start({ script: signInsWith(REJECTED, REJECTED), patience: { rejectedRetry: true } });
  await world.link.signIn(world.never);
  assertEquals(world.master.count("_auth"), 3);
});

for (
  const [name, lie, patience] of [
    ["pending", PENDING, {}],
    ["not taken because the master is full", FULL, {}],
    ["rejected, with rejected_retry,", REJECTED, { rejectedRetry: true }],
  ] as const
) {
  Deno.test(`salt-call gives up with 2 when its key is still ${name} after one wait`, async () => {
    await using world = await start({
      script: signInsWith(lie, lie, lie),
      patience: { failOnPending: true, ...patience },
    });
    const error = await assertRejects(() => world.link.signIn(world.never), SignInError, "has the minion key been");
    assertEquals([error.exitCode, world.master.count("_auth")], [2, 2]);
    assertEquals(world.lines.filter((line) => line.startsWith("ERROR")).length, 1);
  });
}

Deno.test("a master that is silent is asked auth_tries times, master_tries rounds, then it is over", async () => {
  await using world = await start({
    script: () => () => undefined,
    patience: { authTimeoutMs: 60, authTries: 3, masterTries: 2 },
  });
  const error = await assertRejects(() => world.link.signIn(world.never), SignInError, "Unable to sign_in to master");
  assertEquals(error.exitCode, 1);
  const frames = world.master.asked.map(({ frame }) => frame.toHex());
  // The tries of a round repeat the same bytes, each on a connection of its own.
  assertEquals([frames.length, new Set(frames).size], [6, 2]);
});

Deno.test("a minion waits for a master that is not there yet", async () => {
  const probe = await ScriptedMaster.start(new MasterKeys(masterKey));
  const { address } = probe;
  const port = Number(address.split(":").at(-1));
  await probe[Symbol.asyncDispose]();
  await using world = await start({ address, patience: { authTimeoutMs: 50, authTries: 1 } });
  const signingIn = world.link.signIn(world.never);
  await eventually(() => world.lines.some((line) => line.includes("No master answers at tcp://127.0.0.1:")), {
    withinMs: 10_000,
    what: "a word that nobody is there",
  });
  await using _master = await ScriptedMaster.start(new MasterKeys(masterKey), { ports: { request: port, publish: 0 } });
  await signingIn;
});

Deno.test("a liar is not asked in a tight loop, and does not keep the real master out", async () => {
  await using world = await start({
    script: signInsWith(WRONG, WRONG, WRONG),
    patience: { authTimeoutMs: 100 },
  });
  const started = performance.now();
  await world.link.signIn(world.never);
  // A timer that is set after milliseconds of work counts from before it: three times 100 ms are some less.
  assert(performance.now() - started >= 150, `asked four times in ${performance.now() - started} ms`);
  const refusals = world.lines.filter((line) => line.startsWith("CRITICAL Refused the answer of tcp://127.0.0.1:"));
  assertEquals(refusals.length, 3);
});

Deno.test("a liar, nonsense and garbage are refused for good when the tries are over", async () => {
  const nonsense = [encode("bad load", "wire"), new Uint8Array([0xc1]), new Uint8Array()];
  for (const frame of nonsense) {
    await using world = await start({ script: () => () => frame, patience: { authTimeoutMs: 20, masterTries: 1 } });
    const error = await assertRejects(() => world.link.signIn(world.never), SignInError, "Unable to sign_in to master");
    assertEquals(error.exitCode, 1);
  }
});

Deno.test("sign-ins at the same time are one", async () => {
  await using world = await start();
  const all = await Promise.all([1, 2, 3].map(() => world.link.signIn(world.never)));
  assertEquals(all.every((credentials) => credentials === all[0]), true);
  assertEquals(world.master.count("_auth"), 1);
});

const LONG: Partial<SignInPatience> = {
  authTimeoutMs: 20_000,
  acceptanceWaitMs: 20_000,
  rejectedWaitMs: [20_000, 20_000],
};
const WAITS: readonly (readonly [during: string, options: WorldOptions, asked: number])[] = [
  ["the wait for an answer", { script: () => () => undefined }, 1],
  ["the wait for acceptance", { script: signInsWith(PENDING) }, 1],
  ["the wait of a full master", { script: signInsWith(FULL) }, 1],
  ["the wait of a rejected minion", { script: signInsWith(REJECTED) }, 1],
  ["the wait after a liar", { script: signInsWith(WRONG) }, 1],
  ["the wait for a master that is not there", { address: NOWHERE }, 0],
];
for (const [during, options, asked] of WAITS) {
  for (const how of ["abort", "close"] as const) {
    Deno.test(`${how} ends a sign-in at once, without a complaint, in ${during}`, async () => {
      await using world = await start({ ...options, patience: LONG });
      const controller = new AbortController();
      const reason = new Error("it is over");
      const ended = assertRejects(() => world.link.signIn(controller.signal));
      await eventually(() => world.master.asked.length >= asked, { withinMs: 10_000, what: "a sign-in" });
      // What the master answered has been said by now, or is about to be.
      await eventually(() => asked === 0 || options.script === WAITS[0][1].script || world.lines.length > 0, {
        withinMs: 10_000,
        what: "a word on the answer",
      });
      const said = world.lines.length;
      const started = performance.now();
      if (how === "abort") controller.abort(reason);
      else world.link.close();
      const error = await ended;
      assert(performance.now() - started < AT_ONCE_MS, `took ${performance.now() - started} ms`);
      if (how === "abort") assertEquals<unknown>(error, reason);
      assertEquals(world.lines.slice(said), []);
    });
  }
}

Deno.test("a request carries its fields, then nonce, ts, id and tok; its reply is opened", async () => {
  await using world = await start({
    script: requestsWith(({ load }, _honest, master) => master.keys.reply(load, map({ got: 1.5 }))),
  });
  assertEquals<Value>(await world.ask(map({ cmd: "_return", jid: "1" })), map({ got: 1.5 }));
  const [, { load }] = world.master.asked;
  assertEquals([...load.keys()], ["cmd", "jid", "nonce", "ts", "id", "tok"]);
  assertEquals(load.get("id"), "web1");
  assert(Math.abs(Number(load.get("ts")) - Date.now() / 1000) < 5);
  const token = asBytes(load.get("tok")) ?? new Uint8Array();
  assertEquals(new TextDecoder().decode(minion.publicKey.recoverX931(token)), "salt");
});

Deno.test("minion_sign_messages signs everything but nonce, tok and the signature itself", async () => {
  await using world = await start({ signMessages: true });
  await world.ask(map({ cmd: "_return", jid: "1" }));
  const [, { load }] = world.master.asked;
  const sig = asBytes(load.get("sig")) ?? new Uint8Array();
  for (const key of ["nonce", "tok", "sig"]) load.delete(key);
  assert(minion.publicKey.verify("PKCS1v15-SHA1", encode(load, "disk"), sig));
});

const BAD_LOAD = encode("bad load", "wire");
/** A reply that is refused: after one new sign-in and one more try. */
const BAD_REPLIES: readonly (readonly [
  what: string,
  reply: (master: ScriptedMaster, load: ValueMap) => Uint8Array,
  error: new (...args: never[]) => Error,
])[] = [
  ["bad load", () => BAD_LOAD, AuthenticationError],
  [
    "another nonce",
    ({ keys }, load) => keys.reply(new Map(load).set("nonce", "0".repeat(32)), null),
    AuthenticationError,
  ],
  ["no nonce", ({ keys }) => encode(new Crypticle(keys.sessionKey).dumps(null), "wire"), AuthenticationError],
  [
    "another key",
    (_, load) => encode(new Crypticle(generateKeyString()).dumps(null, String(load.get("nonce"))), "wire"),
    AuthenticationError,
  ],
  [
    "the shared key",
    ({ keys }, load) => encode(new Crypticle(keys.sharedKey).dumps(null, String(load.get("nonce"))), "wire"),
    AuthenticationError,
  ],
  ["a map", () => encode(map({ error: "x" }), "wire"), WireError],
  ["None", () => encode(null, "wire"), WireError],
  ["no msgpack", () => new Uint8Array([0xc1]), WireError],
  ["nothing", () => new Uint8Array(), WireError],
];
for (const [what, reply, error] of BAD_REPLIES) {
  Deno.test(`a reply of ${what} brings one new sign-in and one more try, then it is refused`, async () => {
    await using world = await start({ script: requestsWith(({ load }, _honest, master) => reply(master, load)) });
    await assertRejects(() => world.ask(), error);
    assertEquals([world.master.count("_auth"), world.master.asked.length], [2, 4]);
  });
}

Deno.test("after bad load the request goes out again under the keys of the new sign-in", async () => {
  await using world = await start();
  await world.link.signIn(world.never);
  // A master that has lost its session keys.
  world.master.keys.sessionKey = generateKeyString();
  assertEquals(await world.ask(), null);
  assertEquals(world.master.asked.map(({ cmd }) => cmd), ["_auth", "", "_auth", "_return"]);
  assertEquals(await world.ask(), null);
  assertEquals(world.master.asked.length, 5);
});

Deno.test("a request before the first sign-in signs in", async () => {
  await using world = await start();
  assertEquals(await world.ask(), null);
  assertEquals(world.master.asked.map(({ cmd }) => cmd), ["_auth", "_return"]);
});

Deno.test("a key that was rejected meanwhile ends a request with what the sign-in says", async () => {
  await using world = await start({
    script: (honest, master) => {
      let signedIn = false;
      return (asked) => {
        if (asked.cmd !== "_auth") return BAD_LOAD;
        const reply = signedIn ? master.keys.signIn(asked.load, REJECTED) : honest(asked);
        signedIn = true;
        return reply;
      };
    },
  });
  const error = await assertRejects(() => world.ask(), SignInError);
  assertEquals(error.exitCode, 77);
});

Deno.test("a request that nobody answers fails in time, and the next one is answered", async () => {
  let silent = true;
  await using world = await start({
    script: requestsWith((asked, honest) => silent ? undefined : honest(asked)),
    requestPatience: { timeoutMs: 60, tries: 2 },
  });
  await assertRejects(() => world.ask(), RequestTimeoutError);
  assertEquals(world.master.asked.length, 3);
  silent = false;
  assertEquals(await world.ask(), null);
});

Deno.test("abort ends a request at once", async () => {
  await using world = await start({ script: requestsWith(() => undefined) });
  const controller = new AbortController();
  await world.link.signIn(world.never);
  const ended = assertRejects(() => world.link.request(map({ cmd: "x" }), controller.signal), Error, "enough");
  await eventually(() => world.master.asked.length === 2, { withinMs: 10_000, what: "the request" });
  const started = performance.now();
  controller.abort(new Error("enough"));
  await ended;
  assert(performance.now() - started < AT_ONCE_MS);
});

Deno.test("a sign-in does not wait for a request that a restarted master will never answer; that goes out again", async () => {
  let lost = true;
  await using world = await start({
    script: requestsWith((asked, honest) => lost ? undefined : honest(asked)),
    requestPatience: { timeoutMs: 30_000, tries: 1 },
  });
  await world.link.signIn(world.never);
  const asking = world.ask();
  await eventually(() => world.master.count("_return") === 1, { withinMs: 10_000, what: "the request" });
  lost = false;
  world.master.keys.sharedKey = generateKeyString();
  await world.link.signIn(world.never);
  assertEquals(await asking, null);
  assertEquals(world.master.count("_return"), 2);
});

Deno.test("a new sign-in over a connection that holds is patient at once: the master may be busy with a whole fleet", async () => {
  let silent = 0;
  await using world = await start({
    script: (honest) => (asked) => silent-- > 0 ? undefined : honest(asked),
    patience: { authTries: 1, authTimeoutMs: 80 },
  });
  await world.link.signIn(world.never);
  silent = 1;
  await world.link.signIn(world.never);
  // A round that is quick is no news.
  assertEquals(world.lines.filter((line) => line.startsWith("ERROR No master answers")).length, 1);
});

Deno.test("a link that lost its connection asks soon again, and does not give up, whatever master_tries says", async () => {
  let silent = 0;
  await using world = await start({
    script: (honest) => (asked) => silent-- > 0 ? undefined : honest(asked),
    patience: { masterTries: 1, authTries: 2, authTimeoutMs: 80 },
  });
  await world.link.signIn(world.never);
  silent = 5;
  world.link.reconnect();
  await world.link.signIn(world.never);
  assertEquals(world.master.count("_auth"), 7);
  // The first two tries are no news, and of the others every second.
  const said = world.lines.filter((line) => line.includes("No master answers")).map((line) => /^\w+/.exec(line)?.[0]);
  assertEquals(said, ["DEBUG", "DEBUG", "ERROR", "DEBUG", "ERROR"]);
});

Deno.test("each try after a lost connection waits as long as the backoff says; a sign-in for another reason does not", async () => {
  let silent = 0;
  const paused: number[] = [];
  await using world = await start({
    script: (honest) => (asked) => silent-- > 0 ? undefined : honest(asked),
    patience: { authTimeoutMs: 80 },
    backoff: { pause: (attempt) => (paused.push(attempt), 20), reconnect: () => 10 },
  });
  await world.link.signIn(world.never);
  await world.link.signIn(world.never);
  assertEquals(paused, []);
  for (const misses of [3, 1]) {
    silent = misses;
    world.link.reconnect();
    await world.link.signIn(world.never);
    await world.link.signIn(world.never);
  }
  assertEquals(paused, [0, 1, 2, 3, 0, 1]);
});

Deno.test("the pillar of an honest master is opened", async () => {
  await using world = await start();
  assertEquals(await world.link.requestPillar(map({ cmd: "_pillar", id: "web1" }), world.never), map({ role: "web" }));
});

const field = (name: string, value: Value): PillarLies => ({ signed: (signed) => void signed.set(name, value) });
const BAD_PILLARS: readonly (readonly [what: string, lies: PillarLies, says: string])[] = [
  ["signed by somebody else", { signer: stranger }, "signature of the pillar"],
  ["without a signature", { sealed: (sealed) => void sealed.delete("sig") }, "signature of the pillar"],
  ["without data", { sealed: (sealed) => void sealed.delete("data") }, "signature of the pillar"],
  ["with another nonce", field("nonce", "0".repeat(32)), "nonce"],
  ["without a nonce", { signed: (signed) => void signed.delete("nonce") }, "nonce"],
  ["signed for another key", field("key", "another"), "another key"],
  ["signed for no key", { signed: (signed) => void signed.delete("key") }, "another key"],
];
for (const [what, lies, says] of BAD_PILLARS) {
  Deno.test(`a pillar ${what} is refused, after one new sign-in`, async () => {
    await using world = await start({
      script: requestsWith(({ load }, _honest, master) => master.keys.pillar(load, minion.publicKey, lies)),
    });
    const error = await assertRejects(
      () => world.link.requestPillar(map({ cmd: "_pillar" }), world.never),
      AuthenticationError,
    );
    assertStringIncludes(error.message, says);
    assertEquals(world.master.count("_auth"), 2);
  });
}

const NO_PILLARS: readonly (readonly [what: string, reply: Value])[] = [
  ["an error", map({ error: "Nonce not included in request" })],
  ["bad load", "bad load"],
  ["None", null],
  ["a key alone", map({ key: "x" })],
];
for (const [what, reply] of NO_PILLARS) {
  Deno.test(`${what} in place of a pillar is refused`, async () => {
    await using world = await start({ script: requestsWith(() => encode(reply, "wire")) });
    await assertRejects(() => world.link.requestPillar(map({ cmd: "_pillar" }), world.never), WireError);
  });
}

Deno.test("a pillar that is no map counts as an empty one", async () => {
  await using world = await start({
    script: requestsWith(({ load }, _honest, { keys }) => keys.pillar(load, minion.publicKey, field("pillar", ""))),
  });
  assertEquals(await world.link.requestPillar(map({ cmd: "_pillar" }), world.never), new Map());
});

/** Says early what is wrong, and looks names up again at once. */
const TALKATIVE = { afterMs: 20, retryDnsMs: 1, retryDnsCount: 2 };

Deno.test("a first sign-in that nobody answers says why, long before it gives up", async () => {
  using mute = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const cases = [
    [NOWHERE, "cannot connect to tcp://127.0.0.1:1: Connection refused"],
    [`tcp://127.0.0.1:${mute.addr.port}`, "has not answered yet: is it a master's ret_port?"],
  ];
  for (const [address, says] of cases) {
    await using world = await start({ address, patience: { authTimeoutMs: 20_000, silence: TALKATIVE } });
    const signingIn = assertRejects(() => world.link.signIn(world.never));
    await eventually(() => world.lines.some((line) => line.startsWith("ERROR No answer") && line.includes(says)), {
      withinMs: 10_000,
      what: `a line with ${says} among ${world.lines}`,
    });
    world.link.close();
    await signingIn;
  }
});

Deno.test("a master's name that nobody knows is looked up retry_dns_count times, then the minion ends", async () => {
  const patience = { authTimeoutMs: 20_000, silence: TALKATIVE };
  await using world = await start({ address: "tcp://no.such.host.invalid:4506", patience });
  const error = await assertRejects(
    () => world.link.signIn(world.never),
    SignInError,
    "no.such.host.invalid is no host",
  );
  assertEquals(error.exitCode, 1);
  assertEquals(world.lines.filter((line) => line.includes("looking again in 0.001 seconds (retry_dns)")).length, 2);
});

Deno.test("with retry_dns 0 a name that nobody knows ends the minion at once", async () => {
  const patience = { authTimeoutMs: 20_000, silence: { ...TALKATIVE, retryDnsMs: 0 } };
  await using world = await start({ address: "tcp://no.such.host.invalid:4506", patience });
  await assertRejects(() => world.link.signIn(world.never), SignInError, "no.such.host.invalid is no host");
  assertEquals(world.lines, []);
});
