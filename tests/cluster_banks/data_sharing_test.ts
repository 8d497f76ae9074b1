/**
 * Data of minions and tokens in a cluster: what changes at one master is at all of them.
 * @module
 */

import { changeNotes } from "#lib/config/master_paths.ts";
import type { ClusterDatabase } from "#lib/cluster/cluster_database.ts";
import { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { SharedState, type SharedStateOpts } from "#lib/cluster_banks/shared_state.ts";
import { StoreError } from "#lib/errors.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { type SharingMaster, sharingTest } from "./shared_masters.ts";

async function has(master: SharingMaster, id: string, os: string | undefined): Promise<void> {
  await eventually(() => (master.data.get(id)?.grains.get("os")) === os, {
    what: `${os} of ${id} at ${master.opts.id}`,
  });
}

async function mines(master: SharingMaster, id: string, values: ValueMap | undefined): Promise<void> {
  const wanted = JSON.stringify(values && [...values]);
  const found = () => {
    const mine = master.mine.get(id);
    return JSON.stringify(mine && [...mine]);
  };
  await eventually(() => found() === wanted, { what: `the mine ${wanted} at ${master.opts.id}` });
}

const grains = (os: string) => map({ os });

sharingTest(
  "grains, pillar and mine of a minion are at the other master, with the times of the mine, and go there too",
  async ({ a, b }) => {
    await a.start();
    await b.start();
    a.data.setGrains("web1", grains("Debian"));
    a.data.setPillar("web1", map({ role: "db" }));
    a.mine.store("web1", map({ "network.ip": "10.0.0.1" }));
    await has(b, "web1", "Debian");
    await eventually(() => b.data.get("web1")?.pillar.get("role") === "db", { what: "the pillar" });
    await mines(b, "web1", map({ "network.ip": "10.0.0.1" }));
    assertEquals(b.mine.times("web1")?.stored.get("network.ip"), a.mine.times("web1")?.stored.get("network.ip"));
    // It moves to the other master, which has the last word.
    b.mine.store("web1", map({ "test.ping": true }));
    b.data.setGrains("web1", grains("Ubuntu"));
    await mines(a, "web1", map({ "network.ip": "10.0.0.1", "test.ping": true }));
    await has(a, "web1", "Ubuntu");
    b.mine.flush("web1");
    await mines(a, "web1", undefined);
  },
);

sharingTest(
  "a master that starts later has everything, and what changed while it was down; a lost cache comes back",
  async ({ a, b }) => {
    await a.start();
    a.data.setGrains("web1", grains("Debian"));
    b.data.setGrains("web2", grains("Alpine"));
    b.data.setGrains("web1", grains("old"));
    await b.start();
    await has(a, "web2", "Alpine");
    await b.stop();
    // The master does not run: processes of their own change something.
    b.data.setGrains("web2", grains("Arch"));
    b.data.setGrains("web1", grains("late"));
    a.data.setGrains("web1", grains("Ubuntu"));
    // What the ended master had noted before is older, and does not come back.
    await eventually(() => changeNotes(a.opts)?.has("grains", "web1") === false, {
      what: "the change in the database",
    });
    await b.start();
    await has(b, "web1", "Ubuntu");
    await has(a, "web2", "Arch");
    assertEquals(a.data.get("web1")?.grains.get("os"), "Ubuntu");
    await a.stop();
    Deno.removeSync(a.opts.cachedir, { recursive: true });
    await a.start();
    await has(a, "web1", "Ubuntu");
    await has(a, "web2", "Arch");
  },
);

sharingTest("what changes while the database is away or refuses it follows later", async ({ server, a, b }) => {
  await a.start(200);
  await b.start(200);
  a.data.setGrains("web1", grains("Debian"));
  await has(b, "web1", "Debian");
  await server.sql("alter table salt.bank rename to bank_away");
  a.data.setGrains("web3", grains("Debian"));
  await eventually(() => a.logged.some((line) => line.includes("do not reach the other masters")), { what: "a line" });
  await server.sql("alter table salt.bank_away rename to bank");
  await has(b, "web3", "Debian");
  await server.crash();
  a.data.setGrains("web1", grains("Ubuntu"));
  b.data.setGrains("web2", grains("Alpine"));
  await server.restart();
  await has(b, "web1", "Ubuntu");
  await has(a, "web2", "Alpine");
});

sharingTest(
  "a token of one master is valid at the other, is sealed in the database, and ends everywhere",
  async ({ server, a, b }) => {
    await a.start();
    await b.start();
    const token = a.tokens.make({ name: "fred", eauth: "pam", groups: ["ops"] }, 3_600).data.get("token");
    await eventually(() => b.tokens.get(token)?.name === "fred", { what: "the token" });
    await server.sql(`do $$ begin
    if (select count(*) from salt.bank where bank = 'tokens') <> 1 then raise 'no row'; end if;
    if exists (select 1 from salt.bank where minion = '${token}' or position('${token}'::bytea in body) > 0
      or position('fred'::bytea in body) > 0) then raise 'the token is there'; end if; end $$`);
    b.tokens.remove(token);
    await eventually(() => a.tokens.get(token) === undefined, { what: "the end of the token" });
  },
);

Deno.test("data that cannot be given are tried again, and the log says why once, and not that the database is away", () =>
  withTemporaryDirectory(async (root) => {
    const logged: string[] = [];
    const opts: SharedStateOpts = {
      cachedir: `${root}/cache`,
      cluster_id: "prod",
      cluster_lease: 1,
      hash_type: "sha256",
      id: "master-1",
      mine_max_bytes: 1 << 20,
      pki_dir: `${root}/pki`,
      preserve_minion_cache: false,
      rotate_aes_key: true,
      token_dir: `${root}/tokens`,
    };
    const away = new DatabaseAwayError("away", ""), full = new StoreError("The disk is full", "");
    const errors = [away, full, away, full, full];
    const refuse = () => Promise.reject(errors.shift() ?? away);
    const db: ClusterDatabase = {
      schema: "salt",
      origin: 1,
      incarnation: 1,
      peers: new Map(),
      away: false,
      read: refuse,
      write: refuse,
      follow: () => {},
      wake: () => Promise.resolve(),
    };
    new DataCache(opts.cachedir, { log: () => {}, notes: changeNotes(opts) }).setGrains("web1", grains("Debian"));
    const keys = new RootKeys(new Uint8Array(32)), log = recordingLogger(logged);
    const state = new SharedState(opts, { db, keys, log, maintains: () => false });
    state.start();
    await eventually(() => errors.length === 0, { what: "all tries" });
    await state.close();
    assertEquals(logged, ["ERROR: Data of minions do not reach the other masters: The disk is full"]);
    assertEquals(changeNotes(opts)?.has("grains", "web1"), true);
  }));

sharingTest("rows that are no data are refused by name, and what follows is taken", async ({ server, a }) => {
  // It has files that are no data of a minion either, which it does not give.
  Deno.mkdirSync(`${a.opts.cachedir}/pillar`, { recursive: true });
  Deno.writeFileSync(`${a.opts.cachedir}/pillar/no\nid.p`, Uint8Array.of(0x80));
  await a.start();
  await eventually(() => a.data.list().length === 0, { what: "a start" });
  // In one transaction: a look between both would refuse web3 too, and the second has no new number.
  await server.sql(`begin; insert into salt.bank select b, m, body, now(), 9, nextval('salt.bank_seq') from (values
    ('grains', '../../evil', '\\x80'::bytea), ('grains', 'web1', '\\xc1'), ('../evil', 'web1', '\\x80'),
    ('mine', 'web2', '\\x80'), ('tokens', 'abc', '\\x80'), ('grains', 'web3', '\\x81a26f73a244')) as x(b, m, body);
    update salt.bank set body = '\\x81a26f73a158' where minion = 'web3'; notify salt, 'd'; commit`);
  await has(a, "web3", "X");
  for (const name of ["../../evil", "web1", "web2", "abc"]) {
    assert(
      a.logged.some((line) => line.includes(JSON.stringify(name)) && line.includes("is refused")),
      a.logged.join("\n"),
    );
  }
  assertEquals(a.data.list(), ["web3"]);
  await server.sql("do $$ begin if (select count(*) from salt.bank) <> 6 then raise 'given'; end if; end $$");
});

sharingTest(
  "data of a minion whose key was deleted do not come back from a master that had noted them",
  async ({ a, b }) => {
    await a.start();
    await b.start();
    await a.command((bank) => bank.change([{ id: "web1", put: "accepted", pem: "key" }]));
    a.data.setGrains("web1", grains("Debian"));
    await has(b, "web1", "Debian");
    b.data.setGrains("web1", grains("late"));
    await a.command((bank) => bank.change([{ id: "web1", delete: "accepted" }]));
    await eventually(() => [a, b].every((each) => each.data.get("web1") === undefined), {
      what: "the end of the data",
    });
    a.data.setGrains("web9", grains("Alpine"));
    await has(b, "web9", "Alpine");
    assertEquals([a, b].map((each) => each.data.get("web1")), [undefined, undefined]);
  },
);

sharingTest("a database that was set back is taken from its beginning", async ({ server, a, b }) => {
  await a.start();
  await b.start();
  a.data.setGrains("web1", grains("Debian"));
  a.data.setGrains("web2", grains("Debian"));
  await has(b, "web2", "Debian");
  await server.sql("delete from salt.bank; alter sequence salt.bank_seq restart");
  a.data.setGrains("web1", grains("Ubuntu"));
  await has(b, "web1", "Ubuntu");
});

sharingTest(
  "rows that have said long enough that something is gone are removed by the master that maintains the database",
  async ({ server, a, b }) => {
    await a.start();
    await server.sql(`insert into salt.bank values ('grains', 'web8', null, now() - interval '8 days', 9, 1000),
    ('grains', 'web9', null, now() - interval '6 days', 9, 1001)`);
    const isThere = (name: string) =>
      server.sql(`select 1 / count(*) from salt.bank where minion = '${name}'`).then(() => true, () => false);
    b.maintains = true;
    await b.start();
    await eventually(async () => !await isThere("web8"), { what: "the end of the old row" });
    assertEquals(await isThere("web9"), true);
  },
);
