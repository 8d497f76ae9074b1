/**
 * A running master under attack on both ports: after any frames from unknown peers, the next honest request is served.
 * @module
 */
import { decode, encode } from "#lib/values/msgpack.ts";
import { publishPullPath } from "#lib/config/master_paths.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { Inbox, Outbox } from "#lib/sockets/endpoint.ts";
import type { Frames } from "#lib/sockets/libzmq.ts";
import { equals, map, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";
import { envelope, opened, ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { Peer } from "#tests/support/fleet/peer.ts";

const BOUND_MS = 60_000;
const TIMEOUTS = { timeoutMs: BOUND_MS, tries: 1 };
const FAILED = "Some exception handling minion payload";

const hex = (text: string) => Uint8Array.fromHex(text.replaceAll(/\s/g, ""));
const bytes = (...parts: (Uint8Array | string)[]) =>
  new Uint8Array(parts.flatMap((part) => [...(typeof part === "string" ? new TextEncoder().encode(part) : part)]));

/** ZMTP 3.0's greeting, NULL mechanism. */
const GREETING = bytes(hex("ff 0000000000000001 7f 03 00"), "NULL", new Uint8Array(16 + 32));
const ready = (type: string) => {
  const body = bytes(
    hex("05"),
    "READY",
    hex("0b"),
    "Socket-Type",
    hex(`000000${type.length.toString(16).padStart(2, "0")}`),
    type,
  );
  return bytes(hex("04"), new Uint8Array([body.length]), body);
};
const HANDSHAKE = bytes(GREETING, ready("DEALER"));
const noise = (size: number) => {
  const out = new Uint8Array(size);
  let state = 12345; // the same random bytes in every run
  for (let i = 0; i < size; i++) out[i] = (state = (state * 1103515245 + 12345) & 0x7fffffff) >> 16;
  return out;
};

/** The bytes that unknown peers write to a port before they close the connection. */
const ATTACKS: [name: string, sent: Uint8Array][] = [
  ["nothing", new Uint8Array()],
  ["noise", noise(100_000)],
  ["an HTTP request", bytes("GET / HTTP/1.1\r\nHost: master\r\n\r\n")],
  ["a TLS hello", hex("16 0301 0200 0100 01fc 0303")],
  ["half a greeting", GREETING.subarray(0, 20)],
  ["a greeting of ZMTP 1.0", hex("01 00")],
  ["a greeting of ZMTP 2.0", bytes(hex("ff 0000000000000001 7f 01 05 00 00"), hex("00 03 010203"))],
  [
    "a greeting that asks for PLAIN",
    bytes(hex("ff 0000000000000001 7f 03 00"), "PLAIN", new Uint8Array(15 + 32), noise(500)),
  ],
  ["a greeting and noise", bytes(GREETING, noise(1000))],
  ["a greeting and an unknown command", bytes(GREETING, hex("04 06 05"), "ERROR")],
  ["a greeting and a socket type that does not fit", bytes(GREETING, ready("PUB"))],
  ["a handshake and a truncated frame", bytes(HANDSHAKE, hex("00 10 0102"))],
  ["a handshake and a frame of a claimed 2^63 bytes", bytes(HANDSHAKE, hex("02 7fffffffffffffff"), noise(1000))],
  ["a handshake and a frame of a claimed 2^64-1 bytes", bytes(HANDSHAKE, hex("02 ffffffffffffffff"), noise(1000))],
  ["a handshake and a frame of a claimed 4 GiB", bytes(HANDSHAKE, hex("02 0000000100000000"), noise(1000))],
  ["a handshake and unknown frame flags", bytes(HANDSHAKE, hex("f8 01 00"))],
  [
    "a handshake and 10,000 empty frames of one message",
    bytes(HANDSHAKE, new Uint8Array(20_000).map((_, i) => i % 2 === 0 ? 1 : 0)),
  ],
  ["a handshake and garbage after a delimiter", bytes(HANDSHAKE, hex("01 00 00 03 c1c1c1"))],
  [
    "a handshake and PINGs with long contexts",
    bytes(HANDSHAKE, hex("04 07 04"), "PING", hex("0000"), hex("04 ff 04"), "PING", noise(250)),
  ],
  [
    "a handshake, and half a honest request",
    bytes(HANDSHAKE, hex("01 00 00 20"), clearRequest(map({ cmd: "ping" })).subarray(0, 10)),
  ],
];

async function attack(port: number, sent: Uint8Array): Promise<void> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  try {
    for (let at = 0; at < sent.length;) at += await connection.write(sent.subarray(at));
  } catch {
    return; // disconnected in the middle: also a valid reaction
  }
  // The master may close the connection or wait for more bytes.
  const timer = setTimeout(() => connection.close(), 30);
  try {
    while (await connection.read(new Uint8Array(1000)) !== null);
  } catch {
    return;
  } finally {
    clearTimeout(timer);
  }
}

function openChannel(fleet: Fleet): RequestChannel {
  return new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
}

async function ping(channel: RequestChannel): Promise<void> {
  const load = map({ cmd: "ping", proof: makeJid() });
  assertValue(opened(await channel.request(clearRequest(load), TIMEOUTS)), load);
}

/** Lets the operator's command publish jobs for a minion that never signs in, until one comes. */
async function untilPublished(fleet: Fleet, subscriber: Inbox): Promise<void> {
  fleet.keys.put("web1", "accepted", (await testKey("web1")).publicKey.pem);
  await eventually(async () => {
    const run = await fleet.salt("--async", "web1", "test.ping");
    assertEquals(run.code, 0, run.err);
    return await subscriber.receive(100);
  }, { what: "a publish" });
}

function assertValue(actual: Value, expected: Value, message = ""): void {
  if (!equals(actual, expected)) {
    throw new Error(`${message} ${repr(actual).slice(0, 500)} is not ${repr(expected).slice(0, 500)}`);
  }
}

function assertNobodyDied({ logs }: Fleet): void {
  const deaths = logs.filter((line) => /CRITICAL|\bdied\b/.test(line));
  assertEquals(deaths, []);
}

/**
 * Sends the frames unchanged, without a delimiter.
 * @returns The frames of the reply.
 */
async function exchange(fleet: Fleet, frames: Frames): Promise<Frames | undefined> {
  using peer = Peer.dealer();
  peer.connect(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
  assert(await peer.send(frames, BOUND_MS));
  return await peer.receive(BOUND_MS);
}

const SMALL_LIMIT = { max_request_bytes: 1_000_000 };

fleetTest(
  "garbage, half handshakes and truncated frames on both ports stop nobody",
  { master: SMALL_LIMIT },
  async (fleet) => {
    const { ret_port, publish_port } = fleet.masterOpts;
    using channel = openChannel(fleet);
    for (const [name, sent] of ATTACKS) {
      for (const port of [ret_port, publish_port]) await attack(port, sent);
      try {
        await ping(channel);
      } catch (error) {
        throw new Error(`no answer after ${name}`, { cause: error });
      }
    }
    await Promise.all(ATTACKS.flatMap(([, sent]) => [ret_port, publish_port].map((port) => attack(port, sent))));
    await ping(channel);
    // The publisher is also still running.
    using subscriber = Inbox.subscriber();
    subscriber.subscribe("");
    subscriber.connect(`tcp://127.0.0.1:${publish_port}`);
    await untilPublished(fleet, subscriber);
    assertNobodyDied(fleet);
  },
);

fleetTest("garbage on the socket of the Publisher is logged, and the next job is published", {}, async (fleet) => {
  using push = Outbox.push();
  push.connect(`ipc://${publishPullPath(fleet.masterOpts.sock_dir)}`);
  using subscriber = Inbox.subscriber();
  subscriber.subscribe("");
  subscriber.connect(`tcp://127.0.0.1:${fleet.masterOpts.publish_port}`);
  const garbage = [noise(1000), new Uint8Array(), encode(map({ load: 5 }), "disk"), encode(["load"], "disk")];
  for (const frame of garbage) assert(await push.send([frame], BOUND_MS));
  await eventually(() => fleet.logs.filter((line) => line.includes("Could not publish a job: ")).length === 4, {
    what: "four lines in the log",
  });
  await untilPublished(fleet, subscriber);
  assertNobodyDied(fleet);
});

const PING = clearRequest(map({ cmd: "ping" }));
const none = new Uint8Array();

/** Messages of peers other than REQ: the frames sent, and the frames of the reply after the routing id. */
const SHAPES: [name: string, sent: Frames, reply: Frames][] = [
  ["a request as REQ sends it", [none, PING], [none, encode(map({ cmd: "ping" }), "wire")]],
  ["a request without a delimiter", [PING], [encode(map({ cmd: "ping" }), "wire")]],
  ["a request through one more hop", [hex("01"), none, PING], [hex("01"), none, encode(map({ cmd: "ping" }), "wire")]],
  ["a delimiter alone", [none], [none, encode(map({ msg: "bad load" }), "wire")]],
  ["a delimiter and an empty frame", [none, none], [none, encode(map({ msg: "bad load" }), "wire")]],
  ["two bodies", [none, PING, PING], [none, encode(map({ msg: "bad load" }), "wire")]],
  ["two frames without a delimiter", [PING, PING], [encode(map({ msg: "bad load" }), "wire")]],
  ["a body before the delimiter", [PING, none], [PING, none, encode(map({ msg: "bad load" }), "wire")]],
  ["noise", [none, noise(5_000)], [none, encode(map({ msg: "bad load" }), "wire")]],
  ["100 frames", [none, ...Array.from({ length: 99 }, () => PING)], [none, encode(map({ msg: "bad load" }), "wire")]],
];

fleetTest("messages of any shape are answered on the way that they came", {}, async (fleet) => {
  for (const [name, sent, reply] of SHAPES) assertEquals(await exchange(fleet, sent), reply, name);
  using channel = openChannel(fleet);
  await ping(channel);
  assertNobodyDied(fleet);
});

fleetTest(
  "a frame above max_request_bytes ends its connection; one below is served",
  { master: SMALL_LIMIT },
  async (fleet) => {
    using channel = openChannel(fleet);
    const load = (size: number) => map({ cmd: "ping", data: "x".repeat(size) });
    assertValue(opened(await channel.request(clearRequest(load(999_000)), TIMEOUTS)), load(999_000));
    using peer = Peer.dealer();
    peer.connect(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
    assert(await peer.send([none, clearRequest(load(1_000_001))], BOUND_MS));
    assertEquals(await peer.receive(300), undefined);
    await ping(channel);
  },
);

fleetTest("a 10 MB request is served by default", {}, async (fleet) => {
  using channel = openChannel(fleet);
  const load = map({ cmd: "ping", data: "x".repeat(10_000_000) });
  assertValue(opened(await channel.request(clearRequest(load), TIMEOUTS)), load);
});

fleetTest("CVE-2023-20897: ten bad packets for each worker, of every kind, and the master answers", {
  master: { minimum_auth_version: 0 },
}, async (fleet) => {
  const { worker_threads } = fleet.masterOpts;
  const clear = (load: Value) => envelope({ enc: "clear", load, version: 3 });
  const web1 = new ScriptedMinion("web1", await testKey("web1"), async (frame) => {
    using channel = openChannel(fleet);
    return await channel.request(frame, TIMEOUTS);
  });
  await web1.signIn();
  const bad: [name: string, frame: Uint8Array, reply: Value][] = [
    ["garbage", hex("c1"), map({ msg: "bad load" })],
    ["an empty frame", none, map({ msg: "bad load" })],
    ["a value that is no map", hex("05"), "bad load"],
    ["an _auth without a nonce", clear(map({ cmd: "_auth", id: "a", pub: "" })), FAILED],
    ["a version that is None", envelope({ enc: "clear", load: {}, version: null }), "bad load"],
    ["a version that is a map", envelope({ enc: "clear", load: {}, version: {} }), "bad load"],
    ["an id that is a list", clear(map({ cmd: "ping", id: [] })), "bad load: id a list is not a string"],
    ["an id of 10 KB", clear(map({ cmd: "nonesuch", id: "x".repeat(10_000) })), new Map()],
    [
      "_pillar with an unknown algorithm",
      web1.seal({ cmd: "_pillar", grains: {} }, { outer: { enc_algo: "x" } }),
      FAILED,
    ],
  ];
  const peers = await Promise.all(
    bad.flatMap(([name, frame, reply]) =>
      Array.from({ length: 10 * worker_threads }, async () => {
        const answer = await exchange(fleet, [none, frame]);
        assert(answer !== undefined, `no answer to ${name}`);
        assertValue(decode(answer[1], "wire"), reply, name);
      })
    ),
  );
  assertEquals(peers.length, bad.length * 10 * worker_threads);
  // The reply is signed, so it differs each time.
  for (let n = 0; n < 10 * worker_threads; n++) {
    assertEquals((await web1.signIn({ pub: undefined, nonce: "n" })).inner.get("ret"), false);
  }
  using channel = openChannel(fleet);
  for (let n = 0; n < 2 * worker_threads; n++) await ping(channel);
  assertNobodyDied(fleet);
  for (const line of fleet.logs) {
    assert(line.length < 1_000, `a line of ${line.length} characters: ${line.slice(0, 200)}`);
  }
});

fleetTest("CVE-2020-11651: no method but the listed ones can be called from outside", {}, async (fleet) => {
  using channel = openChannel(fleet);
  fleet.keys.put("web1", "accepted", (await testKey("web1")).publicKey.pem);
  using subscriber = Inbox.subscriber();
  subscriber.subscribe("");
  subscriber.connect(`tcp://127.0.0.1:${fleet.masterOpts.publish_port}`);
  using events = await fleet.listen("");
  const names = [
    "_send_pub",
    "_prep_auth_info",
    "_prep_pub",
    "_prep_jid",
    "_handle_aes",
    "__proto__",
    "constructor",
    "toString",
  ];
  const job = { tgt: "*", fun: "cmd.run", arg: ["id"], jid: makeJid(), tgt_type: "glob", ret: "", user: "root" };
  for (
    const cmd of [
      ...names,
      "hasOwnProperty",
      "valueOf",
      "",
      "_return",
      "_pillar",
      "minion_pub",
      "revoke_auth",
      "_minion_event",
    ]
  ) {
    const reply = opened(await channel.request(clearRequest(map({ cmd, ...job, id: "web1" })), TIMEOUTS));
    assertValue(reply, new Map(), cmd);
  }
  const resolved = opened(await channel.request(clearRequest(map({ cmd: "resolve", ...job })), TIMEOUTS));
  const refused = { name: "AuthenticationError", message: "Authentication error occurred." };
  assertValue(resolved, map({ error: refused }), "resolve");
  assertEquals(await subscriber.receive(200), undefined);
  assertEquals(await events.next(0), undefined);
  assertEquals(fleet.keys.list("accepted"), ["web1"]);
});

fleetTest(
  "CVE-2020-11652, CVE-2021-3144, CVE-2021-25281: tokens, wheel and runner need credentials",
  {},
  async (fleet) => {
    using channel = openChannel(fleet);
    const ask = async (load: Record<string, unknown>) =>
      opened(await channel.request(clearRequest(map(load)), TIMEOUTS));
    const refused = map({
      error: { name: "UserAuthenticationError", message: 'Authentication failure of type "user" occurred' },
    });
    const noToken = map({
      error: { name: "TokenAuthenticationError", message: 'Authentication failure of type "token" occurred.' },
    });
    const places = ["../../../etc/shadow", "/etc/shadow", "x"];
    for (const token of places) {
      assertValue(await ask({ cmd: "get_token", token }), new Map());
      for (const fun of ["file_roots.read", "pillar_roots.write", "config.update_config", "key.accept"]) {
        for (const cmd of ["wheel", "runner"]) {
          assertValue(await ask({ cmd, fun, path: token, saltenv: "base", data: "x", match: "*" }), refused);
          assertValue(await ask({ cmd, fun, token, eauth: "pam", username: "root", password: "" }), noToken);
        }
      }
    }
    assertEquals(await ask({ cmd: "get_token" }), false);
    assertEquals(await ask({ cmd: "mk_token", eauth: "pam", username: "root", password: "x" }), "");
    assertValue(await ask({ cmd: "wheel_async", fun: "key.accept", match: "*" }), refused);
  },
);

fleetTest("CVE-2025-62349: versions below the minimum are refused, whatever they ask", {}, async (fleet) => {
  const web1 = new ScriptedMinion("web1", await testKey("web1"), async (frame) => {
    using channel = openChannel(fleet);
    return await channel.request(frame, TIMEOUTS);
  });
  await web1.signIn();
  web1.shared ??= web1.session;
  for (const version of [0, 1, 2]) {
    for (const cmd of ["ping", "_auth", "publish"]) {
      assertEquals(await web1.send(envelope({ enc: "clear", load: { cmd, id: "web1" }, version })), "bad load");
    }
    assertEquals(await web1.send(web1.seal({ cmd: "_return" }, { outer: { version } })), "bad load");
  }
});

fleetTest(
  "CVE-2024-38822, CVE-2022-22936: a minion is no other, and a replay after its session is refused",
  {},
  async (fleet) => {
    const ask = async (frame: Uint8Array) => {
      using channel = openChannel(fleet);
      return await channel.request(frame, TIMEOUTS);
    };
    const a = new ScriptedMinion("a", await testKey("web1"), ask);
    const b = new ScriptedMinion("b", await testKey("other"), ask);
    await Promise.all([a.signIn(), b.signIn()]);
    const commands = [
      "_pillar",
      "_return",
      "_minion_event",
      "_mine",
      "_mine_get",
      "_mine_delete",
      "_mine_flush",
      "_file_recv",
    ];
    const all = [
      ...commands,
      "_serve_file",
      "_master_opts",
      "minion_pub",
      "minion_publish",
      "pub_ret",
      "minion_runner",
      "revoke_auth",
    ];
    for (const cmd of all) {
      const as = (inner: Record<string, unknown>, outer: Record<string, unknown>) =>
        a.send(a.seal({ cmd, jid: makeJid(), return: 1 }, { inner, outer }));
      assertEquals(await as({ id: "b" }, {}), "bad load", `${cmd} under another inner id`);
      assertEquals(await as({ id: "b" }, { id: "b" }), "bad load", `${cmd} under the wrong session`);
      assertEquals(await as({}, { id: "b" }), "bad load", `${cmd} under another outer id`);
      assertEquals(await as({ tok: b.token }, {}), "bad load", `${cmd} with another's token`);
    }
    // CVE-2024-38823: a recorded request is refused after the session has changed.
    const recorded = a.seal({ cmd: "_minion_event", tag: "recorded", data: {} });
    assert(await a.send(recorded) !== "bad load");
    assertEquals(await a.request({ cmd: "revoke_auth" }), true);
    assertEquals(await a.send(recorded), "bad load");
    await a.signIn();
    assertEquals(await a.send(recorded), "bad load");
    assertEquals(fleet.keys.list("accepted"), ["a", "b"]);
  },
);
