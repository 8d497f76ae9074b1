/**
 * A link's requests: their encryption, and the accepted replies.
 * @module
 */

import { Crypticle, generateKeyString } from "#lib/crypto/crypticle.ts";
import { AuthenticationError, RequestTimeoutError, RequestTooLargeError, SignInError, WireError } from "#lib/errors.ts";
import { encode } from "#lib/values/msgpack.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { minion, REJECTED, requestsWith, signInsWith, start, stranger } from "#tests/support/fleet/minion_link.ts";
import { type PillarLies, ScriptedMaster } from "#tests/support/fleet/scripted_master.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";

Deno.test("a request has its fields, then nonce, ts, id and tok; its reply is decrypted", async () => {
  await using fixture = await start({
    script: requestsWith(({ load }, _honest, master) => master.keys.reply(load, map({ got: 1.5 }))),
  });
  assertEquals<Value>(await fixture.ask(map({ cmd: "_return", jid: "1" })), map({ got: 1.5 }));
  const [, { load }] = fixture.master.requests;
  assertEquals([...load.keys()], ["cmd", "jid", "nonce", "ts", "id", "tok"]);
  assertEquals(load.get("id"), "web1");
  assert(Math.abs(Number(load.get("ts")) - Date.now() / 1000) < 5);
  const token = asBytes(load.get("tok")) ?? new Uint8Array();
  assertEquals(new TextDecoder().decode(minion.publicKey.recoverX931(token)), "salt");
});

Deno.test("minion_sign_messages signs everything but nonce, tok and the signature itself", async () => {
  await using fixture = await start({ signMessages: true });
  await fixture.ask(map({ cmd: "_return", jid: "1" }));
  const [, { load }] = fixture.master.requests;
  const sig = asBytes(load.get("sig")) ?? new Uint8Array();
  for (const key of ["nonce", "tok", "sig"]) load.delete(key);
  assert(minion.publicKey.verify("PKCS1v15-SHA1", encode(load, "disk"), sig));
});

Deno.test("a request above the master's limit is not sent, and the error names its size; an invalid limit is ignored", async () => {
  const large = map({ cmd: "_return", jid: "1", return: "x".repeat(70_000) });
  for (const [limit, sent] of [[70_000, false], [80_000, true], [1, true], [-1, true], ["70000", true], [null, true]]) {
    await using fixture = await start({
      script: signInsWith({ inner: (inner) => inner.set("max_request_bytes", limit) }),
    });
    if (sent) await fixture.ask(large);
    else {
      const error = await assertRejects(() => fixture.ask(large), RequestTooLargeError);
      assertEquals([error.bytes > 70_000, error.limit], [true, 70_000]);
    }
    await fixture.ask();
    const commands = fixture.master.requests.map(({ cmd }) => cmd);
    assertEquals(commands, sent ? ["_auth", "_return", "_return"] : ["_auth", "_return"], `${limit}`);
  }
});

Deno.test("answers() returns whether the master answers", async () => {
  await using fixture = await start({
    script: requestsWith((request, honest) => request.cmd === "ping" ? request.frame : honest(request)),
  });
  assertEquals(await fixture.link.answers(fixture.never), true);
  assertEquals(fixture.master.requests.map(({ cmd }) => cmd), ["ping"]);
  fixture.master.script = () => undefined;
  assertEquals(await fixture.link.answers(fixture.never, 20), false);
  await assertRejects(() => fixture.link.answers(AbortSignal.abort(new Error("the end"))), Error, "the end");
});

const BAD_LOAD = encode("bad load", "wire");
/** A reply that is refused after one new sign-in and one more try. */
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
  Deno.test(`a reply of ${what} causes one new sign-in and one more try, then it is refused`, async () => {
    await using fixture = await start({ script: requestsWith(({ load }, _honest, master) => reply(master, load)) });
    await assertRejects(() => fixture.ask(), error);
    assertEquals([fixture.master.count("_auth"), fixture.master.requests.length], [2, 4]);
  });
}

