/**
 * Measures the processor time of `mine.get` on the master beyond its target: minions with ten functions each, of which
 * one is read, by a compound target of a grain that matches all. Writes `{"first": ms, "get": ms, "written": ms,
 * "target": ms, "found": number}`: the first query, which reads every file; later ones; later ones after a minion has
 * stored new values; and the target alone. The others are without the target. The counterpart of mine_get.py.
 *
 * Arguments: an empty directory, the number of minions.
 * @module
 */

import { cpuUsage } from "node:process";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { Mine } from "#lib/fleet/mine.ts";
import { answerMineGet } from "#lib/fleet/mine_query.ts";
import { type KnownFleet, resolveTarget } from "#lib/fleet/resolve_target.ts";
import { isMap, map, type ValueMap } from "#lib/values/value.ts";

const REPEATS = 9;
const TARGET = { tgt: "G@kernel:Linux and web*", tgtType: "compound_pillar_exact" };
/** A time in the past, because grains written within the last seconds are read again each time. */
const WRITTEN = new Date("2026-11-20T00:00:00Z");

function refuse(message: string): never {
  throw new Error(message);
}

const [root, given] = Deno.args;
const count = Number(given);
const data = new DataCache(root, { log: refuse });
const mine = new Mine(root, { log: refuse, maxBytes: 1 << 20 });
const ids = Object.freeze(Array.from({ length: count }, (_, i) => `web${i}`));
const fleet = (): KnownFleet => ({ ids, data, nodegroups: new Map() });

/** Ten functions: addresses, and others of 200 bytes. */
function valuesOf(i: number, round: number): ValueMap {
  const others = Array.from({ length: 9 }, (_, n) => [`function_${n}`, { value: "x".repeat(150), n, i }]);
  return map({ ...Object.fromEntries(others), "network.ip_addrs": [`10.${round}.${i >> 8}.${i & 255}`] });
}

for (const [i, id] of ids.entries()) {
  data.setGrains(id, map({ kernel: "Linux", id }));
  Deno.utimeSync(`${root}/grains/${id}.p`, WRITTEN, WRITTEN);
  mine.store(id, valuesOf(i, 0));
}
Deno.utimeSync(`${root}/grains`, WRITTEN, WRITTEN);

/** Processor time: others use the machine too. */
function timed(run: () => number): { ms: number; found: number } {
  const before = cpuUsage();
  const found = run();
  const { user, system } = cpuUsage(before);
  return { ms: (user + system) / 1000, found };
}

function get(): { ms: number; found: number } {
  return timed(() => {
    const load = map({ id: "web1", tgt: TARGET.tgt, tgt_type: "compound", fun: "network.ip_addrs" });
    const answer = answerMineGet(load, { opts: { mine_get: null }, mine, data, fleet, warn: refuse });
    return isMap(answer) ? answer.size : -1;
  });
}

const target = () => timed(() => resolveTarget(TARGET, fleet(), { greedy: false }).minions.length);

function median(of: () => number): number {
  return Array.from({ length: REPEATS }, of).sort((a, b) => a - b)[REPEATS >> 1];
}

target();
const first = get();
const alone = median(() => target().ms);
const warm = median(() => get().ms);
let round = 0;
const written = median(() => {
  round++;
  mine.store("web7", valuesOf(7, round));
  return get().ms;
});
const result = {
  first: first.ms - alone,
  get: warm - alone,
  written: written - alone,
  target: alone,
  found: first.found,
};
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(result)));
