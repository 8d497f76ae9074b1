/**
 * Measures the master's processor time for a target: a glob, and a compound of grains, among ten thousand minions with
 * grains of 4 KB. Writes `{"glob": ms, "compound": ms, "first": ms}`; `first` is the first target of grains, which
 * reads every file. The counterpart of resolve_targets.py.
 *
 * Arguments: an empty directory, the number of minions.
 * @module
 */

import { cpuUsage } from "node:process";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { resolveTarget } from "#lib/fleet/resolve_target.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** A target with three grains that matches a tenth of the minions. */
const COMPOUND = "web* and G@os:Debian and ( G@roles:db or P@osrelease:1[0-3] ) and not G@ec2_tags:env:stage";
const REPEATS = 9;
/** A time in the past, because files written within the last seconds are read again each time. */
const WRITTEN = new Date("2026-11-20T00:00:00Z");

function refuse(message: string): never {
  throw new Error(message);
}

const [root, count] = Deno.args;
const keys = new KeyStore(`${root}/pki`);
const data = new DataCache(`${root}/cache`, { log: refuse });

/** Grains of 4 KB: the ones in the target, and 70 others. */
function grainsOf(i: number): ValueMap {
  const others = Array.from(
    { length: 70 },
    (_, n) => [`grain_${n}`, { value: `${"x".repeat(30)}${i}`, list: [n, "y"] }],
  );
  return map({
    ...Object.fromEntries(others.slice(0, 35)),
    os: i % 5 === 0 ? "Arch" : "Debian",
    roles: i % 8 === 0 ? ["db", "web"] : ["web"],
    osrelease: `${i % 20}`,
    ec2_tags: { env: i % 2 === 0 ? "prod" : "stage" },
    ...Object.fromEntries(others.slice(35)),
  });
}

Deno.mkdirSync(`${root}/pki/minions`, { recursive: true });
let bytes = 0;
for (let i = 0; i < Number(count); i++) {
  const grains = grainsOf(i);
  bytes += encode(grains, "disk").length;
  Deno.writeTextFileSync(`${root}/pki/minions/web${i}`, "PEM");
  data.setGrains(`web${i}`, grains);
  Deno.utimeSync(`${root}/cache/grains/web${i}.p`, WRITTEN, WRITTEN);
}
Deno.utimeSync(`${root}/cache/grains`, WRITTEN, WRITTEN);

function cost(tgt: string, tgtType: string): { ms: number; found: number } {
  const before = cpuUsage();
  const fleet = { ids: keys.list("accepted"), data, nodegroups: new Map() };
  const found = resolveTarget({ tgt, tgtType }, fleet).minions.length;
  const { user, system } = cpuUsage(before);
  return { ms: (user + system) / 1000, found };
}

function median(of: () => number): number {
  return Array.from({ length: REPEATS }, of).sort((a, b) => a - b)[REPEATS >> 1];
}

const first = cost(COMPOUND, "compound");
const glob = median(() => cost("web*", "glob").ms);
const compound = median(() => cost(COMPOUND, "compound").ms);
const result = { glob, compound, first: first.ms, found: first.found, bytes: Math.round(bytes / Number(count)) };
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(result)));
