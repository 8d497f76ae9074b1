/**
 * Full and read-only disks, below the master's cache and below a minion's.
 * @module
 */

import { eventually } from "#tests/support/eventually.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { Tmpfs } from "#tests/chaos/harness/tmpfs.ts";

const MEGABYTES = 8;

/**
 * Runs `test.echo` on all minions with the real `salt`.
 * @returns The number of minions whose answers it showed.
 */
export async function echo(fleet: ProcessFleet, text: string): Promise<number> {
  const { out } = await fleet.salt("salt", "-t", "5", "--static", "--out=json", "*", "test.echo", text);
  return (out.match(new RegExp(`: "${text}"`, "g")) ?? []).length;
}

type DiskFault = (disk: Tmpfs, on: boolean) => void | Promise<void>;

const DISK_FAULTS: Readonly<Record<string, DiskFault>> = {
  "full": (disk, on) => on ? disk.fill() : disk.drain(),
  "read-only": (disk, on) => disk.setReadOnly(on),
};

/** See {@linkcode Fault}. */
export const disk: Fault = {
  name: "disk",
  what: "the disk below the master's cache, then below a minion's, is full, then read-only",
  promise:
    "jobs run and their returns reach the operator; the log names what was not stored; with free space again, all is stored",
  missing: () => Tmpfs.missing(),
  async run({ say }): Promise<Figure[]> {
    const figures: Figure[] = [];
    for (const whose of ["master", "minion"] as const) {
      const minions = whose === "master" ? 2 : 1;
      const node = whose === "master" ? "master" : "m00";
      for (const [name, causeFault] of Object.entries(DISK_FAULTS)) {
        using disk = Tmpfs.mount(MEGABYTES);
        await using fleet = await ProcessFleet.start({
          minions,
          // Linux makes no file system read-only while a file there is open for writing, as that of the event log is.
          ...name === "read-only" && { master: { event_log: "none" } },
          prepare: (root) => {
            Deno.mkdirSync(`${disk.path}/cache`);
            Deno.mkdirSync(`${root}/${node}/var/cache/salt`, { recursive: true });
            Deno.symlinkSync(`${disk.path}/cache`, `${root}/${node}/var/cache/salt/${whose}`);
          },
        });
        const what = `${whose}, ${name}`;
        say(what);
        await echo(fleet, "before");
        const logged = fleet.log(node).length;
        await causeFault(disk, true);
        const during = await echo(fleet, "during") + await echo(fleet, "again");
        const named = /\[ERROR/.test(fleet.log(node).slice(logged)) ? 1 : 0;
        await causeFault(disk, false);
        const after = await echo(fleet, "after");
        const stored = await eventually(
          () => fleet.jobs.list().some(({ load }) => String(load.get("arg")) === "after"),
          { what: "the job in the cache" },
        ).catch(() => false);
        figures.push(
          { name: `${what}: answers`, value: during, atLeast: 2 * minions },
          { name: `${what}: named in the log`, value: named, atLeast: 1 },
          { name: `${what}: answers afterwards`, value: after, atLeast: minions },
          { name: `${what}: jobs stored afterwards`, value: stored ? 1 : 0, atLeast: 1 },
          { name: `${what}: processes that ended`, value: ended(fleet), atMost: 0 },
        );
      }
    }
    return figures;
  },
};

/** The number of processes of a fleet that have ended. */
export function ended(fleet: ProcessFleet): number {
  return [fleet.master, ...fleet.ids.map((id) => fleet.minion(id))].filter(({ exitCode }) => exitCode !== undefined)
    .length;
}
