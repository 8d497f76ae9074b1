/**
 * A master that stands alone and replaces its key pair, with minions.
 * @module
 */

import { Crypticle } from "#lib/crypto/crypticle.ts";
import { PublicKey } from "#lib/crypto/rsa.ts";
import { announcedKey } from "#lib/keys/master_trust.ts";
import { masterKeyPath } from "#lib/minion/masters/sign_in.ts";
import { rotateMasterPair } from "#lib/keys/master_rotation.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";
import { openChannel, scripted } from "#tests/support/fleet/master_requests.ts";
import { asMap, testKey } from "#tests/support/fleet/scripted_minion.ts";

async function rotate(fleet: Fleet, ...words: string[]): Promise<Value> {
  const { out, err } = await fleet.saltRun("cluster.rotate", "key=master", ...words, "--out=json");
  assert(out !== "", err);
  return parseJson(out);
}

const field = (answer: Value, name: string): Value => (isMap(answer) ? answer.get(name) : undefined) ?? null;
const ownPem = ({ masterOpts }: Fleet) => Deno.readTextFileSync(`${masterOpts.pki_dir}/master.pub`).trim();

/** The key that a minion trusts, and the one that is announced to it. */
function trustOf(fleet: Fleet, id: string): { readonly known: string; readonly next: string | undefined } {
  const path = masterKeyPath(fleet.minionOpts(id).pki_dir);
  return { known: Deno.readTextFileSync(path).trim(), next: announcedKey(path) };
}

async function restartMinion(fleet: Fleet, id: string): Promise<void> {
  await fleet.stopMinion(id);
  await fleet.untilServing([id], () => fleet.startMinion(id));
}

/** The key of the master in its answer to a minion of Salt's. */
async function keyForSalts(fleet: Fleet): Promise<Value> {
  const { inner } = await scripted(fleet, "py1", await testKey("py1")).signIn();
  return inner.get("pub_key") ?? null;
}

fleetTest("cluster.rotate announces the next pair: minions of ours keep it, and the others are named", {
  minions: ["web1"],
}, async (fleet) => {
  const old = ownPem(fleet);
  using _channel = openChannel(fleet);
  assertEquals(await keyForSalts(fleet), old);
  const first = await rotate(fleet, "overlap=90d");
  assertEquals([field(first, "started"), field(first, "needs_old")], [true, ["py1", "web1"]]);
  await restartMinion(fleet, "web1");
  const { known, next } = trustOf(fleet, "web1");
  assertEquals(known, old);
  assert(next !== undefined && next !== old);
  assertEquals(await keyForSalts(fleet), old);
  const again = await rotate(fleet, "overlap=1s");
  assertEquals([field(again, "started"), field(again, "needs_old")], [false, ["py1"]]);
  assertEquals(field(again, "new"), field(first, "new"));
  const { out } = await fleet.saltRun("cluster.rotate", "key=master", "overlap=soon");
  assertStringIncludes(out, "overlap must be a time like 90d");
});

fleetTest("during the overlap ours use the next pair and Salt's the old one; publishes and pillar hold for both", {
  minions: ["web1", "web2"],
  master: { sign_pub_messages: true },
  minion: { sign_pub_messages: true },
}, async (fleet) => {
  const old = ownPem(fleet), nowMs = Date.now();
  // Statements hold whole seconds, rounded up: with "now" the old pair would be used for up to one more second.
  const times = { keysize: 2048, nowMs, notBeforeMs: nowMs - 1000, notAfterMs: nowMs + 3_600_000 };
  const { statement } = await rotateMasterPair(fleet.masterOpts, times);
  await restartMinion(fleet, "web1");
  assertEquals(trustOf(fleet, "web1"), { known: statement.next, next: undefined });
  assertEquals(trustOf(fleet, "web2"), { known: old, next: undefined }, "it has not signed in since");
  assertEquals(await keyForSalts(fleet), old);
  assertEquals(await fleet.saltJson("web*", "test.ping"), map({ web1: true, web2: true }));
  assertEquals(await fleet.saltJson("web1", "saltutil.refresh_pillar", "wait=True"), map({ web1: true }));
  await fleet.stopMaster();
  await fleet.startMaster();
  for (const id of ["web1", "web2"]) await restartMinion(fleet, id);
  assertEquals(trustOf(fleet, "web2").known, statement.next);
  assertEquals(await fleet.saltJson("web*", "test.ping"), map({ web1: true, web2: true }));
});

