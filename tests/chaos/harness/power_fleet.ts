/**
 * A fleet whose machines may lose their power: each node has its own disk, a {@linkcode PowerDisk}.
 * @module
 */

import { processTree } from "#tests/bench/harness/process_figures.ts";
import { listProcesses } from "#lib/procfs/processes.ts";
import { isGone } from "#lib/os/deno_texts.ts";
import { buildLibrary } from "./compiler.ts";
import { type PowerChoices, PowerDisk } from "./power_disk.ts";
import { ProcessFleet, type ProcessFleetOptions } from "./process_fleet.ts";

/** The fleet. */
export class PowerFleet implements AsyncDisposable {
  /** The fleet; its processes are started again after a {@linkcode cut}. */
  readonly fleet: ProcessFleet;
  readonly #disks: ReadonlyMap<string, PowerDisk>;
  readonly #directory: string;

  private constructor(fleet: ProcessFleet, disks: ReadonlyMap<string, PowerDisk>, directory: string) {
    this.fleet = fleet;
    this.#disks = disks;
    this.#directory = directory;
  }

  /** Starts the fleet; resolves when all its minions are connected. */
  static async start(options: Omit<ProcessFleetOptions, "places" | "prepare">): Promise<PowerFleet> {
    const directory = Deno.makeTempDirSync({ prefix: "powerfleet_" });
    const library = buildLibrary("power", directory);
    const disks = new Map<string, PowerDisk>();
    let root = "";
    const words = (node: string) => {
      const disk = disks.get(node) ?? new PowerDisk(`${root}/${node}`, { library, shadow: `${root}/${node}.shadow` });
      disks.set(node, disk);
      return disk.words;
    };
    const places = {
      masterAddress: "127.0.0.1",
      masterName: "127.0.0.1",
      get master() {
        return words("master");
      },
      minion: words,
    };
    try {
      const fleet = await ProcessFleet.start({ ...options, places, prepare: (where) => root = where });
      return new PowerFleet(fleet, disks, directory);
    } catch (error) {
      Deno.removeSync(directory, { recursive: true });
      throw error;
    }
  }

  /** The disk of a node that has been started. */
  disk(node: string): PowerDisk {
    const disk = this.#disks.get(node);
    if (disk === undefined) throw new Error(`${node} has no disk`);
    return disk;
  }

  /** Cuts the power of the machines of `nodes`, all at once; `choices` decide what their disks keep. */
  async cut(nodes: readonly string[], choices: PowerChoices): Promise<void> {
    const { fleet } = this;
    await Promise.all(nodes.map((node) => (node === "master" ? fleet.master : fleet.minion(node)).kill()));
    // Keepers and their commands would continue if only the minion were killed.
    for (const node of nodes) killBelow(`${fleet.root}/${node}/`);
    for (const node of nodes) this.disk(node).fail(choices);
    // /run is in memory.
    if (nodes.includes("master")) removeIfThere(`${fleet.masterOpts.sock_dir}/ports.json`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fleet[Symbol.asyncDispose]();
    Deno.removeSync(this.#directory, { recursive: true });
  }
}

/** Kills the keepers of the minion with this directory, and the processes that they started. */
function killBelow(directory: string): void {
  const keepers = listProcesses().filter(({ command }) => command.startsWith(`salt-keeper ${directory}`));
  for (const pid of keepers.flatMap((keeper) => processTree(keeper.pid))) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
