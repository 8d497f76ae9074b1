/**
 * Keys, data and tokens of whole masters of a cluster, with minions.
 * @module
 */

import { askWheel } from "#lib/client/wheel_request.ts";
import { lateKeyBank } from "#lib/cluster_banks/late_key_bank.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { RefusedError } from "#lib/errors.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { clusterTest } from "#tests/support/cluster/cluster_site.ts";
import type { Fleet } from "#tests/support/fleet/fleet.ts";

async function runner(fleet: Fleet, ...words: string[]): Promise<Value> {
  const { out, err } = await fleet.saltRun(...words, "--out=json");
  assert(out !== "", err);
  return parseJson(out);
}

/** The ids of a state, as `salt-key` shows them. */
async function listed(fleet: Fleet, state: string): Promise<Value> {
  const { out } = await fleet.saltKey("--list", "all", "--out=json");
  const lists = parseJson(out);
  return isMap(lists) ? lists.get(state) ?? null : null;
}

clusterTest(
  "a minion waits at one master and is accepted at the other; its data are at both; a deleted key is refused by both",
  {
    autoAccept: false,
  },
  async ({ masters: [a, b] }) => {
    const starting = b.startMinion("web1", { master: "127.0.0.2", acceptance_wait_time: 1 });
    await eventually(async () => String(await listed(a, "minions_pre")) === "web1", {
      what: "the pending key at the other master",
    });
    const accepted = await a.saltKey("-y", "-a", "web1");
    assertStringIncludes(accepted.out, "Key for minion web1 accepted.");
    assertEquals([accepted.code, await listed(b, "minions")], [0, ["web1"]]);
    await starting;
    assertEquals(await b.saltJson("web1", "test.ping"), map({ web1: true }));
    assertEquals(await b.saltJson("web1", "mine.send", "test.ping"), map({ web1: true }));
    await eventually(async () => {
      const mine = await runner(a, "mine.get", "web1", "test.ping");
      return isMap(mine) && mine.get("web1") === true;
    }, { what: "the mine at the other master", everyMs: 200 });
    const { out } = await a.salt("--preview-target", "-G", "id:web1");
    assertStringIncludes(out, "web1");
    const deleted = await a.saltKey("-y", "-d", "web1");
    assertEquals([deleted.code, b.keys.state("web1"), a.keys.state("web1")], [0, undefined, undefined]);
    assertEquals(await runner(b, "cache.grains", "web1"), new Map());
  },
);

clusterTest(
  "with the database away no key changes, which is said in a sentence with exit code 75, and known minions sign in",
  {},
  async (
    { masters: [a, b], server },
  ) => {
    await a.startMinion("web1");
    await eventually(() => b.keys.state("web1") === "accepted", { what: "the key at the other master" });
    await server.crash();
    const { code, err, out } = await b.saltKey("-y", "-d", "web1");
    assertEquals(code, 75, out);
    assertStringIncludes(err, "The database of the cluster is away: no key can be changed");
    assertEquals(err.trim().split("\n").length, 1);
    const wheel = await b.saltRun("salt.wheel", "key.delete", "web1");
    assertStringIncludes(wheel.err + wheel.out, "no key can be changed");
    assertEquals(b.keys.state("web1"), "accepted");
    await a.stopMinion("web1");
    await a.startMinion("web1");
    assertEquals(await a.saltJson("web1", "test.ping"), map({ web1: true }));
    await server.restart();
    await eventually(async () => (await b.saltKey("-y", "-d", "web1")).code === 0, { what: "the end of the key" });
    assertEquals([a.keys.state("web1"), b.keys.state("web1")], [undefined, undefined]);
  },
);

const AUTH = { external_auth: { sharedsecret: { fred: ["test.*", "@wheel"] } }, sharedsecret: "a shared secret" };

clusterTest("a token of one master is good at the other, and one that is removed there is good nowhere", {
  master: AUTH,
}, async (
  { masters: [a, b] },
) => {
  const credentials = ["username=fred", "eauth=sharedsecret", "password=a shared secret"];
  const made = await runner(a, "auth.mk_token", ...credentials);
  const token = isMap(made) ? made.get("token") ?? null : null;
  const ask = async (fleet: Fleet): Promise<Value> => {
    const { data } = await askWheel(fleet.masterOpts, { fun: "key.list", args: ["acc"] }, map({ token }));
    return data.get("success") ?? null;
  };
  await eventually(() => ask(b), {
    what: "an answer to the token of the other master",
    everyMs: 500,
  });
  assertEquals(await runner(b, "auth.del_token", String(token)), true);
  await eventually(() => ask(a).then(() => false, (error) => error instanceof RefusedError), {
    what: "the refusal",
    everyMs: 500,
  });
});

clusterTest(
  "a key that a command accepts or deletes is at all masters when it ends, also for a wheel function of a running master",
  {
    autoAccept: false,
  },
  async ({ masters: [a, b] }) => {
    const pem = (await PrivateKey.generate(2048)).publicKey.pem;
    await a.stopMaster();
    const bank = lateKeyBank(b.masterOpts, { store: b.keys, by: "test", warn: () => {} });
    await bank.change(["web1", "web2", "web3"].map((id) => ({ id, put: "pending", pem })));
    // The command brings the keys of this host up to date, which nobody else does now.
    assertEquals((await a.saltKey("-y", "-A")).code, 0);
    assertEquals([a, b].map((each) => each.keys.list("accepted").length), [3, 3]);
    await a.startMaster();
    await a.saltRun("salt.wheel", "key.delete", "web1");
    assertEquals([a, b].map((each) => each.keys.state("web1")), [undefined, undefined]);
    const rejected = await b.saltKey("-y", "-r", "web2", "--include-accepted");
    assertEquals([a, b].map((each) => each.keys.state("web2")), ["rejected", "rejected"], rejected.out + rejected.err);
  },
);
