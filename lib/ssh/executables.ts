/**
 * The executables that are copied to hosts: one file each, which needs nothing else there.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf, SshError } from "#lib/errors.ts";
import { streamingHash } from "#lib/crypto/hash.ts";
import { DENO_RUN, operatorCommand } from "#lib/runtime/self_command.ts";
import { str } from "#lib/values/value.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";

/** One executable. */
export interface HostExecutable {
  /** Its path on this host. */
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** SHA-256, in hexadecimal. */
  readonly sum: string;
  /** Its name on hosts, which has its checksum: another content is another file. */
  readonly file: string;
}

/** The machine of this host, as `uname -m` names it. */
const OWN_MACHINE: Readonly<Record<typeof Deno.build.arch, string>> = { x86_64: "x86_64", aarch64: "aarch64" };
/** The system of this host, as `uname -s` names it. */
const OWN_SYSTEM = Deno.build.os === "darwin" ? "Darwin" : "Linux";

/** Other names of machines that `uname -m` gives. */
const ALIASES: Readonly<Record<string, string>> = { amd64: "x86_64", arm64: "aarch64" };

/** The executables of one run. Each is read once. */
export class Executables {
  readonly #named: ReadonlyMap<string, string>;
  readonly #directory: string;
  readonly #read = new Map<string, Promise<HostExecutable>>();

  /** @param directory Where the launcher of a source tree is written. */
  constructor(opts: Pick<MasterOpts, "ssh_executables">, directory: string) {
    this.#named = new Map([...opts.ssh_executables].map(([machine, path]) => [plainMachine(str(machine)), str(path)]));
    this.#directory = directory;
  }

  /** The one for hosts of this host's kind, which most are. */
  usual(): Promise<HostExecutable> {
    return this.of(OWN_SYSTEM, OWN_MACHINE[Deno.build.arch]);
  }

  /**
   * The one for a host.
   * @param system What `uname -s` says there.
   * @param machine What `uname -m` says there.
   * @throws {SshError} If there is none, with the option that names one.
   */
  of(system: string, machine: string): Promise<HostExecutable> {
    const plain = plainMachine(machine);
    const named = this.#named.get(plain);
    if (named === undefined && (system !== OWN_SYSTEM || plain !== OWN_MACHINE[Deno.build.arch])) {
      return Promise.reject(
        new SshError(
          "no executable",
          `There is no executable for ${system} on ${machine}: get salt-minion of this release for it, and name the file in the master's configuration, ssh_executables: {${plain}: /path/to/salt-minion}`,
        ),
      );
    }
    return this.#read.getOrInsertComputed(named ?? "", () => readExecutable(named ?? this.#own()));
  }

  /** The executable beside this program; of a source tree a launcher, which works on this host alone. */
  #own(): string {
    const [program, ...words] = operatorCommand("salt-minion");
    if (words.length === 0) return program;
    const entry = decodeURIComponent(new URL("../../minion.ts", import.meta.url).pathname);
    const path = `${this.#directory}/salt-minion`;
    const command = [Deno.execPath(), ...DENO_RUN, entry].map(quoteShellWord).join(" ");
    Deno.writeTextFileSync(path, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o700 });
    return path;
  }
}

function plainMachine(machine: string): string {
  return Object.hasOwn(ALIASES, machine) ? ALIASES[machine] : machine;
}

async function readExecutable(path: string): Promise<HostExecutable> {
  try {
    using file = await Deno.open(path);
    const { size } = await file.stat();
    const hash = streamingHash("sha256", { size });
    if (hash === undefined) throw new Error("there is no SHA-256");
    for await (const piece of file.readable) hash.update(piece);
    const sum = hash.digest().toHex();
    return { path, size, sum, file: `salt-minion-${sum.slice(0, 32)}` };
  } catch (error) {
    throw new SshError("no executable", `The executable for hosts, ${path}, cannot be read: ${messageOf(error)}`);
  }
}

/** The directory for an executable on a host, if its roster names none: Salt's, which has user and control host. */
export function usualDirectory(user: string, controlId: string): string {
  return `/var/tmp/.${user.replace(/[^\w.@-]/g, "_")}_${controlId}_salt`;
}
