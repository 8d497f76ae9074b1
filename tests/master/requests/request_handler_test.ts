/** @module */
import { Crypticle } from "#lib/crypto/crypticle.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { asBytes, clearRequest, UNAUTHENTICATED_BOUNDS } from "#lib/protocol/payload.ts";
import { RequestHandler } from "#lib/master/requests/request_handler.ts";
import { equals, map, repr, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { asMap, envelope, makeNonce, opened, ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";

const BAD_LOAD = "bad load";
const NO_DICT = "payload and load must be a dict";
const FAILED = "Some exception handling minion payload";

interface Site extends Disposable {
  readonly services: TestServices;
  readonly handler: RequestHandler;
  readonly web1: ScriptedMinion;
}

/** Services with one accepted minion that has signed in. */
async function openSite(overrides: Record<string, Value> = {}): Promise<Site> {
  const services = await testServices(overrides);
  const handler = new RequestHandler(services);
  const web1 = new ScriptedMinion("web1", await testKey("web1"), (frame) => handler.handle(frame));
  services.auth.keys.put("web1", "accepted", web1.key.publicKey.pem);
  await web1.signIn();
  services.logged.length = 0;
  services.fired.length = 0;
  return { services, handler, web1, [Symbol.dispose]: () => services[Symbol.dispose]() };
}

function assertReply(actual: Value, expected: Value): void {
  assert(equals(actual, expected), `${repr(actual)} is not ${repr(expected)}`);
}

const raw = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));
const ping = { cmd: "ping" };
const nested = (depth: number) => new Uint8Array([...new Uint8Array(depth).fill(0x91), 0xc0]);

