/**
 * Replaces directories of the host for a test: a process in its own mount namespace mounts file systems over them,
 * which no other process sees.
 * @module
 */

import { isDirectory } from "#lib/os/file_kind.ts";

/** The account files of a replaced `/etc`. */
export const ACCOUNTS: Readonly<Record<string, string>> = {
  "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
  "/etc/group": "root:x:0:\n",
};

/** The mount namespace of a process. */
function namespaceOf(pid: number): string {
  return Deno.readLinkSync(`/proc/${pid}/ns/mnt`);
}

/** The directories where programs are searched after PATH. */
const PROGRAM_DIRECTORIES = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/** The path of the `mount` program, and of `mknod` beside it. */
let mountProgram = "/usr/bin/mount";
const deviceProgram = () => mountProgram.replace(/mount$/, "mknod");

/** Hides the host's programs from this process: the usual directories hold only shells, and PATH is empty. */
export function hidePrograms(): void {
  const [mount, mknod] = [mountProgram, deviceProgram()].map((path) => Deno.readFileSync(path));
  for (const directory of new Set(PROGRAM_DIRECTORIES.filter(isDirectory).map((one) => Deno.realPathSync(one)))) {
    coverPlace(directory);
    Deno.mkdirSync(`${directory}/.kept`);
    mountProgram = `${directory}/.kept/mount`;
    Deno.writeFileSync(mountProgram, mount, { mode: 0o755 });
    Deno.writeFileSync(deviceProgram(), mknod, { mode: 0o755 });
  }
  for (const shell of ["/bin/sh", "/bin/bash"]) Deno.writeTextFileSync(shell, "", { mode: 0o755 });
  Deno.env.set("PATH", "/nonexistent");
}

/** @throws {Error} If this process is in the same namespace as its parent. */
function mount(args: readonly string[], place: string): void {
  if (namespaceOf(Deno.pid) === namespaceOf(Deno.ppid)) throw new Error(`${place} is the host's own`);
  const { success, stderr } = new Deno.Command(mountProgram, { args: ["-n", ...args, place] }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** Mounts an empty file system over a directory. */
export function coverPlace(place: string): void {
  mount(["-t", "tmpfs", "none"], place);
  if (place !== "/etc") return;
  for (const [path, text] of Object.entries(ACCOUNTS)) Deno.writeTextFileSync(path, text);
}

/**
 * Makes a block device with these numbers.
 * @throws {Error} If this process may not.
 */
export function makeBlockDevice(path: string, numbers: readonly string[]): void {
  const { success, stderr } = new Deno.Command(deviceProgram(), { args: [path, "b", ...numbers] }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** The kernel's files that have a file mounted over them. */
const bound = new Set<string>();

/**
 * Mounts a file over a file of the kernel, or overwrites the mounted file. Of a process's own file it is this
 * process's.
 */
export function bindFile(given: string, text: string): void {
  const path = Deno.realPathSync(given);
  if (bound.has(path)) return Deno.writeTextFileSync(path, text);
  // The file is in the file system over the programs, which ends with the namespace.
  const file = `${mountProgram.replace(/[^/]*$/, "")}${bound.size}`;
  Deno.writeTextFileSync(file, text);
  mount(["--bind", file], path);
  bound.add(path);
}