Deno.test("after a bad load reply the request is sent again under the keys of the new sign-in", async () => {
  await using fixture = await start();
  await fixture.link.signIn(fixture.never);
  fixture.master.keys.sessionKey = generateKeyString();
  assertEquals(await fixture.ask(), null);
  assertEquals(fixture.master.requests.map(({ cmd }) => cmd), ["_auth", "", "_auth", "_return"]);
  assertEquals(await fixture.ask(), null);
  assertEquals(fixture.master.requests.length, 5);
});

Deno.test("a request before the first sign-in signs in", async () => {
  await using fixture = await start();
  assertEquals(await fixture.ask(), null);
  assertEquals(fixture.master.requests.map(({ cmd }) => cmd), ["_auth", "_return"]);
});

Deno.test("a key that was rejected meanwhile ends a request with the error of the sign-in", async () => {
  await using fixture = await start({
    script: (honest, master) => {
      let signedIn = false;
      return (request) => {
        if (request.cmd !== "_auth") return BAD_LOAD;
        const reply = signedIn ? master.keys.signIn(request.load, REJECTED) : honest(request);
        signedIn = true;
        return reply;
      };
    },
  });
  const error = await assertRejects(() => fixture.ask(), SignInError);
  assertEquals(error.exitCode, 77);
});

Deno.test("a request without an answer fails at its time-out, and the next one is answered", async () => {
  let silent = true;
  await using fixture = await start({
    script: requestsWith((request, honest) => silent ? undefined : honest(request)),
    requestTimeouts: { timeoutMs: 1_000, tries: 2 },
  });
  await assertRejects(() => fixture.ask(), RequestTimeoutError);
  assertEquals(fixture.master.requests.length, 3);
  silent = false;
  assertEquals(await fixture.ask(), null);
});

Deno.test("abort ends a request at once", async () => {
  await using fixture = await start({ script: requestsWith(() => undefined) });
  const controller = new AbortController();
  await fixture.link.signIn(fixture.never);
  const ended = assertRejects(() => fixture.link.request(map({ cmd: "x" }), controller.signal), Error, "enough");
  await eventually(() => fixture.master.requests.length === 2, { what: "the request" });
  const started = performance.now();
  controller.abort(new Error("enough"));
  await ended;
  assert(performance.now() - started < AT_ONCE_MS);
});

Deno.test("a sign-in does not wait for a request that a restarted master will never answer; the request is sent again", async () => {
  let lost = true;
  await using fixture = await start({
    script: requestsWith((request, honest) => lost ? undefined : honest(request)),
  });
  await fixture.link.signIn(fixture.never);
  const asking = fixture.ask();
  await eventually(() => fixture.master.count("_return") === 1, { what: "the request" });
  lost = false;
  fixture.master.keys.sharedKey = generateKeyString();
  await fixture.link.signIn(fixture.never);
  assertEquals(await asking, null);
  assertEquals(fixture.master.count("_return"), 2);
});

Deno.test("the pillar of an honest master is decrypted", async () => {
  await using fixture = await start();
  assertEquals(
    await fixture.link.requestPillar(map({ cmd: "_pillar", id: "web1" }), fixture.never),
    map({ role: "web" }),
  );
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
    await using fixture = await start({
      script: requestsWith(({ load }, _honest, master) => master.keys.pillar(load, minion.publicKey, lies)),
    });
    const error = await assertRejects(
      () => fixture.link.requestPillar(map({ cmd: "_pillar" }), fixture.never),
      AuthenticationError,
    );
    assertStringIncludes(error.message, says);
    assertEquals(fixture.master.count("_auth"), 2);
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
    await using fixture = await start({ script: requestsWith(() => encode(reply, "wire")) });
    await assertRejects(() => fixture.link.requestPillar(map({ cmd: "_pillar" }), fixture.never), WireError);
  });
}

Deno.test("a pillar that is no map counts as an empty one", async () => {
  await using fixture = await start({
    script: requestsWith(({ load }, _honest, { keys }) => keys.pillar(load, minion.publicKey, field("pillar", ""))),
  });
  assertEquals(await fixture.link.requestPillar(map({ cmd: "_pillar" }), fixture.never), new Map());
});
