/** @module */
import { generateKeyString } from "#lib/crypto/crypticle.ts";
import { AuthenticationError, MsgpackError, WireError } from "#lib/errors.ts";
import { encode } from "#lib/values/msgpack.ts";
import { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { PublishReader, type ReaderRules } from "#lib/minion/masters/publish_reader.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import type { SignInCredentials } from "#lib/minion/masters/sign_in.ts";
import { float, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { MasterKeys, memoryLog, type PublishLies, TEST_KEY_BITS } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const [stranger, masterKey] = await Promise.all([1, 2].map(() => PrivateKey.generate(TEST_KEY_BITS)));

interface ReaderFixture {
  readonly keys: MasterKeys;
  readonly reader: PublishReader;
  readonly jids: JidMemory;
  readonly lines: string[];
  /** Publishes `LOAD` with these changes, and reads it. */
  read(changes?: Record<string, unknown>, lies?: PublishLies): ValueMap | undefined;
}

const LOAD = {
  fun: "test.ping",
  arg: [] as unknown[],
  tgt: "*",
  jid: "20260101000000000001",
  ret: "",
  tgt_type: "glob",
  user: "root",
};

function credentials(keys: MasterKeys): SignInCredentials {
  return {
    sharedKey: keys.sharedKey,
    sessionKey: keys.sessionKey,
    publishPort: 4505,
    masterKey: keys.key.publicKey,
  };
}

/** A minion without grains and pillar. */
const noData = () => ({ grains: new Map(), pillar: new Map() });

function readerFixture(rules: Partial<ReaderRules> = {}): ReaderFixture {
  const keys = new MasterKeys(masterKey);
  const { log, lines } = memoryLog();
  const jids = new JidMemory({ min: 3, log });
  const reader = new PublishReader({
    id: "web1",
    data: noData,
    requireSignature: false,
    jids,
    log,
    ...rules,
  });
  reader.trust(credentials(keys));
  let serial = 0;
  return {
    keys,
    reader,
    jids,
    lines,
    read: (changes = {}, lies = {}) => reader.read(keys.publish({ ...LOAD, serial: ++serial, ...changes }, lies)),
  };
}

const jid = (n: number) => `2026010100000000${String(n).padStart(4, "0")}`;

Deno.test("a job for this minion is read, without its serial", () => {
  assertEquals(readerFixture().read(), map(LOAD));
});

Deno.test("a load with fields of newer masters is read including them", () => {
  const load = readerFixture().read({ master_id: "m", start_event: true, metadata: { a: 1 } });
  assertEquals([load?.get("master_id"), load?.get("start_event")], ["m", true]);
});

/** Whether a target means `web1`. */
const TARGETS: readonly (readonly [tgt: unknown, tgtType: unknown, nearest: boolean])[] = [
  ["web1", "glob", true],
  ["web*", undefined, true],
  ["web*", "", true],
  ["db*", "glob", false],
  ["web[0-9]", "pcre", true],
  ["eb1", "pcre", false],
  ["db1,web1", "list", true],
  [["db1", "web1"], "list", true],
  [["db1"], "list", false],
  [["web1"], "glob", false],
  [5, "glob", false],
  [null, "list", false],
  [{ a: 1 }, "pcre", false],
];
for (const [tgt, tgtType, nearest] of TARGETS) {
  Deno.test(`the target ${JSON.stringify(tgt)} of type ${tgtType} means web1: ${nearest}`, () => {
    assertEquals(readerFixture().read({ tgt, tgt_type: tgtType ?? null }) !== undefined, nearest);
  });
}

for (const [tgt, tgtType] of [["os", "grain"], ["(", "pcre"], ["*", ["glob"]]] as const) {
  Deno.test(`a target that cannot be matched (${tgt}, ${tgtType}) matches no minion, and that is logged`, () => {
    const { read, lines } = readerFixture();
    assertEquals(read({ tgt, tgt_type: tgtType }), undefined);
    assertStringIncludes(lines.join("\n"), `WARNING Job ${LOAD.jid} has a target that this minion cannot match`);
  });
}

Deno.test("a minion matches with its current grains and pillar", () => {
  let grains = map({ os: "Debian" });
  const pillar = map({ role: "web" });
  const { read } = readerFixture({ data: () => ({ grains, pillar }) });
  const nearest = (tgt: string, tgt_type: string, more = {}) =>
    read({ jid: jid(++n), tgt, tgt_type, ...more }) !== undefined;
  let n = 0;
  const target = "web* and G@os:Debian and not I@role:db";
  assertEquals([nearest(target, "compound"), nearest("os:Arch", "grain"), nearest("role:w*", "pillar")], [
    true,
    false,
    true,
  ]);
  assert(nearest("os|Deb.*", "grain_pcre", { delimiter: "|" }));
  grains = map({ os: "Arch" });
  assertEquals([nearest(target, "compound"), nearest("os:Arch", "grain")], [false, true]);
  assertEquals(nearest("N@web", "compound"), false);
});

Deno.test("a serial that is not above the last one is a replay", () => {
  const { read, lines } = readerFixture();
  assert(read({ serial: 7, jid: jid(1) }));
  for (const serial of [7, 6, 1, 0, -1]) assertEquals(read({ serial, jid: jid(100 + serial) }), undefined);
  assert(read({ serial: 8, jid: jid(2) }));
  assertEquals(lines.filter((line) => line.includes("replay")).length, 5);
  assertEquals(read({ serial: 8, jid: jid(2) }), undefined);
  // Two overlapping subscriptions cause this; an operator need not act on it.
  assertEquals(lines.at(-1), "DEBUG Dropped a publish with serial 8 after 8: it came twice");
});

Deno.test("a job for other minions also advances the serial", () => {
  const { read } = readerFixture();
  assertEquals(read({ serial: 5, tgt: "db1" }), undefined);
  assertEquals(read({ serial: 5 }), undefined);
});

Deno.test("a new shared key starts new serials; a sign-in with the same key does not", () => {
  const { read, reader, keys } = readerFixture();
  assert(read({ serial: 5, jid: jid(1) }));
  assertEquals(reader.trust(credentials(keys)), false);
  assertEquals(read({ serial: 5, jid: jid(2) }), undefined);
  keys.sharedKey = generateKeyString();
  assertEquals(reader.trust(credentials(keys)), true);
  assert(read({ serial: 1, jid: jid(3) }));
});

Deno.test("a repeated job id is run once, also under a new key", () => {
  const { read, reader, keys, lines } = readerFixture();
  assert(read());
  assertEquals(read(), undefined);
  keys.sharedKey = generateKeyString();
  reader.trust(credentials(keys));
  assertEquals(read({ serial: 1 }), undefined);
  assertEquals(lines.filter((line) => line.includes("came again")).length, 2);
});

Deno.test("an old publish sent to a later process is a replay, although its job is forgotten", () =>
  withTemporaryDirectory((directory) => {
    const jidFile = `${directory}/jids`;
    const { log, lines } = memoryLog();
    const keys = new MasterKeys(masterKey);
    const start = () => {
      const reader = new PublishReader({
        id: "web1",
        data: noData,
        requireSignature: false,
        jids: new JidMemory({ min: 3, path: jidFile, log }),
        log,
      });
      reader.trust(credentials(keys));
      return reader;
    };
    const frames = [1, 2, 3].map((n) => keys.publish({ ...LOAD, jid: jid(n), serial: n }));
    const first = start();
    for (const frame of frames.slice(0, 2)) assert(first.read(frame));
    Deno.writeTextFileSync(jidFile, Deno.readTextFileSync(jidFile).replace(`${jid(1)} 1`, `${jid(9)} 1`));
    const later = start();
    assertEquals(later.read(frames[0]), undefined);
    assertStringIncludes(lines.join("\n"), "WARNING Dropped a publish with serial 1 after 2: it is a replay");
    assert(later.read(frames[2]));
    keys.sharedKey = generateKeyString();
    later.trust(credentials(keys));
    assert(later.read(keys.publish({ ...LOAD, jid: jid(4), serial: 1 })));
  }));

Deno.test("nothing is read before a sign-in", () => {
  const { log } = memoryLog();
  const reader = new PublishReader({
    id: "web1",
    data: noData,
    requireSignature: false,
    jids: new JidMemory({ min: 3, log }),
    log,
  });
  assertThrows(() => reader.read(new MasterKeys(masterKey).publish(LOAD)), AuthenticationError, "Not signed in");
});

/** Publishes that fail authentication: the minion signs in again, and tries once more. */
const UNBELIEVED: readonly (readonly [what: string, lies: PublishLies, rules: Partial<ReaderRules>])[] = [
  ["under another key", { sharedKey: generateKeyString() }, {}],
  ["without a signature, where one is wanted", {}, { requireSignature: true }],
  ["signed by somebody else", { signer: stranger }, { requireSignature: true }],
  ["signed with an unknown algorithm", {
    signer: masterKey,
    envelope: (envelope) => void envelope.set("sig_algo", "none"),
  }, { requireSignature: true }],
  ["signed without the name of an algorithm", {
    signer: masterKey,
    envelope: (envelope) => void envelope.delete("sig_algo"),
  }, { requireSignature: true }],
  ["changed on its way", { envelope: (envelope) => void flip(envelope) }, {}],
  ["cut short", { envelope: (envelope) => void envelope.set("load", new Uint8Array(5)) }, {}],
  ["empty", { envelope: (envelope) => void envelope.set("load", "") }, {}],
];
for (const [what, lies, rules] of UNBELIEVED) {
  Deno.test(`a publish ${what} is not authenticated`, () => {
    const { read } = readerFixture(rules);
    assertThrows(() => read({}, lies), AuthenticationError);
    // It changes nothing: the real publish with the same serial and job id is accepted.
    assert(read({}, { signer: masterKey }));
  });
}

function flip(envelope: ValueMap): void {
  const load = envelope.get("load");
  if (load instanceof Uint8Array) load[20] ^= 1;
}

Deno.test("a publish with the master's signature is accepted where one is required; elsewhere a wrong signature is ignored", () => {
  assert(readerFixture({ requireSignature: true }).read({}, { signer: masterKey }));
  assert(readerFixture().read({}, { signer: stranger }));
});

const without = (key: string): Record<string, unknown> => ({ ...LOAD, [key]: undefined });
/** Loads signed by the master that are no valid jobs. */
const HOSTILE: readonly (readonly [what: string, value: Value])[] = [
  ["a list", [1]],
  ["None", null],
  ["a string", "load"],
  ["an empty map", new Map()],
  ...["jid", "fun", "arg", "tgt"].map((key): [string, Value] => {
    const load = map(without(key));
    load.delete(key);
    return [`no ${key}`, load];
  }),
  ["a jid that is a path", map({ ...LOAD, jid: "../../etc/passwd" })],
  ["a jid with a trailing slash", map({ ...LOAD, jid: `${LOAD.jid}/x` })],
  ["a jid with a newline", map({ ...LOAD, jid: `${LOAD.jid}\n` })],
  ["a jid with NUL", map({ ...LOAD, jid: `${LOAD.jid}\0` })],
  ["a jid that is empty", map({ ...LOAD, jid: "" })],
  ["a jid that is a number", map({ ...LOAD, jid: 20260101 })],
  ["a jid of 10 KB", map({ ...LOAD, jid: "1".repeat(10_000) })],
  ["a serial that is NaN", map({ ...LOAD, serial: float(NaN) })],
  ["a serial that is infinite", map({ ...LOAD, serial: float(Infinity) })],
  ["a serial that is half a number", map({ ...LOAD, serial: float(1.5) })],
  ["a serial that is a text", map({ ...LOAD, serial: "7" })],
  ["a serial that is None", map({ ...LOAD, serial: null })],
  ["an arg that is a map", map({ ...LOAD, arg: {} })],
  ["an arg that is None", map({ ...LOAD, arg: null })],
];
for (const [what, value] of HOSTILE) {
  Deno.test(`a publish with ${what} is refused`, () => {
    assertThrows(() => readerFixture().read({}, { value }), WireError);
  });
}

/** Frames that are no publishes. */
const INVALID_FRAMES: readonly (readonly [what: string, frame: Uint8Array])[] = [
  ["nothing", new Uint8Array()],
  ["no msgpack", new Uint8Array([0xc1])],
  ["a string", encode("aes", "wire")],
  ["a clear load", encode(map({ enc: "clear", load: LOAD }), "wire")],
  ["no load", encode(map({ enc: "aes" }), "wire")],
  ["a load that is a map", encode(map({ enc: "aes", load: LOAD }), "wire")],
  ["many open lists", new Uint8Array(100_000).fill(0x91)],
];
for (const [what, frame] of INVALID_FRAMES) {
  Deno.test(`a frame with ${what} is refused`, () => {
    const error = assertThrows(() => readerFixture().reader.read(frame));
    assert(error instanceof WireError || error instanceof MsgpackError, `${error}`);
  });
}

Deno.test("a new job is admitted before its id is stored; a job with a stored id is not admitted", () => {
  const admitted: unknown[] = [];
  const it: ReaderFixture = readerFixture({
    admit: (id, load) => {
      if (id === jid(9)) throw new Error("not kept");
      admitted.push([id, load.get("fun")]);
    },
  });
  assertEquals(it.read({ jid: jid(1) })?.get("jid"), jid(1));
  assertEquals(it.read({ jid: jid(1) }), undefined);
  it.jids.add(jid(2));
  assertEquals(it.read({ jid: jid(2) }), undefined);
  // A job whose id could not be stored may be sent again.
  for (let n = 0; n < 2; n++) assertThrows(() => it.read({ jid: jid(9) }), Error, "not kept");
  assertEquals(admitted, [[jid(1), "test.ping"]]);
});

Deno.test("one of the last 64 publishes may be repeated without a warning; older ones, and those under another key, are replays", () => {
  const it = readerFixture();
  for (let n = 1; n <= 65; n++) it.read({ jid: jid(n) });
  const warningCount = (serial: number) => {
    it.lines.length = 0;
    assertEquals(it.read({ jid: jid(serial), serial }), undefined);
    return it.lines.filter((line) => line.includes("WARNING")).length;
  };
  assertEquals([warningCount(1), warningCount(2), warningCount(65)], [1, 0, 0]);

  const keys = new MasterKeys(masterKey);
  it.reader.trust(credentials(keys));
  const read = (n: number, serial: number) => it.reader.read(keys.publish({ ...LOAD, jid: jid(n), serial }, {}));
  assert(read(100, 100) !== undefined);
  it.lines.length = 0;
  assertEquals(read(65, 65), undefined);
  assertStringIncludes(it.lines.join("\n"), "WARNING Dropped a publish with serial 65 after 100: it is a replay");
});

Deno.test("a syndic takes the jobs of all targets with their signatures, checks none, and runs each once", () => {
  const { read } = readerFixture({
    data: undefined,
    operators: {
      check: () => {
        throw new Error("a syndic checks no signature");
      },
    },
  });
  const op = "its signature";
  for (const [n, tgt] of ["db1", "(", "*"].entries()) {
    const load = read({ jid: jid(n), tgt, tgt_type: "pcre", op });
    assertEquals([load?.get("tgt"), load?.get("op")], [tgt, op]);
  }
  assertEquals(read({ jid: jid(2) }), undefined);
  assertThrows(() => read({ jid: "../1" }), WireError);
});

Deno.test("a key is that of a publish if it opens it, and no other key or frame is an error", () => {
  const keys = new MasterKeys(masterKey), frame = keys.publish(LOAD);
  const isFor = (frame: Uint8Array, key: string) => PublishReader.isFor(frame, key);
  assertEquals(isFor(frame, keys.sharedKey), true);
  assertEquals(isFor(keys.publish(LOAD, { value: [1] }), keys.sharedKey), false);
  assertEquals([generateKeyString(), "", "no key"].map((key) => isFor(frame, key)), [false, false, false]);
  for (const [, invalid] of INVALID_FRAMES) assertEquals(isFor(invalid, keys.sharedKey), false);
});
