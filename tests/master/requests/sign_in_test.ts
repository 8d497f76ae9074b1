/** @module */
import { Crypticle } from "#lib/crypto/crypticle.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { KEY_DIRECTORIES, type KeyState } from "#lib/keys/store.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { RequestHandler } from "#lib/master/requests/request_handler.ts";
import { signInMinion } from "#lib/master/requests/sign_in.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { asMap, makeNonce, ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { SIGN_IN_ROWS } from "./sign_in_rows.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";

interface Site extends Disposable {
  readonly services: TestServices;
  readonly minion: ScriptedMinion;
}

async function openSite(overrides: Record<string, Value> = {}, id = "web1"): Promise<Site> {
  const services = await testServices(overrides);
  const handler = new RequestHandler(services);
  const minion = new ScriptedMinion(id, await testKey("web1"), (frame) => handler.handle(frame));
  return { services, minion, [Symbol.dispose]: () => services[Symbol.dispose]() };
}

/** The content of the pki directory, by path and owner: `minions/web1` is `mine`, `other` or another text. */
async function keysOnDisk({ services, minion }: Site): Promise<Record<string, string>> {
  const names = new Map([[minion.key.publicKey.pem, "mine"], [(await testKey("other")).publicKey.pem, "other"]]);
  const states: Record<string, string> = {};
  for (const directory of Object.values(KEY_DIRECTORIES)) {
    try {
      for (const { name, isFile } of Deno.readDirSync(`${services.opts.pki_dir}/${directory}`)) {
        if (!isFile) continue;
        const pem = Deno.readTextFileSync(`${services.opts.pki_dir}/${directory}/${name}`);
        states[`${directory}/${name}`] = names.get(pem.trim()) ?? pem;
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return states;
}

Deno.test("a sign-in has the reply, the files and the event of the state machine", async (t) => {
  for (const row of SIGN_IN_ROWS) {
    await t.step(row.name, async () => {
      using site = await openSite(row.opts, row.id);
      const { services: { opts, auth: { keys, masterKeys: { current: masterKey } }, fired }, minion } = site;
      opts.autosign_file = `${site.services.root}/autosign`;
      opts.autoreject_file = `${site.services.root}/autoreject`;
      opts.autosign_grains_dir = `${site.services.root}/grains`;
      Deno.mkdirSync(opts.autosign_grains_dir);
      Deno.writeTextFileSync(`${opts.autosign_grains_dir}/uuid`, "secret\n", { mode: 0o600 });
      if (row.files?.autosign) Deno.writeTextFileSync(opts.autosign_file, row.files.autosign, { mode: 0o600 });
      if (row.files?.autoreject) {
        Deno.writeTextFileSync(opts.autoreject_file, row.files.autoreject, { mode: 0o600 });
      }
      if (row.files?.stub) {
        Deno.mkdirSync(`${opts.pki_dir}/minions_autosign`);
        Deno.writeTextFileSync(`${opts.pki_dir}/minions_autosign/${row.files.stub}`, "");
      }
      for (const [state, owner] of Object.entries(row.stored ?? {})) {
        keys.put("web1", state as KeyState, (await testKey(owner === "mine" ? "web1" : owner)).publicKey.pem);
      }
      const nonce = makeNonce();
      const { outer, inner } = await minion.signIn({ nonce, ...row.fields });
      assertEquals([...outer.keys()], ["enc", "load", "sig"]);
      const load = asBytes(outer.get("load")) ?? new Uint8Array();
      assert(
        masterKey.publicKey.verify("PKCS1v15-SHA1", load, asBytes(outer.get("sig")) ?? new Uint8Array()),
        "unsigned",
      );
      assertEquals(inner.get("nonce"), nonce);
      assertEquals(inner.get("ret") ?? (inner.has("aes") ? "keys" : undefined), row.reply);
      assertEquals(await keysOnDisk(site), row.disk);
      if (row.files?.stub) assertEquals([...Deno.readDirSync(`${opts.pki_dir}/minions_autosign`)], []);
      const events = fired.map(({ tag, data }) => [tag, data.get("act"), data.get("result"), data.get("id")]);
      assertEquals(events, row.event === undefined ? [] : [["salt/auth", ...row.event, "web1"]]);
      if (row.event) assertEquals(fired[0].data.get("pub"), minion.key.publicKey.pem);
    });
  }
});

Deno.test("an accepted key truncated by a power failure is named, and the minion's new key becomes pending", async () => {
  const whole = (await testKey("web1")).publicKey.pem;
  for (const left of ["", "\0\0\0", "-----BEGIN PUB", whole.slice(0, 100)]) {
    using site = await openSite();
    const { services, minion } = site;
    services.auth.keys.put("web1", "accepted", left);
    assertEquals((await minion.signIn()).inner.get("ret"), true, JSON.stringify(left));
    assertEquals(await keysOnDisk(site), { "minions_pre/web1": "mine" });
    assertStringIncludes(services.logged.join("\n"), "The accepted key of web1 is empty or cut");
  }
  // A rejection stays a rejection, even if its file is empty. A different complete key is denied as usual.
  for (const [state, pem] of [["rejected", ""], ["accepted", (await testKey("other")).publicKey.pem]] as const) {
    using site = await openSite();
    site.services.auth.keys.put("web1", state, pem);
    assertEquals((await site.minion.signIn()).inner.get("ret"), false);
    assertEquals(site.services.auth.keys.state("web1"), state);
  }
});

Deno.test("the reply to an accepted minion has Salt's fields in Salt's order, and the largest request size", async () => {
  for (const [enc_algo, sig_algo] of [["OAEP-SHA1", "PKCS1v15-SHA1"], ["OAEP-SHA224", "PKCS1v15-SHA224"]] as const) {
    using site = await openSite({ auto_accept: true });
    const { services: { auth: { masterKeys: { current: masterKey }, sharedKey, sessions } }, minion } = site;
    const ownToken = new TextEncoder().encode("t".repeat(76));
    const token = masterKey.publicKey.encrypt(enc_algo, ownToken);
    const { outer, inner } = await minion.signIn({ enc_algo, sig_algo, token });
    const salts = ["enc", "pub_key", "publish_port", "token", "aes", "session", "sig"];
    assertEquals([...inner.keys()], [...salts, "max_request_bytes", "rekey", "nonce"]);
    assertEquals(inner.get("max_request_bytes"), 104_857_600);
    assertEquals(inner.get("pub_key"), masterKey.publicKey.pem);
    assertEquals(inner.get("publish_port"), 4505);
    const bytes = (field: string) => asBytes(inner.get(field)) ?? new Uint8Array();
    assertEquals(minion.key.decrypt(enc_algo, bytes("token")), ownToken);
    const text = (field: string) => new TextDecoder().decode(minion.key.decrypt(enc_algo, bytes(field)));
    assertEquals(text("aes"), sharedKey.text);
    assertEquals(text("session"), sessions.forSignIn("web1"));
    const digest = new TextDecoder().decode(masterKey.publicKey.recoverX931(bytes("sig")));
    assertEquals(digest, hashHex(sharedKey.text, "sha256"));
    const load = asBytes(outer.get("load")) ?? new Uint8Array();
    assert(masterKey.publicKey.verify(sig_algo, load, asBytes(outer.get("sig")) ?? new Uint8Array()));
  }
});

Deno.test("a token that cannot be decrypted is logged, and missing from the reply", async () => {
  using site = await openSite({ auto_accept: true });
  for (const token of [new Uint8Array(256).fill(3), "short", new Uint8Array()]) {
    const { inner } = await site.minion.signIn({ token });
    assert(inner.has("aes") && !inner.has("token"));
  }
  assertStringIncludes(
    site.services.logged.join("\n"),
    "WARNING: The token in the sign-in of web1 cannot be decrypted",
  );
});

Deno.test("unknown algorithms are refused in Salt's words", async () => {
  using site = await openSite({ auto_accept: true });
  const refused = async (fields: Record<string, unknown>) => (await site.minion.signIn(fields)).outer;
  assertEquals(await refused({ sig_algo: "ROT13" }), map({ enc: "clear", load: { ret: "bad sig algo" } }));
  assertEquals(await refused({ sig_algo: 5 }), map({ enc: "clear", load: { ret: "bad sig algo" } }));
  assertEquals(await refused({ enc_algo: "ROT13" }), map({ enc: "clear", load: { ret: "bad enc algo" } }));
  assertEquals(await refused({ enc_algo: "__proto__" }), map({ enc: "clear", load: { ret: "bad enc algo" } }));
  // The default algorithms use SHA-1.
  assert((await site.minion.signIn({ enc_algo: "OAEP-SHA1", sig_algo: "PKCS1v15-SHA1" })).inner.has("aes"));
});

Deno.test("minimum_auth_version 0: version 2 is answered as 3, versions 0 and 1 unsigned and without a nonce", async () => {
  using site = await openSite({ auto_accept: true, minimum_auth_version: 0 });
  const second = await site.minion.signIn({}, 2);
  assert(second.outer.has("sig") && second.inner.has("nonce") && second.inner.has("aes"));
  for (const version of [0, 1]) {
    const { outer } = await site.minion.signIn({ nonce: undefined }, version);
    assertEquals([...outer.keys()], ["enc", "pub_key", "publish_port", "aes", "session", "sig"]);
    assertEquals(outer.get("enc"), "pub");
    assertEquals(
      (await site.minion.signIn({ id: "../x" }, version)).outer,
      map({ enc: "clear", load: { ret: false } }),
    );
  }
});

Deno.test("master_sign_pubkey adds a signature by the signing key, or the precomputed signature", async () => {
  using site = await openSite({ auto_accept: true, master_sign_pubkey: true });
  const { services: { opts, auth: { masterKeys: { current: masterKey } } }, minion } = site;
  const signer = await testKey("signer");
  Deno.writeTextFileSync(`${opts.pki_dir}/master_sign.pem`, signer.pem);
  const { inner } = await minion.signIn();
  const pubSig = String(inner.get("pub_sig"));
  assert(pubSig.endsWith("\n"));
  const pem = new TextEncoder().encode(masterKey.publicKey.pem);
  assert(signer.publicKey.verify("PKCS1v15-SHA1", pem, Uint8Array.fromBase64(pubSig.trim())));
  Deno.writeTextFileSync(`${opts.pki_dir}/master_pubkey_signature`, "made beforehand\n");
  opts.master_use_pubkey_signature = true;
  assertEquals((await minion.signIn()).inner.get("pub_sig"), "made beforehand\n");
  Deno.removeSync(`${opts.pki_dir}/master_sign.pem`);
  opts.master_use_pubkey_signature = false;
  // Without both, the sign-in is still answered, and the log names the file.
  await assertRejects(() => minion.signIn(), TypeError, "Some exception handling minion payload");
  assertStringIncludes(site.services.logged.join("\n"), "master_sign.pem");
});

Deno.test("max_minions: a new minion is answered `full`, a connected one is not", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const port = (listener.addr as Deno.NetAddr).port;
  const connections = [await Deno.connect({ port }), await listener.accept()];
  try {
    using site = await openSite({ auto_accept: true, max_minions: 1 });
    const services = { ...site.services, minions: { ...site.services.minions, publishPort: port } };
    for (const id of ["web1", "db1"]) services.minions.data.setGrains(id, map({ ipv4: ["127.0.0.1"] }));
    const handler = new RequestHandler(services);
    const ask = (frame: Uint8Array) => handler.handle(frame);
    const stranger = new ScriptedMinion("web2", await testKey("web1"), ask);
    assertEquals((await stranger.signIn()).inner.get("ret"), "full");
    assertEquals(services.fired.map(({ tag, data }) => [tag, data.get("act"), data.get("result")]), [[
      "salt/auth",
      "full",
      false,
    ]]);
    assert((await new ScriptedMinion("web1", await testKey("web1"), ask).signIn()).inner.has("aes"));
  } finally {
    for (const connection of connections) connection.close();
  }
});

Deno.test("auth_events: false fires nothing", async () => {
  using site = await openSite({ auth_events: false });
  await site.minion.signIn();
  assertEquals(site.services.fired, []);
});

Deno.test("auth_events_autosign_grains: the events of these decisions have the grains that the minion showed", async () => {
  const autosign_grains = map({ uuid: "4711" });
  const fired = async (opts: Record<string, Value>, fields: Record<string, Value>) => {
    using site = await openSite(opts);
    await site.minion.signIn(fields);
    return site.services.fired.map(({ data }) => [data.get("act"), data.get("autosign_grains")]);
  };
  const asked = { auth_events_autosign_grains: ["pend"] };
  assertEquals(await fired(asked, { autosign_grains }), [["pend", autosign_grains]]);
  assertEquals(await fired(asked, {}), [["pend", undefined]]);
  assertEquals(await fired(asked, { autosign_grains: new Map() }), [["pend", undefined]]);
  assertEquals(await fired({ ...asked, auto_accept: true }, { autosign_grains }), [["accept", undefined]]);
  assertEquals(await fired({}, { autosign_grains }), [["pend", undefined]]);
  // Whoever can reach the master can ask, so the event has no more than a bound.
  assertEquals(await fired(asked, { autosign_grains: map({ uuid: "x".repeat(20_000) }) }), [["pend", undefined]]);
});

Deno.test("a key too small for the reply's keys is refused at once, and not stored", async () => {
  using site = await openSite({ auto_accept: true });
  const handler = new RequestHandler(site.services);
  const small = new ScriptedMinion("web1", await testKey("small", 1024), (frame) => handler.handle(frame));
  assertEquals((await small.signIn({ enc_algo: "OAEP-SHA224" })).inner.get("ret"), false);
  assertEquals(await keysOnDisk(site), {});
  // With the smaller hash the keys fit.
  assert((await small.signIn()).inner.has("aes"));
});

Deno.test("a key that cannot be stored is answered as pending or refused, never with the session keys", async () => {
  const other = await testKey("other");
  const cases: [directory: string, opts: Record<string, Value>, accepted: boolean, ret: boolean][] = [
    ["minions_pre", {}, false, true],
    ["minions", { auto_accept: true }, false, true],
    ["minions_denied", {}, true, false],
  ];
  for (const [directory, opts, accepted, ret] of cases) {
    using site = await openSite(opts);
    const { services, minion } = site;
    if (accepted) services.auth.keys.put("web1", "accepted", other.publicKey.pem);
    Deno.mkdirSync(`${services.opts.pki_dir}/${directory}/web1/x`, { recursive: true });
    const { inner } = await minion.signIn();
    assertEquals([...inner.keys()], ["ret", "nonce"]);
    assertEquals(inner.get("ret"), ret);
    assertEquals(services.fired, []);
    assertStringIncludes(services.logged.join("\n"), "ERROR: The key of web1 could not be stored");
  }
});

Deno.test("a key that is another one when it is stored is answered as pending, never with the session keys", async () => {
  using site = await openSite({ auto_accept: true });
  const { services } = site;
  const keyBank = { ...services.auth.keyBank, change: () => Promise.resolve([false]) };
  const handler = new RequestHandler({ ...services, auth: { ...services.auth, keyBank } });
  const minion = new ScriptedMinion("web1", await testKey("web1"), (frame) => handler.handle(frame));
  const { inner } = await minion.signIn();
  assertEquals([[...inner.keys()], inner.get("ret"), services.fired], [["ret", "nonce"], true, []]);
  assertStringIncludes(services.logged.join("\n"), "could not be stored: another key was stored meanwhile");
});

Deno.test("a sign-in that an accepted minion, or whoever recorded it, repeats gets no answer, and one line in the log", async () => {
  using site = await openSite({ auto_accept: true });
  const { services, minion: { key } } = site;
  services.auth.keys.put("web1", "accepted", key.publicKey.pem);
  const load = map({ cmd: "_auth", id: "web1", nonce: makeNonce(), pub: key.publicKey.pem });
  const answers: boolean[] = [];
  for (let i = 0; i < 5; i++) answers.push(await signInMinion(load, 3, services) !== undefined);
  assertEquals(answers, [true, true, true, false, false]);
  assertEquals(services.logged.filter((line) => line.startsWith("WARNING")), [
    "WARNING: Too many sign-ins of web1; they get no answer for now",
  ]);
});

Deno.test("two workers that handle the same sign-in at the same time agree, and one stub accepts one key", async () => {
  using site = await openSite();
  const { services } = site;
  Deno.mkdirSync(`${services.opts.pki_dir}/minions_autosign`);
  Deno.writeTextFileSync(`${services.opts.pki_dir}/minions_autosign/web1`, "");
  const workers = [new RequestHandler(services), new RequestHandler(services)];
  const minions = await Promise.all(
    ["web1", "other"].map(async (name, i) =>
      new ScriptedMinion("web1", await testKey(name), (frame) => workers[i].handle(frame))
    ),
  );
  const replies = await Promise.all(minions.map(async (minion) => (await minion.signIn()).inner));
  assertEquals(replies.filter((inner) => inner.has("aes")).length, 1);
  assertEquals(replies.filter((inner) => inner.get("ret") === false).length, 1);
  const { "minions/web1": winner, "minions_denied/web1": loser, ...rest } = await keysOnDisk(site);
  assertEquals([[winner, loser].sort(), rest], [["mine", "other"], {}]);
});

Deno.test("a session key is kept over sign-ins, and decrypts the minion's requests", async () => {
  using site = await openSite({ auto_accept: true });
  const { minion, services } = site;
  await minion.signIn();
  const first = minion.session?.keyString;
  await minion.signIn();
  assertEquals(minion.session?.keyString, first);
  assertEquals(await minion.request({ cmd: "_master_tops" }), new Map());
  assertEquals(minion.shared?.keyString, services.auth.sharedKey.text);
  assert(minion.session instanceof Crypticle);
});

Deno.test("a sign-in whose fields all have wrong types is answered", async () => {
  using site = await openSite();
  const replies: unknown[] = [];
  for (
    const fields of [{ nonce: 5 }, { nonce: ["x"] }, { pub: ["x"] }, { token: { a: 1 } }, {
      pub: new Uint8Array([0xff]),
    }]
  ) {
    replies.push(asMap((await site.minion.signIn(fields)).inner).get("ret"));
  }
  assertEquals(replies, [true, true, false, true, false]);
});

Deno.test("a private key offered as the public one is refused", async () => {
  using site = await openSite({ auto_accept: true });
  const pem = (await PrivateKey.generate(1024)).pem;
  assertEquals((await site.minion.signIn({ pub: pem })).inner.get("ret"), false);
  assertEquals(await keysOnDisk(site), {});
});
