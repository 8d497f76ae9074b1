/**
 * Directories of the host that are others for a test: a process in a mount namespace of its own puts file systems over them,
 * which nobody else sees.
 * @module
 */

import { isDirectory } from "../../../lib/os/file_kind.ts";

/** Accounts of a covered `/etc`. */
export const ACCOUNTS: Readonly<Record<string, string>> = {
  "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
  "/etc/group": "root:x:0:\n",
};

/** The namespace of a process. */
function namespaceOf(pid: number): string {
  return Deno.readLinkSync(`/proc/${pid}/ns/mnt`);
}

/** Where programs are looked for after PATH. */
const PROGRAM_DIRECTORIES = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/** What puts file systems over directories. */
let mountProgram = "/usr/bin/mount";

/** Hides the host's programs from this process: none is where programs usually are, but for shells, and none is in PATH. */
export function hidePrograms(): void {
  const mount = Deno.readFileSync(mountProgram);
  for (const directory of new Set(PROGRAM_DIRECTORIES.filter(isDirectory).map((one) => Deno.realPathSync(one)))) {
    coverPlace(directory);
    Deno.mkdirSync(`${directory}/.kept`);
    mountProgram = `${directory}/.kept/mount`;
    Deno.writeFileSync(mountProgram, mount, { mode: 0o755 });
  }
  for (const shell of ["/bin/sh", "/bin/bash"]) Deno.writeTextFileSync(shell, "", { mode: 0o755 });
  Deno.env.set("PATH", "/nonexistent");
}

/** @throws {Error} In the namespace of the process that started this one. */
function mount(args: readonly string[], place: string): void {
  if (namespaceOf(Deno.pid) === namespaceOf(Deno.ppid)) throw new Error(`${place} is the host's own`);
  const { success, stderr } = new Deno.Command(mountProgram, { args: ["-n", ...args, place] }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** Puts an empty file system over a directory. */
export function coverPlace(place: string): void {
  mount(["-t", "tmpfs", "none"], place);
  if (place !== "/etc") return;
  for (const [path, text] of Object.entries(ACCOUNTS)) Deno.writeTextFileSync(path, text);
}

/** Files that are over those of the kernel. */
const bound = new Set<string>();

/** Puts a file over one of the kernel, or writes it anew. */
export function bindFile(path: string, text: string): void {
  if (bound.has(path)) return Deno.writeTextFileSync(path, text);
  // In the file system over the programs, which goes with the namespace.
  const file = `${mountProgram.replace(/[^/]*$/, "")}${bound.size}`;
  Deno.writeTextFileSync(file, text);
  mount(["--bind", file], path);
  bound.add(path);
}
