/**
 * A file system of its own, in memory, that can be filled and made read-only. Needs root.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { eventually } from "#tests/support/eventually.ts";

/** The file system. */
export class Tmpfs implements Disposable {
  /** The path of the mount point. */
  readonly path: string = Deno.makeTempDirSync({ prefix: "chaosfs_" });

  private constructor(megabytes: number) {
    run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m,mode=0755`, "tmpfs", this.path);
  }

  /** The reason why this machine cannot mount one; `undefined` if it can. */
  static missing(): string | undefined {
    if (Deno.uid() !== 0) return "mounting needs root";
    try {
      Tmpfs.mount(1)[Symbol.dispose]();
      return undefined;
    } catch (error) {
      return `nothing can be mounted: ${messageOf(error)}`;
    }
  }

  /** Mounts a file system of this size in MiB. */
  static mount(megabytes: number): Tmpfs {
    return new Tmpfs(megabytes);
  }

  /** Fills all free space. */
  fill(): void {
    const file = Deno.openSync(`${this.path}/filler`, { write: true, create: true });
    try {
      // In smaller and smaller pieces, so that no page stays free.
      for (const piece of [65_536, 4_096, 1]) {
        try {
          for (;;) file.writeSync(new Uint8Array(piece));
        } catch (error) {
          if (!(error instanceof Error && /os error 28|space/i.test(error.message))) throw error;
        }
      }
    } finally {
      file.close();
    }
  }

  /** Frees the space again. */
  drain(): void {
    Deno.removeSync(`${this.path}/filler`);
  }

  /** Makes the file system read-only, or writable again: once no process has a file open for writing. */
  async setReadOnly(on: boolean): Promise<void> {
    const remounted = () => {
      run("mount", "-o", `remount,${on ? "ro" : "rw"}`, this.path);
      return true;
    };
    await eventually(remounted, { what: `remounting ${this.path}`, withinMs: 20_000 });
  }

  [Symbol.dispose](): void {
    run("umount", "-l", this.path);
    Deno.removeSync(this.path);
  }
}

function run(command: string, ...args: string[]): void {
  const { success, stderr } = new Deno.Command(command, { args, stdin: "null", stdout: "null" }).outputSync();
  if (!success) throw new Error(`${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr).trim()}`);
}
