/**
 * Keys in a cluster: every master has the same, a change holds everywhere when it is answered, and what the database
 * says is believed only if a master of the cluster has signed it.
 * @module
 */

import { KeyError, TemporaryError } from "#lib/errors.ts";
import type { KeyStep } from "#lib/keys/key_bank.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { type SharingMaster, sharingTest } from "./shared_masters.ts";

const PEM = (text: string) => `-----BEGIN PUBLIC KEY-----\n${btoa(text)}\n-----END PUBLIC KEY-----\n`;

function states(master: SharingMaster, ids: readonly string[]): string[] {
  return ids.map((id) => master.store.state(id) ?? "none");
}

async function follows(master: SharingMaster, id: string, state: string): Promise<void> {
  await eventually(() => states(master, [id])[0] === state, { what: `${id}: ${state} at ${master.opts.id}` });
}

sharingTest(
  "a key that signs in at one master is at all of them, and the operator's changes hold everywhere when they are answered",
  async ({ a, b }) => {
    await a.start();
    await b.start();
    assertEquals(await b.bank.change([{ id: "web1", put: "pending", pem: PEM("web1"), expected: "none" }]), [true]);
    assertEquals(states(b, ["web1"]), ["pending"]);
    await follows(a, "web1", "pending");
    await a.command((bank) => bank.change([{ id: "web1", from: "pending", to: "accepted", pem: PEM("web1") }]));
    assertEquals([a, b].map((each) => each.store.get("web1", "accepted")), [PEM("web1"), PEM("web1")]);
    assertEquals(states(b, ["web1"]), ["accepted"]);
    b.data.setGrains("web1", new Map([["os", "Debian"]]));
    await a.command((bank) => bank.change([{ id: "web1", delete: "accepted" }]));
    assertEquals([a, b].flatMap((each) => states(each, ["web1"])), ["none", "none"]);
    assertEquals(b.data.get("web1"), undefined);
  },
);

sharingTest(
  "a change is made once: not on a key which another master has changed meanwhile, nor again if its answer was lost",
  async ({ server, a, b }) => {
    await a.start();
    await b.start();
    await Promise.all([a, b].map((each) => each.bank.change([])));
    const [first, second] = await Promise.all([
      a.bank.change([{ id: "web1", put: "accepted", pem: PEM("one"), expected: "none" }]),
      b.bank.change([{ id: "web1", put: "accepted", pem: PEM("two"), expected: "none" }]),
    ]);
    assertEquals([...first, ...second].sort(), [false, true]);
    const pem = PEM(first[0] ? "one" : "two");
    await eventually(() => [a, b].every((each) => each.store.get("web1", "accepted") === pem), { what: "one key" });
    const wrong = { id: "../web1", put: "accepted", pem } as const;
    await assertRejects(
      () => a.bank.change([{ id: "web2", put: "accepted", pem }, wrong]),
      KeyError,
      '"../web1" cannot be the id of a minion',
    );
    assertEquals(states(a, ["web2"]), ["none"]);
    const change = (...steps: KeyStep[]) => a.command((bank) => bank.change(steps), { isLossy: true });
    assertEquals(await change({ id: "web2", put: "pending", pem, expected: "none" }), [true]);
    assertEquals(await change({ id: "web2", put: "pending", pem: PEM("three"), expected: "none" }), [false]);
    assertEquals(await change({ id: "web2", from: "pending", to: "accepted", pem: PEM("three") }), [false]);
    assertEquals(await change({ id: "web2", from: "pending", to: "accepted" }, { id: "web3", delete: "all" }), [
      true,
      false,
    ]);
    assertEquals(a.store.get("web2", "accepted"), pem);
    assertEquals(await change({ id: "web2", delete: "accepted" }), [true]);
    assertEquals(states(a, ["web2"]), ["none"]);
    await server.sql("do $$ begin if (select n from salt.key_generation) <> 4 then raise 'twice'; end if; end $$");
  },
);

sharingTest(
  "keys of the first master are the cluster's; of the second those that the cluster knows nothing of",
  async ({ a, b }) => {
    for (const id of ["web1", "web2", "web3"]) a.store.put(id, "accepted", PEM(id));
    // It was in another cluster before, whose keys were younger than those of this one.
    Deno.writeTextFileSync(`${a.opts.pki_dir}/.cluster_keys`, '{"cluster": "old", "generation": 99}');
    a.store.put("web4", "denied", PEM("web4"));
    await a.start();
    await a.command((bank) =>
      bank.change([{ id: "web3", delete: "all" }, { id: "web2", from: "accepted", to: "rejected" }])
    );
    for (const id of ["web2", "web3", "web5"]) b.store.put(id, "accepted", PEM(`${id} of b`));
    await b.start();
    for (const [id, state] of [["web1", "accepted"], ["web2", "rejected"], ["web3", "none"], ["web5", "accepted"]]) {
      await follows(a, id, state);
      await follows(b, id, state);
    }
    assertEquals(b.store.get("web4", "denied"), PEM("web4"));
    assert(b.logged.some((line) => line.includes("web5") && !line.includes("web2")), b.logged.join("\n"));
  },
);

