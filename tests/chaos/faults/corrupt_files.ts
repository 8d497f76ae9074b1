/**
 * Corrupts files of master and minion, some while they run, some before a start.
 * @module
 */

import { makeJid } from "#lib/protocol/jid.ts";
import { eventually } from "#tests/support/eventually.ts";
import { echo, ended } from "./disk.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

const MINIONS = 3;

/** Every regular file below `directory` whose name `matches`. */
function files(directory: string, matches: RegExp): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory, isFile }) => {
    const path = `${directory}/${name}`;
    if (isDirectory) return files(path, matches);
    return isFile && matches.test(name) ? [path] : [];
  });
}

/** See {@linkcode Fault}. */
export const corruptFiles: Fault = {
  name: "corrupt-files",
  what:
    "corrupt loads and returns in the job cache, sessions, presence, a minion's key at the master, spool, proc and job ids",
  promise: "a corrupt file affects nothing else; everything else is served",
  async run({ random, say }): Promise<Figure[]> {
    await using fleet = await ProcessFleet.start({ minions: MINIONS, master: { loop_interval: 1 } });
    const [victim, ...others] = fleet.ids;
    for (const text of ["one", "two", "three"]) await echo(fleet, text);
    let corrupted = 0;
    const corrupt = (paths: readonly string[]) => {
      for (const path of paths) {
        const bytes = Deno.readFileSync(path);
        const way = random.int(3);
        Deno.writeFileSync(
          path,
          way === 0
            ? bytes.subarray(0, bytes.length / 2)
            : way === 1
            ? random.bytes(Math.max(1, bytes.length))
            : new Uint8Array(),
        );
        corrupted++;
      }
    };
    const jobFiles = files(`${fleet.cacheDir}/jobs`, /^(\.load|\.minions|return)\.p$/);
    corrupt(jobFiles.slice(0, jobFiles.length / 2));
    corrupt(files(`${fleet.cacheDir}/grains`, /./).slice(0, 1));
    corrupt([`${fleet.cacheDir}/presence.p`, `${fleet.cacheDir}/sessions/${others[0]}`]);
    const running = await echo(fleet, "four");
    const listed = await fleet.salt("salt-run", "jobs.list_jobs");
    const lookups = await Promise.all(
      fleet.jobs.list().slice(0, 3).map(({ jid }) => fleet.salt("salt-run", "jobs.lookup_jid", jid)),
    );
    say(`${corrupted} files corrupted, ${running} answers`);

    // A corrupt key: only its minion is disconnected.
    const key = `${fleet.root}/master/etc/salt/pki/master/minions/${victim}`;
    const good = Deno.readTextFileSync(key);
    Deno.writeTextFileSync(key, "-----BEGIN PUBLIC KEY-----\nnonsense\n");
    const withoutVictim = await echo(fleet, "five");
    const keys = await fleet.salt("salt-key", "-L");
    Deno.writeTextFileSync(key, good);

    // Files that a minion reads when it starts.
    await fleet.stopMinion(victim);
    const cache = fleet.minionCacheDir(victim);
    for (const directory of ["returns", "proc"]) Deno.mkdirSync(`${cache}/${directory}`, { recursive: true });
    Deno.writeFileSync(`${cache}/returns/00001790000000000000.p`, random.bytes(300));
    Deno.writeFileSync(`${cache}/returns/00001790000000000001.p`, new Uint8Array());
    Deno.writeFileSync(`${cache}/proc/${makeJid()}`, random.bytes(100));
    Deno.writeFileSync(`${cache}/jids`, random.bytes(1_000));
    await fleet.startMinion(victim);
    // The same for a master.
    corrupt([`${fleet.cacheDir}/presence.p`]);
    Deno.writeFileSync(`${fleet.cacheDir}/undelivered/${makeJid()}`, random.bytes(100));
    const minute = Math.floor(Date.now() / 60_000);
    for (const kind of ["log", "done"]) {
      Deno.writeFileSync(`${fleet.cacheDir}/undelivered/${minute}-00000000.${kind}`, random.bytes(1_000));
    }
    await fleet.killMaster();
    await fleet.startMaster();
    await fleet.allPresent();
    const end = await eventually(async () => await echo(fleet, "six") === MINIONS, {
      what: "answers",
    })
      .catch(() => false);
    const left = () => files(`${cache}/returns`, /(?<!\.broken)$/).length;
    // A return leaves the spool when the master has acknowledged it, a moment after the operator has it.
    await eventually(() => left() === 0, { what: "an empty spool" }).catch(() => {});
    return [
      { name: "files corrupted", value: corrupted + 9 },
      { name: "answers with a broken cache", value: running, atLeast: MINIONS },
      { name: "jobs.list_jobs fails", value: listed.code === 0 ? 0 : 1, atMost: 0 },
      { name: "jobs.lookup_jid fails", value: lookups.filter(({ code }) => code !== 0).length, atMost: 0 },
      { name: "answers with a broken key", value: withoutVictim, atLeast: MINIONS - 1 },
      { name: "salt-key -L fails", value: keys.code === 0 ? 0 : 1, atMost: 0 },
      { name: "all answer after restarts", value: end === true ? 1 : 0, atLeast: 1 },
      { name: "returns left in the spool", value: left(), atMost: 0 },
      { name: "processes that ended", value: ended(fleet), atMost: 0 },
    ];
  },
};