/** Frames that an unknown peer can send, and the answers of a master that serves only version 3. */
const STRANGERS: [name: string, frame: Uint8Array, reply: unknown][] = [
  ["an empty frame", new Uint8Array(), { msg: BAD_LOAD }],
  ["bytes that no value starts with", raw("c1"), { msg: BAD_LOAD }],
  ["a truncated map", raw("83 a3 656e63"), { msg: BAD_LOAD }],
  ["a value with more behind it", raw("80 80"), { msg: BAD_LOAD }],
  ["text", new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"), { msg: BAD_LOAD }],
  ["lists nested 100,000 deep", nested(100_000), { msg: BAD_LOAD }],
  ["a map that claims four billion entries", raw("df ffffffff 00"), { msg: BAD_LOAD }],
  ["a million empty maps", new Uint8Array([0xdd, 0, 0x0f, 0x42, 0x40, ...new Uint8Array(1_000_000).fill(0x80)]), {
    msg: BAD_LOAD,
  }],
  [
    "a million empty byte strings",
    new Uint8Array([0xdd, 0, 0x0f, 0x42, 0x40, ...new Uint8Array(2_000_000).fill(0xa1)]),
    {
      msg: BAD_LOAD,
    },
  ],
  ["an unknown extension", raw("d4 05 00"), { msg: BAD_LOAD }],
  ["None", raw("c0"), BAD_LOAD],
  ["an int", raw("05"), BAD_LOAD],
  ["a list", raw("90"), BAD_LOAD],
  ["an empty map", raw("80"), BAD_LOAD],
  ["a map without enc", envelope({ load: ping, version: 3 }), BAD_LOAD],
  ["a map without load", envelope({ enc: "clear", version: 3 }), BAD_LOAD],
  ["no version", envelope({ enc: "clear", load: ping }), BAD_LOAD],
  ["version 0", envelope({ enc: "clear", load: ping, version: 0 }), BAD_LOAD],
  ["version 1", envelope({ enc: "clear", load: ping, version: 1 }), BAD_LOAD],
  ["version 2", envelope({ enc: "clear", load: ping, version: 2 }), BAD_LOAD],
  ["version -3", envelope({ enc: "clear", load: ping, version: -3 }), BAD_LOAD],
  ["version None", envelope({ enc: "clear", load: ping, version: null }), BAD_LOAD],
  ["version []", envelope({ enc: "clear", load: ping, version: [] }), BAD_LOAD],
  ["version {}", envelope({ enc: "clear", load: ping, version: {} }), BAD_LOAD],
  ["version 'x'", envelope({ enc: "clear", load: ping, version: "x" }), BAD_LOAD],
  ["an _auth of version 2", envelope({ enc: "clear", load: { cmd: "_auth", id: "a" }, version: 2 }), BAD_LOAD],
  ["a clear load that is a list", envelope({ enc: "clear", load: [], version: 3 }), NO_DICT],
  ["a clear load that is None", envelope({ enc: "clear", load: null, version: 3 }), NO_DICT],
  ["an enc that nobody knows", envelope({ enc: "rot13", load: ping, version: 3 }), FAILED],
  ["an enc that nobody knows, over no map", envelope({ enc: "rot13", load: "x", version: 3 }), NO_DICT],
  ["an enc that is a map", envelope({ enc: {}, load: ping, version: 3 }), FAILED],
  ["an aes load that is a map", envelope({ enc: "aes", load: ping, version: 3, id: "web1" }), BAD_LOAD],
  ["an aes load of nothing", envelope({ enc: "aes", load: "", version: 3, id: "web1" }), BAD_LOAD],
  [
    "an aes load of noise",
    envelope({ enc: "aes", load: new Uint8Array(96).fill(0xff), version: 3, id: "web1" }),
    BAD_LOAD,
  ],
  ["an aes load of somebody without a session", envelope({ enc: "aes", load: "x", version: 3, id: "db1" }), BAD_LOAD],
  ["an aes load without an id", envelope({ enc: "aes", load: "x", version: 3 }), BAD_LOAD],
  ...["", ".", "..", "../web1", "a/b", "a\\b", "web1\0", "x".repeat(10_000)].map((
    id,
  ): [string, Uint8Array, unknown] => [
    `an aes load of the id ${JSON.stringify(id).slice(0, 20)}`,
    envelope({ enc: "aes", load: "x", version: 3, id }),
    BAD_LOAD,
  ]),
  ["an aes load of an id that is a list", envelope({ enc: "aes", load: "x", version: 3, id: ["web1"] }), BAD_LOAD],
  [
    "an id that is an int",
    envelope({ enc: "clear", load: { cmd: "ping", id: 5 }, version: 3 }),
    "bad load: id 5 is not a string",
  ],
  [
    "an id that is None",
    envelope({ enc: "clear", load: { cmd: "ping", id: null }, version: 3 }),
    "bad load: id None is not a string",
  ],
  [
    "an id with NUL",
    envelope({ enc: "clear", load: { cmd: "ping", id: "a\0b" }, version: 3 }),
    "bad load: id contains a null byte",
  ],
  [
    "an _auth whose id has NUL",
    envelope({ enc: "clear", load: { cmd: "_auth", id: "\0" }, version: 3 }),
    "bad load: id contains a null byte",
  ],
  [
    "an _auth without an id",
    envelope({ enc: "clear", load: { cmd: "_auth", nonce: "n", pub: "" }, version: 3 }),
    FAILED,
  ],
  [
    "an _auth without a nonce",
    envelope({ enc: "clear", load: { cmd: "_auth", id: "a", pub: "" }, version: 3 }),
    FAILED,
  ],
  ["no cmd", envelope({ enc: "clear", load: {}, version: 3 }), {}],
  ["an unknown cmd", envelope({ enc: "clear", load: { cmd: "nonesuch" }, version: 3 }), {}],
  ["a cmd that is a list", envelope({ enc: "clear", load: { cmd: [] }, version: 3 }), {}],
  ["ping", envelope({ enc: "clear", load: { cmd: "ping", x: 1 }, version: 3 }), { cmd: "ping", x: 1 }],
  ["ping in a version that is text", envelope({ enc: "clear", load: ping, version: "3" }), ping],
  ["a publish without anything", envelope({ enc: "clear", load: { cmd: "publish" }, version: 3 }), FAILED],
];

Deno.test("every unauthenticated frame is answered according to the protocol, with at most one log line above debug", async (t) => {
  using site = await openSite();
  for (const [name, frame, reply] of STRANGERS) {
    await t.step(name, async () => {
      site.services.logged.length = 0;
      assertReply(opened(await site.handler.handle(frame)), toValue(reply));
      const lines = site.services.logged.filter((line) => !line.startsWith("DEBUG: "));
      assert(lines.length <= 1, lines.join("\n"));
      for (const line of site.services.logged) assert(line.length < 400, `a line of ${line.length} characters`);
      assertReply(await site.web1.request({ cmd: "_master_tops" }), new Map());
    });
  }
  assertEquals(site.services.fired, []);
});

Deno.test("an unencrypted request is decoded up to the depth limit for unauthenticated peers; a deeper one is refused", async () => {
  using site = await openSite();
  let deep: Value = null;
  for (let i = 0; i < UNAUTHENTICATED_BOUNDS.depth - 2; i++) deep = [deep];
  const ask = (deep: Value) => site.web1.send(envelope({ enc: "clear", load: map({ cmd: "ping", deep }), version: 3 }));
  assertReply(await ask(deep), map({ cmd: "ping", deep }));
  assertReply(await ask([deep]), map({ msg: "bad load" }));
});

interface Attempt {
  readonly cmd?: Record<string, unknown>;
  readonly inner?: Record<string, unknown>;
  readonly outer?: Record<string, unknown>;
}

/** Requests of a minion that has signed in, each with one error. */
const MINIONS: [name: string, attempt: Attempt, reply: unknown][] = [
  ["no tok", { inner: { tok: undefined } }, BAD_LOAD],
  ["a tok of nothing", { inner: { tok: "" } }, BAD_LOAD],
  ["a tok that is an int", { inner: { tok: 5 } }, BAD_LOAD],
  ["a tok of noise", { inner: { tok: new Uint8Array(256).fill(7) } }, BAD_LOAD],
  ["a tok that is too long", { inner: { tok: new Uint8Array(10_000).fill(0xff) } }, BAD_LOAD],
  ["no inner id", { inner: { id: undefined } }, BAD_LOAD],
  ["another inner id", { inner: { id: "db1" } }, BAD_LOAD],
  ["an inner id that is an int", { inner: { id: 5 } }, "bad load: id 5 is not a string"],
  ["an inner id that is a list", { inner: { id: ["web1"] } }, "bad load: id a list is not a string"],
  ["an inner id with NUL", { inner: { id: "web1\0" } }, "bad load: id contains a null byte"],
  ["another outer id", { outer: { id: "db1" } }, BAD_LOAD],
  ["no cmd", { cmd: {} }, FAILED],
  ["version 2 over the session key", { outer: { version: 2 } }, BAD_LOAD],
];

Deno.test("an encrypted request with one error is refused", async (t) => {
  using site = await openSite();
  for (const [name, { cmd = { cmd: "_master_tops" }, inner, outer }, reply] of MINIONS) {
    await t.step(name, async () => {
      assertReply(await site.web1.send(site.web1.seal(cmd, { inner, outer })), toValue(reply));
      assertReply(await site.web1.request({ cmd: "_master_tops" }), new Map());
    });
  }
  await t.step("a load that is no map", async () => {
    const load = site.web1.session?.dumps(["x"]);
    assertReply(await site.web1.send(envelope({ enc: "aes", load, version: 3, id: "web1" })), NO_DICT);
  });
  await t.step("a load without Salt's prefix", async () => {
    const load = site.web1.session?.encrypt(encode(map({ id: "web1" }), "wire"));
    assertReply(await site.web1.send(envelope({ enc: "aes", load, version: 3, id: "web1" })), BAD_LOAD);
  });
  await t.step("a load that is no value", async () => {
    const load = site.web1.session?.encrypt(new TextEncoder().encode("pickle::\xc1"));
    assertReply(await site.web1.send(envelope({ enc: "aes", load, version: 3, id: "web1" })), BAD_LOAD);
  });
});

Deno.test("the reply is encrypted under the session key, with the request's nonce", async () => {
  using site = await openSite();
  const nonce = makeNonce();
  const reply = asBytes(await site.web1.send(site.web1.seal({ cmd: "_master_tops" }, { inner: { nonce } })));
  assert(reply !== undefined && site.web1.session !== undefined);
  assertReply(site.web1.session.loads(reply, nonce), new Map());
  // Without a nonce in the request, the reply has none.
  const plain = asBytes(await site.web1.send(site.web1.seal({ cmd: "_master_tops" }, { inner: { nonce: undefined } })));
  assert(plain !== undefined);
  assertReply(site.web1.session.loads(plain), new Map());
});

Deno.test("unknown commands get {}, and a failed command is answered with an error", async () => {
  using site = await openSite();
  const { web1, services } = site;
  for (const cmd of ["nonesuch", "__proto__", "constructor", "toString", "_send_pub", "_auth", "ping", 5, null]) {
    assertReply(await web1.request({ cmd }), new Map());
  }
  const failing = new RequestHandler({ ...services, fire: () => Promise.reject(new Error("no bus")) });
  const minion = new ScriptedMinion("web1", web1.key, (frame) => failing.handle(frame));
  minion.session = web1.session;
  const notDone = map({ error: "Some exception handling minion payload" });
  assertReply(await minion.request({ cmd: "_minion_event", tag: "a", data: {} }), notDone);
  assert(services.logged.some((line) => line.startsWith("ERROR: The command _minion_event of minion web1 failed")));
});

Deno.test("request_server_ttl refuses only old requests", async () => {
  using site = await openSite({ request_server_ttl: 60 });
  const { web1 } = site;
  const now = Math.floor(Date.now() / 1000);
  for (
    const [ts, refused] of [[now, false], [now - 50, false], [now - 70, true], [undefined, true], ["x", true]] as const
  ) {
    const reply = await web1.send(web1.seal({ cmd: "_master_tops" }, { inner: { ts } }));
    assertEquals(reply === BAD_LOAD, refused, `ts ${ts}`);
  }
});

Deno.test("a deleted key authenticates no request, even if its session still exists", async () => {
  using site = await openSite();
  site.services.auth.keys.remove("web1");
  assertEquals(await site.web1.request({ cmd: "_master_tops" }), BAD_LOAD);
  site.services.auth.keys.put("web1", "accepted", "no key at all");
  assertEquals(await site.web1.request({ cmd: "_master_tops" }), BAD_LOAD);
});

Deno.test("a replaced key is no longer authenticated by the old token", async () => {
  using site = await openSite();
  assertReply(await site.web1.request({ cmd: "_master_tops" }), new Map());
  site.services.auth.keys.put("web1", "accepted", (await testKey("other")).publicKey.pem);
  assertEquals(await site.web1.request({ cmd: "_master_tops" }), BAD_LOAD);
});

Deno.test("minimum_auth_version 0 serves versions 0 to 2 under the shared key, with a token or without", async () => {
  using site = await openSite({ minimum_auth_version: 0 });
  const { web1, services } = site;
  const shared = services.auth.sharedKey.crypticle();
  for (const version of [undefined, 0, 1, 2]) {
    web1.shared = shared;
    for (const tok of [web1.token, undefined]) {
      const nonce = makeNonce();
      const inner = { nonce, ts: undefined, tok };
      const outer = { version: version ?? 0, id: undefined };
      const frame = version === undefined
        ? withoutVersion(web1.seal({ cmd: "_master_tops" }, { inner, outer }))
        : undefined;
      const reply = asBytes(await web1.send(frame ?? web1.seal({ cmd: "_master_tops" }, { inner, outer })));
      assert(reply !== undefined && reply.length > 20, `version ${version}: ${repr(reply ?? null)}`);
      assertReply(shared.loads(reply, version === 2 ? nonce : ""), new Map());
    }
    const wrong = web1.seal({ cmd: "_master_tops" }, {
      inner: { tok: new Uint8Array(256) },
      outer: { version: version ?? 0 },
    });
    assertEquals(await web1.send(wrong), BAD_LOAD);
    const stranger = web1.seal({ cmd: "_master_tops" }, {
      inner: { id: "db1", tok: undefined },
      outer: { version: version ?? 0 },
    });
    assertEquals(await web1.send(stranger), BAD_LOAD, "an id without an accepted key");
  }
  assertReply(await web1.send(envelope({ enc: "clear", load: ping })), map(ping));
});

function withoutVersion(frame: Uint8Array): Uint8Array {
  const outer = asMap(decode(frame, "wire"));
  outer.delete("version");
  return encode(outer, "wire");
}

Deno.test("_pillar is answered under its own key, which the master has signed", async () => {
  using site = await openSite();
  const { web1, services } = site;
  for (const [enc_algo, sig_algo] of [["OAEP-SHA1", "PKCS1v15-SHA1"], ["OAEP-SHA224", "PKCS1v15-SHA224"]] as const) {
    const nonce = makeNonce();
    const frame = web1.seal({ cmd: "_pillar", grains: { os: "Linux" }, ver: "2" }, {
      inner: { nonce },
      outer: { enc_algo, sig_algo },
    });
    const reply = asMap(await web1.send(frame));
    assertEquals([...reply.keys()], ["key", "pillar"]);
    const outerKey = asBytes(reply.get("key")) ?? new Uint8Array();
    const own = new Crypticle(new TextDecoder().decode(web1.key.decrypt(enc_algo, outerKey)));
    const signed = asMap(own.loads(asBytes(reply.get("pillar")) ?? new Uint8Array()));
    const data = asBytes(signed.get("data")) ?? new Uint8Array();
    assert(
      services.auth.masterKeys.current.publicKey.verify(sig_algo, data, asBytes(signed.get("sig")) ?? new Uint8Array()),
    );
    const inner = asMap(opened(data));
    assertEquals(inner.get("nonce"), nonce);
    assertReply(inner.get("pillar") ?? null, new Map());
    assertEquals(asBytes(inner.get("key")), outerKey);
  }
  assertEquals(services.minions.data.get("web1")?.grains, map({ os: "Linux", id: "web1" }));
  assert(services.fired.some(({ tag }) => tag === "minion/refresh/web1"));
});

Deno.test("_pillar without a nonce, or with an unknown algorithm, is still answered", async () => {
  using site = await openSite({ minimum_auth_version: 0 });
  const { web1, services } = site;
  const ask = (inner: Record<string, unknown>, outer: Record<string, unknown>) =>
    web1.send(web1.seal({ cmd: "_pillar", grains: {} }, { inner, outer }));
  assertReply(await ask({ nonce: undefined }, {}), map({ error: "Nonce not included in request" }));
  assertEquals(await ask({}, { enc_algo: "ROT13" }), FAILED);
  assertEquals(await ask({}, { enc_algo: "constructor" }), FAILED);
  assertEquals(await ask({}, { sig_algo: "ROT13" }), FAILED);
  web1.shared = services.auth.sharedKey.crypticle();
  const old = asMap(await ask({ nonce: undefined }, { version: 1, id: undefined }));
  const key = web1.key.decrypt("OAEP-SHA1", asBytes(old.get("key")) ?? new Uint8Array());
  const pillar = new Crypticle(new TextDecoder().decode(key)).loads(asBytes(old.get("pillar")) ?? new Uint8Array());
  assertReply(pillar, new Map());
});

Deno.test("the shared key may be rotated between a request and its reply", async () => {
  using site = await openSite({ minimum_auth_version: 2 });
  const { web1, services } = site;
  const shared = services.auth.sharedKey.crypticle();
  web1.shared = shared;
  const rotating = new RequestHandler({ ...services, fire: () => Promise.resolve(services.auth.sharedKey.rotate()) });
  const nonce = makeNonce();
  const frame = web1.seal({ cmd: "_minion_event", tag: "a", data: {} }, { inner: { nonce }, outer: { version: 2 } });
  assertReply(shared.loads(asBytes(opened(await rotating.handle(frame))) ?? new Uint8Array(), nonce), null);
});

Deno.test("an unexpected error is answered and logged as an error", async () => {
  using site = await openSite();
  const broken = {
    ...site.services,
    auth: {
      ...site.services.auth,
      keys: Object.create(site.services.auth.keys, {
        version: {
          value: () => {
            throw new Error("disk on fire");
          },
        },
      }),
    },
  };
  const handler = new RequestHandler(broken);
  assertEquals(opened(await handler.handle(site.web1.seal({ cmd: "_master_tops" }))), FAILED);
  assertStringIncludes(site.services.logged.join("\n"), "disk on fire");
  assertMatch(site.services.logged[0], /^ERROR/);
});

Deno.test("repeated frames of an unknown peer add only a few log lines a second", async () => {
  using services = await testServices();
  const handler = new RequestHandler(services);
  const publish = { cmd: "publish", tgt: "*", tgt_type: "glob", fun: "test.ping", arg: [], jid: "", ret: "" };
  const frames = [
    new Uint8Array([0xc1]),
    clearRequest(map({ cmd: "nonesuch" })),
    clearRequest(map({ cmd: "_auth" })),
    clearRequest(map({ ...publish, user: "root", key: "guessed" })),
  ];
  for (let n = 0; n < 400; n++) await handler.handle(frames[n % frames.length]);
  // Ten lines a second, and one line with the number of suppressed lines, for the seconds that this took. Lines of
  // lower levels are not limited.
  const lines = services.logged.filter((line) => !/^(debug|trace): /i.test(line));
  assert(lines.length >= 10 && lines.length < 100, `${lines.length} lines`);
});