sharingTest(
  "a row that no master has signed is refused by name, as one that was moved to another minion",
  async ({ server, a, b }) => {
    await a.start();
    await a.command((bank) => bank.change([{ id: "web1", put: "accepted", pem: PEM("web1") }]));
    await server.sql(`
    insert into salt.minion_keys values ('evil1', 'accepted', '${PEM("evil")}', 'x', 2, now(), 'root', '\\x00');
    insert into salt.minion_keys select 'evil2', state, pem, fingerprint, 2, at, by, mac from salt.minion_keys where minion = 'web1';
    insert into salt.minion_keys select '../evil3', state, pem, fingerprint, 2, at, by, mac from salt.minion_keys where minion = 'web1';
    insert into salt.minion_keys values ('evil4', 'accepted', '${PEM("evil")}', 'x', 2, now(), null, '\\x00');
    update salt.minion_keys set generation = 2 where minion = 'web1';
    update salt.key_generation set n = 2; notify salt, 'k'`);
    const line = await eventually(() => a.logged.find((line) => line.includes("are refused")), { what: "the refusal" });
    for (const id of ["evil1", "evil2", "evil3", "evil4", "web1"]) assertStringIncludes(line, id);
    assertEquals(states(a, ["evil1", "evil2", "evil4", "web1"]), ["none", "none", "none", "accepted"]);
    await a.command((bank) => bank.change([{ id: "web2", put: "pending", pem: PEM("web2") }]));
    assertEquals(states(a, ["web2"]), ["pending"]);
    // A master that cannot write the other rows reads all of them again, and says once which are refused.
    Deno.mkdirSync(b.opts.pki_dir, { recursive: true });
    Deno.writeTextFileSync(`${b.opts.pki_dir}/minions_pre`, "");
    await b.command(async (bank) => {
      await assertRejects(() => bank.refresh(), Deno.errors.NotADirectory);
      await assertRejects(() => bank.refresh(), Deno.errors.NotADirectory);
      Deno.removeSync(`${b.opts.pki_dir}/minions_pre`);
      await bank.refresh();
    });
    assertEquals(b.logged.filter((line) => line.includes("are refused")).length, 1);
    assertEquals(states(b, ["web1", "web2"]), ["none", "pending"]);
    // What was tampered with can be deleted.
    assertEquals(await a.command((bank) => bank.change([{ id: "web1", delete: "all" }])), [true]);
    assertEquals(states(a, ["web1"]), ["none"]);
  },
);

sharingTest("keys of a database that was set back are refused until the operator says so", async ({ server, a }) => {
  await a.start();
  const change = (id: string) => a.command((bank) => bank.change([{ id, put: "accepted", pem: PEM(id) }]));
  await change("web1");
  await change("web2");
  await server.sql(
    "update salt.key_generation set n = 1; delete from salt.minion_keys where minion = 'web2'; notify salt, 'k'",
  );
  await eventually(() => a.logged.some((line) => line.includes("was set back")), { what: "the refusal" });
  const error = await assertRejects(() => change("web3"), Error, "was set back");
  assertStringIncludes(error.message, `${a.opts.pki_dir}/.cluster_keys`);
  assertEquals(states(a, ["web1", "web2"]), ["accepted", "accepted"]);
  await a.stop();
  Deno.removeSync(`${a.opts.pki_dir}/.cluster_keys`);
  await a.start();
  await change("web3");
  await follows(a, "web3", "accepted");
  assertEquals(states(a, ["web2"]), ["accepted"]);
});

sharingTest("a master that is alive and does not follow is waited for, and named", async ({ server, a, b }) => {
  await a.start();
  await b.start();
  await follows(b, "web1", "none");
  await b.stop();
  const change = () => a.command((bank) => bank.change([{ id: "web1", put: "accepted", pem: PEM("web1") }]));
  await assertRejects(change, Error, "master-2 did not follow in 3 s");
  await server.sql("update salt.masters set until = now() where origin = 2");
  await a.command((bank) => bank.change([{ id: "web1", delete: "all" }]));
  assertEquals(states(a, ["web1"]), ["none"]);
  // It was away for both.
  await b.start();
  await follows(b, "web1", "none");
});

sharingTest("while the database is away no key is changed, and those that are known stay", async ({ server, a }) => {
  await a.start(200);
  await a.command((bank) => bank.change([{ id: "web1", put: "accepted", pem: PEM("web1") }]));
  await server.crash();
  const change = (id: string) => [{ id, put: "accepted" as const, pem: PEM(id) }];
  await assertRejects(() => a.bank.change(change("web2")), TemporaryError, "no key can be changed");
  await assertRejects(
    () => a.command((bank) => bank.change(change("web2")), { waitMs: 200 }),
    TemporaryError,
    "is away",
  );
  assertEquals(states(a, ["web1", "web2"]), ["accepted", "none"]);
  await server.restart();
  assertEquals(await eventually(() => a.bank.change(change("web2")).catch(() => undefined), { what: "the database" }), [
    true,
  ]);
  assertEquals(states(a, ["web1", "web2"]), ["accepted", "accepted"]);
});
