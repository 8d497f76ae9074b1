/**
 * From one master to a cluster, and back: what a master that stood alone has is the cluster's, and the files of a
 * cluster are those of a master that stands alone.
 * @module
 */

import { Tokens } from "#lib/auth/tokens.ts";
import { saveBanks } from "#lib/cluster_banks/move_banks.ts";
import { StoreError } from "#lib/errors.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { Mine } from "#lib/fleet/mine.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { clusterTest } from "#tests/support/cluster/cluster_site.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Fleet } from "#tests/support/fleet/fleet.ts";
import { placeKey } from "#tests/support/fleet/keys.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";

const PEM = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";

async function runner(fleet: Fleet, ...words: string[]): Promise<Value> {
  const { out, err } = await fleet.saltRun(...words, "--out=json");
  assert(out !== "", err);
  return parseJson(out);
}

function counts(value: Value, ...names: string[]): Value[] {
  return names.map((name) => isMap(value) ? value.get(name) ?? null : null);
}

/** Files of a master that has not run yet: keys, data, a token and a job. */
function fill(pkiDir: string, cachedir: string): string {
  const store = new KeyStore(pkiDir), log = () => {};
  store.put("old1", "accepted", PEM);
  store.put("old2", "rejected", PEM);
  new DataCache(cachedir, { log }).setGrains("old1", map({ os: "Debian" }));
  new Mine(cachedir, { log, maxBytes: 1 << 20 }).store("old1", map({ "test.ping": true }));
  new Tokens({ directory: `${cachedir}/tokens`, hashType: "sha256", log }).make(
    { name: "fred", eauth: "pam", groups: [] },
    3_600,
  );
  const jobs = jobStore(cachedir, { hashType: "sha256", log }), jid = makeJid();
  jobs.prepare(jid);
  jobs.saveLoad(jid, map({ jid, fun: "test.ping", tgt: "old1", tgt_type: "glob", arg: [], user: "root" }), ["old1"]);
  jobs.saveReturn(map({ jid, id: "old1", return: true, retcode: 0, success: true, fun: "test.ping" }));
  return jid;
}

clusterTest(
  "the first master brings keys, data and jobs; what is loaded again is not doubled; and all of it can be saved",
  {
    masters: 0,
  },
  async (site) => {
    const a = site.addMaster();
    const pkiDir = `${a.configDir}/etc/salt/pki/master`, cachedir = `${a.configDir}/var/cache/salt/master`;
    const jid = fill(pkiDir, cachedir);
    await a.startMaster();
    assertEquals([a.masterOpts.pki_dir, a.masterOpts.cachedir], [pkiDir, cachedir]);
    const b = site.addMaster();
    await b.startMaster();
    await eventually(() => b.keys.state("old1") === "accepted" && b.keys.state("old2") === "rejected", {
      what: "the keys",
    });
    await eventually(async () => {
      const mine = await runner(b, "mine.get", "old1", "test.ping");
      return isMap(mine) && mine.get("old1") === true;
    }, { what: "the mine" });
    assertEquals(await runner(b, "cache.grains", "old1"), map({ old1: { os: "Debian" } }));
    await eventually(async () => {
      const found = await runner(b, "jobs.lookup_jid", jid);
      return isMap(found) && found.get("old1") === true;
    }, { what: "the job" });
    const again = await runner(a, "database.load");
    assertEquals(counts(again, "jobs", "returns", "keys", "data"), [0, 0, 0, 0]);
    new KeyStore(pkiDir).put("old3", "accepted", PEM);
    assertEquals(counts(await runner(a, "database.load", "jobs=False"), "jobs", "keys"), [0, 1]);
    assertEquals(b.keys.state("old3"), "accepted");
    // The way back, to another directory and to that of a master.
    const to = `${site.masters[0].root}/saved`;
    const saved = await runner(b, "database.save", `to=${to}`);
    assertEquals(counts(saved, "keys", "data"), [3, 3]);
    const store = new KeyStore(`${to}/pki`);
    assertEquals(["old1", "old2", "old3"].map((id) => store.state(id)), ["accepted", "rejected", "accepted"]);
    assertEquals(Deno.readTextFileSync(`${to}/pki/master.pem`), Deno.readTextFileSync(`${pkiDir}/master.pem`));
    assertEquals(new Mine(to, { log: () => {}, maxBytes: 1 << 20 }).get("old1"), map({ "test.ping": true }));
    const tokens = new Tokens({ directory: `${to}/tokens`, hashType: b.masterOpts.hash_type, log: () => {} });
    assertEquals(tokens.list().map((token) => tokens.get(token)?.name), ["fred"]);
    const { got } = { got: jobStore(to, { hashType: b.masterOpts.hash_type }).getReturns(jid) };
    assertEquals([...got.keys()], ["old1"]);
    await a.saltKey("-y", "-d", "old3");
    assertEquals(counts(await runner(b, "database.save", `to=${to}`), "keys", "data"), [1, 0]);
    assertEquals(store.state("old3"), undefined);
    const { out, err } = await b.saltRun("database.save", "to=relative");
    assertStringIncludes(out + err, "must be an absolute path");
    // Files of other masters stay as they are, whose pair would not fit these keys.
    const others = `${site.masters[0].root}/others`;
    await placeKey(`${others}/pki`, "master", "another_master");
    const warnings: string[] = [];
    const save = (place: string) => saveBanks(b.masterOpts, place, (text) => void warnings.push(text));
    await assertRejects(() => save(others), StoreError, "has another key pair than the cluster: move it away");
    assertEquals([...Deno.readDirSync(others)].map(({ name }) => name), ["pki"]);
    assertEquals([...Deno.readDirSync(`${others}/pki`)].map(({ name }) => name), ["master.pem"]);
    // What no master has signed is not saved, and keys are saved without a pair too.
    await site.server.sql(`update salt.minion_keys set pem = 'x' where minion = 'old2';
      delete from salt.secrets where name like 'master%'`);
    const keysAlone = `${site.masters[0].root}/keys`;
    assertEquals(await save(keysAlone), { keys: 1, data: 3 });
    assertEquals(warnings, ["The row of the key of old2 (rejected) is refused: nobody signed it"]);
    assertEquals([...Deno.readDirSync(`${keysAlone}/pki`)].map(({ name }) => name), ["minions"]);
  },
);
