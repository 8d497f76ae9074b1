/**
 * A host to install packages on: this machine's system below a layer that takes every change, with mounts and processes
 * of its own. Nothing of it is left when it ends.
 * @module
 */

import { UNSHARE_MOUNTS, whyNoMountNamespace } from "#tests/support/mount_namespace.ts";

/** The outcome of a command. */
export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Where the directory of the packages is on the host. */
export const PACKAGES = "/mnt";

/** Mounts the layer over `/`, waits for the end of its input, and then takes all processes with it. */
const MOUNTS = `set -e
mount -t tmpfs -o size=4g none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mount -t tmpfs none "$1/root/run"
mount -t tmpfs none "$1/root/tmp"
mount --bind "$2" "$1/root${PACKAGES}"
echo ready
cat >/dev/null
`;

/** Why there can be no such host; `undefined` if there can. */
export function whyNoScratchHost(): string | undefined {
  const why = whyNoMountNamespace();
  if (why !== undefined) return why;
  const check =
    "mount -t tmpfs none /mnt && cd /mnt && mkdir a b c && mount -t overlay o -o lowerdir=/,upperdir=a,workdir=b c";
  const [program, ...args] = [...UNSHARE_MOUNTS, "sh", "-c", check];
  const { success, stderr } = new Deno.Command(program, { args }).outputSync();
  return success ? undefined : `no overlay of this system: ${new TextDecoder().decode(stderr).trim()}`;
}

/** Such a host. */
export class ScratchHost {
  readonly #holder: Deno.ChildProcess;
  readonly #init: string;
  readonly #directory: string;

  private constructor(holder: Deno.ChildProcess, init: string, directory: string) {
    this.#holder = holder;
    this.#init = init;
    this.#directory = directory;
  }

  /** Starts one; the files of the directory `packages` are in {@linkcode PACKAGES}. */
  static async start(packages: string): Promise<ScratchHost> {
    const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "scratch_host_" }));
    const holder = new Deno.Command("unshare", {
      args: ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", MOUNTS, "sh", directory, packages],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const reader = holder.stdout.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    const said = new TextDecoder().decode(value);
    if (said !== "ready\n") throw new Error(`the scratch host does not start: ${said}`);
    const children = await Deno.readTextFile(`/proc/${holder.pid}/task/${holder.pid}/children`);
    return new ScratchHost(holder, children.trim(), directory);
  }

  /** Runs a script of the shell there. */
  async run(script: string): Promise<Result> {
    const { code, stdout, stderr } = await new Deno.Command("nsenter", {
      args: ["--target", this.#init, "--mount", "--pid", "chroot", `${this.#directory}/root`, "sh", "-ec", script],
      clearEnv: true,
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
      stdin: "null",
    }).output();
    return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
  }

  /**
   * Runs a script that must succeed.
   * @returns Its output.
   */
  async shell(script: string): Promise<string> {
    const { code, out, err } = await this.run(script);
    if (code !== 0) throw new Error(`exit code ${code} of ${script}\n${out}${err}`);
    return out;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Its end ends the first process of the host, and the kernel all others.
    await this.#holder.stdin.close();
    await this.#holder.status;
    await Deno.remove(this.#directory, { recursive: true });
  }
}
