/**
 * A real sshd on loopback: an unprivileged port, keys of its own, and a control host's configuration beside it. Needs
 * Debian's openssh-server, and root, as hosts are reached as root.
 * @module
 */

import { which } from "#lib/programs/which.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";
import { eventually } from "#tests/support/eventually.ts";
import { UNSHARE_MOUNTS, whyNoMountNamespace } from "#tests/support/mount_namespace.ts";
import { type Ran, run, Service } from "#tests/support/processes.ts";
import { makeTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

const SSHD = "/usr/sbin/sshd";

/** Why no test can start an sshd here; `undefined` if one can. */
export function whyNoSshd(): string | undefined {
  if (Deno.uid() !== 0) return "not root";
  for (const program of ["ssh", "ssh-keygen"]) if (which(program) === undefined) return `no ${program}`;
  try {
    Deno.statSync(SSHD);
    return undefined;
  } catch {
    return "no sshd: install openssh-server";
  }
}

/** How the host behaves. */
export interface SshDaemonOptions {
  /** More lines of sshd_config. */
  readonly config?: readonly string[];
  /** Commands of a shell that run in sshd's own mount namespace before it starts; `$ROOT` is the directory. */
  readonly mounts?: readonly string[];
}

/** The directory of executables that a test uses instead of the sources. */
export const DIST: string | undefined = Deno.env.get("SALT_DIST");
const SOURCE = new URL("../../../salt.ts", import.meta.url).pathname;

/** A running sshd, and what a control host needs to reach it. */
export class SshDaemon implements AsyncDisposable {
  /** The directory of everything; it is removed at the end. */
  readonly root: string;
  readonly port: number;
  readonly #service: Service;

  private constructor(root: string, port: number, service: Service) {
    this.root = root;
    this.port = port;
    this.#service = service;
  }

  /** The process id of the daemon. */
  get pid(): number {
    return this.#service.pid;
  }

  /** Starts it, and waits until it listens. */
  static async start({ config = [], mounts }: SshDaemonOptions = {}): Promise<SshDaemon> {
    const root = makeTemporaryDirectory("salt_ssh_");
    for (const name of ["hostkey", "key", "other"]) {
      const { code, err } = await run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", `${root}/${name}`]);
      if (code !== 0) throw new Error(err);
    }
    Deno.copyFileSync(`${root}/key.pub`, `${root}/authorized_keys`);
    Deno.mkdirSync("/run/sshd", { recursive: true });
    const port = freePort();
    Deno.writeTextFileSync(`${root}/sshd_config`, [...sshdConfig(root, port), ...config].join("\n") + "\n");
    for (const directory of ["conf", "states", "pillar"]) Deno.mkdirSync(`${root}/${directory}`);
    const sshd = [SSHD, "-D", "-f", `${root}/sshd_config`, "-E", `${root}/sshd.log`];
    const words = mounts === undefined
      ? sshd
      : [...UNSHARE_MOUNTS, "sh", "-ec", [`ROOT=${root}`, ...mounts, 'exec "$@"'].join("\n"), "sh", ...sshd];
    const daemon = new SshDaemon(root, port, Service.start("sshd", words, `${root}/sshd.out`));
    daemon.#writeMaster();
    daemon.roster({ web1: {} });
    await eventually(() => connects(port), { what: `sshd on port ${port}` });
    return daemon;
  }

  /** What an entry of the roster needs to reach the host. */
  entry(id: string): Record<string, unknown> {
    return {
      host: "127.0.0.1",
      port: this.port,
      priv: `${this.root}/key`,
      thin_dir: `${this.root}/thin/${id}`,
      ssh_options: [`UserKnownHostsFile=${this.root}/known_hosts`],
    };
  }

  /** Writes the roster: further keys by id. */
  roster(hosts: Readonly<Record<string, Readonly<Record<string, unknown>>>>): void {
    const entries = Object.entries(hosts).map(([id, more]) => [id, { ...this.entry(id), ...more }]);
    Deno.writeTextFileSync(`${this.root}/conf/roster`, JSON.stringify(Object.fromEntries(entries), undefined, 1));
  }

  /**
   * Copies executables to hosts that users besides root can run: Deno may be in a directory that they cannot enter. The
   * executables of `SALT_DIST` need nothing.
   */
  serveOtherUsers(): void {
    if (DIST !== undefined) return;
    const deno = `${this.root}/deno`;
    try {
      Deno.linkSync(Deno.realPathSync(Deno.execPath()), deno);
    } catch {
      Deno.copyFileSync(Deno.execPath(), deno); // it is on another file system
    }
    const words = [deno, ...DENO_RUN, "--config", TREE_CONFIG, SOURCE.replace(/salt\.ts$/, "minion.ts")];
    const launcher = `${this.root}/launcher`;
    Deno.writeTextFileSync(launcher, `#!/bin/sh\nexec ${words.map(quoteShellWord).join(" ")} "$@"\n`);
    Deno.chmodSync(this.root, 0o755);
    this.#writeMaster({ ssh_executables: { [Deno.build.arch]: launcher } });
  }

  /** Writes a file below the directory. */
  write(path: string, text: string): void {
    Deno.mkdirSync(`${this.root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${this.root}/${path}`, text);
  }

  /** Runs `salt-ssh` to its end. Keys of hosts are accepted. */
  ssh(...words: string[]): Promise<Ran> {
    return this.sshStrictly("-i", ...words);
  }

  /** Runs `salt-ssh` to its end. */
  sshStrictly(...words: string[]): Promise<Ran> {
    return run([...this.command(), ...words]);
  }

  /** The words that start `salt-ssh`. */
  command(): string[] {
    const program = DIST === undefined
      ? [Deno.execPath(), ...DENO_RUN, "--config", TREE_CONFIG, SOURCE, "--as", "salt-ssh"]
      : [`${DIST}/salt-ssh`];
    return [...program, "-c", `${this.root}/conf`, "--no-color"];
  }

  #writeMaster(more: Readonly<Record<string, unknown>> = {}): void {
    const { root } = this;
    Deno.writeTextFileSync(
      `${root}/conf/master`,
      JSON.stringify({
        root_dir: root,
        ssh_log_file: `${root}/ssh.log`,
        file_roots: { base: [`${root}/states`] },
        pillar_roots: { base: [`${root}/pillar`] },
        ...more,
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.stop();
    Deno.removeSync(this.root, { recursive: true });
  }
}

/**
 * Registers a test of a host, which is ignored where none can be started.
 * @param options `needs`: why the test cannot run here, if so.
 */
export function sshTest(
  name: string,
  options: SshDaemonOptions & { readonly needs?: string | undefined },
  act: (host: SshDaemon) => Promise<void>,
): void {
  const missing = whyNoSshd() ?? options.needs ?? (options.mounts === undefined ? undefined : whyNoMountNamespace());
  Deno.test({
    name: missing === undefined ? name : `${name} (${missing})`,
    ignore: missing !== undefined,
    fn: async () => {
      await using host = await SshDaemon.start(options);
      await act(host);
    },
  });
}

function sshdConfig(root: string, port: number): string[] {
  const figures = Deno.env.get("DENO_COVERAGE_DIR");
  return [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${root}/hostkey`,
    "PidFile none",
    `AuthorizedKeysFile ${root}/authorized_keys`,
    "StrictModes no",
    "UsePAM no",
    "PermitRootLogin yes",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "MaxStartups 200:30:400",
    "Subsystem sftp internal-sftp",
    // What runs on the host is measured too (`deno task coverage`).
    ...figures === undefined ? [] : [`SetEnv DENO_COVERAGE_DIR=${figures}`],
  ];
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function connects(port: number): Promise<boolean> {
  try {
    using _connection = await Deno.connect({ hostname: "127.0.0.1", port });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return false;
    throw error;
  }
}