fleetTest("a minion that was away while the pair was replaced twice comes back by itself, and gets its job", {
  minions: ["web1"],
  master: { loop_interval: 0.2, job_ttl: 3600 },
}, async (fleet) => {
  const { pki_dir } = fleet.masterOpts, first = ownPem(fleet);
  await fleet.stopMinion("web1");
  const { out } = await fleet.salt("--async", "web1", "test.arg", "while_away");
  const jid = /\d{20}/.exec(out)?.[0];
  assert(jid !== undefined, out);
  for (const _ of [1, 2]) {
    const before = ownPem(fleet);
    assertEquals(field(await rotate(fleet, "overlap=0.5s"), "started"), true);
    await eventually(() => ownPem(fleet) !== before && !isFile(`${pki_dir}/master_next.pem`), { what: "the new pair" });
  }
  await fleet.stopMaster();
  await fleet.startMaster();
  assertEquals(trustOf(fleet, "web1").known, first);
  await fleet.untilServing(["web1"], () => fleet.startMinion("web1"));
  assertNotEquals(trustOf(fleet, "web1").known, first);
  assertEquals(trustOf(fleet, "web1").known, ownPem(fleet));
  assertEquals(await fleet.saltJson("web1", "test.ping"), map({ web1: true }));
  await eventually(async () => (await fleet.saltRun("jobs.lookup_jid", jid)).out.includes("while_away"), {
    what: "the return of the job",
  });
});

fleetTest("a minion of Salt's that an operator gave the next key is answered by that, also before its beginning", {
  master: { log_level: "info" },
}, async (fleet) => {
  const oldKey = PublicKey.fromPem(ownPem(fleet)), nowMs = Date.now();
  const times = { keysize: 2048, nowMs, notBeforeMs: nowMs + 3_600_000, notAfterMs: nowMs + 7_200_000 };
  const py1 = scripted(fleet, "py1", await testKey("py1"));
  await py1.signIn();
  const { statement: { next } } = await rotateMasterPair(fleet.masterOpts, times);
  const nextKey = PublicKey.fromPem(next);
  const bytes = (value: Value | undefined) => asBytes(value) ?? new Uint8Array();
  const needsOld = async () => field(await rotate(fleet), "needs_old");
  for (const [trusted, others] of [[oldKey, ["py1"]], [nextKey, []], [oldKey, ["py1"]]] as [PublicKey, string[]][]) {
    const token = trusted.encrypt("OAEP-SHA1", new TextEncoder().encode("a token"));
    const { outer, inner } = await py1.signIn({ token });
    assertEquals(inner.get("pub_key"), trusted.pem);
    assert(trusted.verify("PKCS1v15-SHA1", bytes(outer.get("load")), bytes(outer.get("sig"))));
    assertEquals(new TextDecoder().decode(py1.key.decrypt("OAEP-SHA1", bytes(inner.get("token")))), "a token");
    assertEquals(await needsOld(), others);
    const reply = asMap(await py1.send(py1.seal({ cmd: "_pillar", grains: {}, ver: "2" })));
    const own = new Crypticle(new TextDecoder().decode(py1.key.decrypt("OAEP-SHA1", bytes(reply.get("key")))));
    const signed = asMap(own.loads(bytes(reply.get("pillar"))));
    assert(trusted.verify("PKCS1v15-SHA1", bytes(signed.get("data")), bytes(signed.get("sig"))));
  }
  // A refusal is signed by the key that the minion checks it with.
  const token = nextKey.encrypt("OAEP-SHA1", new TextEncoder().encode("a token"));
  const { outer, inner } = await scripted(fleet, "py1", await testKey("another")).signIn({ token });
  assertEquals([inner.get("ret"), await needsOld()], [false, ["py1"]]);
  assert(nextKey.verify("PKCS1v15-SHA1", bytes(outer.get("load")), bytes(outer.get("sig"))));
});
