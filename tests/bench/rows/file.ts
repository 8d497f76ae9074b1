/**
 * Rows: the file server: one large file, one file for many minions, and a long list.
 * @module
 */

import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { growth } from "./memory.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { MB, MB_PER_SECOND, MS, type Row, type Stage } from "./row.ts";
import { benchCommand, type Side } from "#tests/bench/harness/sides.ts";

const MINION = "bench-1";
const GROUP = "files";
const LARGE_MB = 200;
const SHARED_MB = 20;
const FETCHING = 50;
const FILES = 20_000;
const DIRECTORIES = 400;

/** A master with files, and an accepted minion. */
async function fileFleet(stage: Stage, side: Side): Promise<Fleet> {
  return await stage.fleet(side, async (fleet) => {
    const base = `${fleet.root}/srv/salt`;
    fleet.setOptions({ file_roots: `{base: [${base}]}` });
    for (let i = 0; i < DIRECTORIES; i++) {
      Deno.mkdirSync(`${base}/d${i}`, { recursive: true });
      for (let j = 0; j < FILES / DIRECTORIES; j++) Deno.writeTextFileSync(`${base}/d${i}/f${j}.txt`, "");
    }
    for (const megabytes of [LARGE_MB, SHARED_MB]) writeNoise(`${base}/${megabytes}MB`, megabytes);
    await fleet.startMaster();
    await fleet.prepareMinion(MINION);
    await load(fleet, 1, `d0/f0.txt`); // the code that the first request loads must not be measured
  });
}

/** Bytes that cannot be compressed. */
function writeNoise(path: string, megabytes: number): void {
  using file = Deno.openSync(path, { write: true, create: true });
  const block = new Uint8Array(1 << 16);
  for (let i = 0; i < megabytes * 16; i++) file.writeSync(crypto.getRandomValues(block));
}

async function load(
  fleet: Fleet,
  minions: number,
  path: string,
): Promise<{ bytes: number; entries: number; seconds: number }> {
  const { host, port } = fleet.requestAddress;
  const { out } = await run([
    ...benchCommand("programs/file_load.ts"),
    host,
    String(port),
    fleet.pkiDir,
    String(minions),
    path,
  ]);
  return JSON.parse(out);
}

async function fetchShared(stage: Stage, side: Side, fleet: Fleet): Promise<number> {
  const { bytes, seconds } = await load(fleet, FETCHING, `${SHARED_MB}MB`);
  if (bytes !== FETCHING * SHARED_MB * 2 ** 20) stage.remarks.add(`${side.name}: ${bytes} bytes came`);
  return bytes / 2 ** 20 / seconds;
}

export const FILE_ROWS: readonly Row[] = [
  {
    name: "file-one",
    title: `\`salt-call cp.get_file\` of ${LARGE_MB} MB, whole process`,
    unit: MS,
    group: GROUP,
    runs: 2,
    async measure(stage, side) {
      const fleet = await fileFleet(stage, side);
      const dest = `${fleet.root}/fetched`;
      const config = `${fleet.root}/${MINION}/etc/salt`;
      const words = [...side.command("salt-call"), "-c", config, "cp.get_file", `salt://${LARGE_MB}MB`, dest];
      // A copy in the minion's cache, or the last one, would save the transfer.
      for (const path of [dest, `${fleet.root}/${MINION}/var/cache/salt/minion/files`]) {
        await Deno.remove(path, { recursive: true }).catch(() => {});
      }
      const { ms } = await run(words);
      const { size } = Deno.statSync(dest);
      if (size !== LARGE_MB * 2 ** 20) stage.remarks.add(`${side.name}: ${size} bytes came`);
      return ms;
    },
  },
  {
    name: "file-many",
    title: `${SHARED_MB} MB to each of ${FETCHING} simulated minions at once, from the master alone`,
    unit: MB_PER_SECOND,
    group: GROUP,
    runs: 2,
    async measure(stage, side) {
      return await fetchShared(stage, side, await fileFleet(stage, side));
    },
  },
  {
    name: "file-growth",
    title: `master's growth by serving those (PSS)`,
    unit: MB,
    group: GROUP,
    runs: 1,
    long: true,
    async measure(stage, side) {
      const fleet = await fileFleet(stage, side);
      return await growth(fleet, async () => void await fetchShared(stage, side, fleet)) / 1024;
    },
  },
  {
    name: "file-list",
    title: `the list of ${FILES} files, made anew, to a simulated minion`,
    unit: MS,
    group: GROUP,
    runs: 3,
    async measure(stage, side) {
      const fleet = await fileFleet(stage, side);
      await Deno.remove(`${fleet.root}/var/cache/salt/master/file_lists`, { recursive: true }).catch(() => {});
      const { entries, seconds } = await load(fleet, 1, "--list");
      if (entries !== FILES + 2) stage.remarks.add(`${side.name}: ${entries} entries came`);
      return seconds * 1000;
    },
  },
  {
    name: "file-lists",
    title: `the kept list of ${FILES} files to ${FETCHING} simulated minions at once`,
    unit: MS,
    group: GROUP,
    runs: 3,
    async measure(stage, side) {
      const fleet = await fileFleet(stage, side);
      await load(fleet, 1, "--list");
      const { entries, seconds } = await load(fleet, FETCHING, "--list");
      if (entries !== FETCHING * (FILES + 2)) stage.remarks.add(`${side.name}: ${entries} entries came`);
      return seconds * 1000;
    },
  },
];
