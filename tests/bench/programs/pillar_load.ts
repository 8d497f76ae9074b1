/**
 * Simulates minions that all request their pillar at once, as after a restart of their master. They have signed in
 * before.
 *
 * Arguments: the master's host and `ret_port`, its `pki_dir`, how many. Writes `{"pillars": …, "seconds": …}`.
 * @module
 */

import { KeyStore } from "#lib/keys/store.ts";
import { map } from "#lib/values/value.ts";
import { applicantOf, linkOf } from "#tests/support/fleet/applicant.ts";
import { keyPool } from "#tests/bench/fleets/key_pool.ts";

const TIMEOUT_MS = 300_000;
/** Number of minions that sign in at the same time; this is not measured. */
const SIGNING_IN = 16;

/** As many grains as on a real host. */
function grainsOf(id: string, i: number) {
  const more = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`grain${n}`, `value ${n} of ${id}`]));
  return { id, os: i % 2 === 0 ? "Debian" : "Rocky", num_cpus: i % 8, roles: [["web", "db", "cache"][i % 3]], ...more };
}

if (import.meta.main) {
  const [host, port, masterPki, count] = Deno.args;
  const pkiDir = Deno.makeTempDirSync({ prefix: "pillar_load_" });
  const keys = await keyPool(16, 2048);
  const store = new KeyStore(masterPki);
  const { signal } = new AbortController();
  const minions = Array.from({ length: Number(count) }, (_, i) => {
    const applicant = applicantOf(`asker-${i}`, keys[i % keys.length], pkiDir);
    store.put(applicant.id, "accepted", applicant.key.publicKey.pem);
    const link = linkOf(applicant, { host, port: Number(port), timeoutMs: TIMEOUT_MS });
    return { id: applicant.id, link, grains: grainsOf(applicant.id, i) };
  });
  const waiting = [...minions];
  const signIn = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next.link.signIn(signal);
  };
  await Promise.all(Array.from({ length: SIGNING_IN }, signIn));

  const request = ({ id, grains }: (typeof minions)[number]) =>
    map({
      id,
      grains,
      saltenv: null,
      pillarenv: null,
      pillar_override: {},
      extra_minion_data: {},
      ver: "2",
      cmd: "_pillar",
    });
  const started = performance.now();
  const pillars = await Promise.all(minions.map((minion) => minion.link.requestPillar(request(minion), signal)));
  const seconds = (performance.now() - started) / 1000;
  const right = pillars.filter((pillar, i) => pillar.get("id") === minions[i].id && !pillar.has("_errors")).length;
  for (const { link } of minions) link.close();
  Deno.removeSync(pkiDir, { recursive: true });
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ pillars: right, seconds })));
  Deno.exit(0);
}
