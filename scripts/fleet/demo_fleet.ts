/**
 * A master and minions on the loopback address, below one directory: their configuration, their processes, and small
 * scripts that run the operator's commands against them; if wanted, the web console too. The processes are the real
 * programs, started as services.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import process from "node:process";
import { type FirstUser, makeFirstUser } from "#lib/auth/first_user.ts";
import { MAX_SOCKET_PATH } from "#lib/commands/daemons/preflight.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { freePort } from "./free_port.ts";
import { EXECUTABLES } from "#scripts/build/production.ts";

/** An error of the fleet, with a message for the user. */
export class DemoError extends Error {
  override name = "DemoError";
}

/** Options of {@linkcode DemoFleet.make}. */
export interface DemoFleetOptions {
  /** Directory of the fleet; files of an earlier fleet are removed from it. */
  readonly root: string;
  /**
   * Directory of executables.
   * @default the sources are run
   */
  readonly dist: string | undefined;
  /** Directory of the sources. */
  readonly project: string;
  /** Whether there is a third minion, some states, and a salt-api with the web console and a user. */
  readonly console?: boolean;
}

/** The outcome of a command. */
export interface CommandResult {
  readonly code: number;
  /** Standard output, then standard error. */
  readonly output: string;
}

interface Service {
  /** The name of its directory below the root; for a minion, also its id. */
  readonly node: string;
  readonly role: "master" | "minion" | "api";
}

const SERVICES: readonly Service[] = [
  { node: "master", role: "master" },
  { node: "web1", role: "minion" },
  { node: "db1", role: "minion" },
];

/** Those of a fleet with the console besides. */
const CONSOLE_SERVICES: readonly Service[] = [{ node: "web2", role: "minion" }, { node: "master", role: "api" }];

/** States to try in the console; all below the fleet's directory. */
function sampleStates(root: string): Readonly<Record<string, string>> {
  return {
    "top.sls": "base:\n  '*':\n    - motd\n  'web*':\n    - web\n",
    "motd.sls": `${root}/{{ grains.id }}/motd:\n  file.managed:\n    - contents: Welcome to {{ grains.id }}\n`,
    "web.sls": `${root}/{{ grains.id }}/www:\n  file.directory: []\n\n` +
      `${root}/{{ grains.id }}/www/index.html:\n  file.managed:\n    - contents: <h1>{{ grains.id }}</h1>\n` +
      `    - require:\n      - file: ${root}/{{ grains.id }}/www\n`,
  };
}

/** The longest path of a socket below the root. */
const LONGEST_SOCKET = "/master/var/run/salt/minion/minion_event_0123456789_pull.ipc";

/** Time limit of each condition that is waited for, in milliseconds. */
const MAX_WAIT_MS = 20_000;

/** Time limit for the end of a service, in milliseconds. */
const STOP_MS = 5_000;

/** A master and its minions; {@linkcode DemoFleet.make} writes their files, `start` runs their services. */
export class DemoFleet {
  readonly #root: string;
  readonly #options: DemoFleetOptions;
  readonly #isTemporary: boolean;
  readonly #started: Service[] = [];
  readonly #services: readonly Service[];
  readonly #ports = { publish: freePort(), request: freePort(), api: freePort() };
  #user: FirstUser | undefined;

  private constructor(root: string, options: DemoFleetOptions, isTemporary: boolean) {
    this.#root = root;
    this.#options = options;
    this.#isTemporary = isTemporary;
    this.#services = [...SERVICES, ...options.console === true ? CONSOLE_SERVICES : []];
  }

  get #minions(): string[] {
    return this.#services.filter(({ role }) => role === "minion").map(({ node }) => node);
  }

  /** Where the console is, and who may log in; `undefined`: there is none. */
  get console(): { readonly address: string; readonly user: FirstUser } | undefined {
    return this.#user && { address: `http://127.0.0.1:${this.#ports.api}/console/`, user: this.#user };
  }

  /**
   * Writes the files of a fleet.
   * @throws {DemoError} If a fleet is running there, or other files are there.
   */
  static async make(options: DemoFleetOptions): Promise<DemoFleet> {
    const wished = absolute(options.root);
    const isTooLong = new TextEncoder().encode(wished + LONGEST_SOCKET).length > MAX_SOCKET_PATH;
    const root = isTooLong ? await Deno.makeTempDir({ prefix: "salt_demo_" }) : wished;
    const fleet = new DemoFleet(root, { ...options, dist: options.dist && absolute(options.dist) }, isTooLong);
    fleet.#clear();
    await fleet.#write();
    return fleet;
  }

  /** The path of the root, relative if it is below the current directory. */
  get shownRoot(): string {
    const here = `${Deno.cwd()}/`;
    return this.#root.startsWith(here) ? this.#root.slice(here.length) : this.#root;
  }

  /** A hint about the path of the root; empty if there is none. */
  get note(): string {
    return this.#isTemporary ? `\n(${this.#options.root} is too long a path for Unix sockets)` : "";
  }

  /**
   * Starts the services; resolves when all are ready.
   * @throws {DemoError} If a service ended, with its output.
   */
  async start(signal: AbortSignal): Promise<void> {
    await this.#startAll(this.#services.filter(({ role }) => role !== "api"), signal);
    // It looks whether a master runs.
    await this.#startAll(this.#services.filter(({ role }) => role === "api"), signal);
  }

  async #startAll(services: readonly Service[], signal: AbortSignal): Promise<void> {
    // Must not be interrupted: a service has written its process id only when the process that started it ends.
    const results = await Promise.all(services.map(async (service) => {
      const { node, role } = service;
      this.#started.push(service);
      const words = [...this.#command(`salt-${role}`), "-c", `${this.#root}/${node}/etc/salt`, "-d"];
      return { name: role === "api" ? "salt-api" : node, ...await runCommand(words) };
    }));
    signal.throwIfAborted();
    const failed = results.find(({ code }) => code !== 0);
    if (failed !== undefined) throw new DemoError(`${failed.name} does not start: ${failed.output.trim()}`);
  }

  /** Resolves when the keys of all minions are pending. */
  async keysPending(signal: AbortSignal): Promise<void> {
    const directory = `${this.#root}/master/etc/salt/pki/master/minions_pre`;
    await until(
      "the minions' keys to arrive",
      signal,
      () => this.#minions.every((id) => isThere(`${directory}/${id}`)),
    );
  }

  /** Resolves when all minions have signed in and have sent their grains. */
  async signedIn(signal: AbortSignal): Promise<void> {
    const grains = `${this.#root}/master/var/cache/salt/master/grains`;
    await until("the minions to sign in", signal, () => this.#minions.every((id) => isThere(`${grains}/${id}.p`)));
  }

  /** Runs a command of the operator: a name and its arguments. */
  async run([name, ...args]: readonly string[], signal: AbortSignal): Promise<CommandResult> {
    return await runCommand([`${this.#root}/bin/${name}`, ...args], signal);
  }

  /** The last lines of each log, shown after an error. */
  lastWords(): string {
    return this.#services.map(({ node, role }) => {
      const path = `${this.#root}/${node}/var/log/salt/${role}`;
      const lines = readIfThere(path)?.trimEnd().split("\n").slice(-10) ?? ["(none)"];
      return `\nThe end of ${path}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
    }).join("");
  }

  /** Text for the user: commands for a fleet that keeps running. */
  farewell(): string {
    const bin = `${this.shownRoot}/bin`;
    return `
The fleet keeps running. Try:
  ${bin}/salt '*' test.ping
  ${bin}/salt '*' sys.doc cmd.run
  ${bin}/salt web1 grains.items
  ${bin}/salt-call test.ping        (on web1 itself)
Logs are in ${this.shownRoot}/*/var/log/salt. Stop it:
  ${bin}/stop
`;
  }

  /** Ends all started processes, with SIGKILL if necessary. Removes the temporary directory of {@linkcode make}. */
  async stop(): Promise<void> {
    await Promise.all(
      this.#started.splice(0).map(async (service) => {
        const pid = this.#pid(service);
        if (pid === undefined || !isRunning(pid)) return;
        process.kill(pid, "SIGTERM");
        const deadline = Date.now() + STOP_MS;
        while (isRunning(pid)) {
          if (Date.now() > deadline) process.kill(pid, "SIGKILL");
          await pause();
        }
      }),
    );
    if (this.#isTemporary) await Deno.remove(this.#root, { recursive: true });
  }

  #pid({ node, role }: Service): number | undefined {
    const pid = Number(readIfThere(`${this.#root}/${node}/var/run/salt-${role}.pid`));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  }

  #clear(): void {
    for (const service of [...SERVICES, ...CONSOLE_SERVICES]) {
      const pid = this.#pid(service);
      if (pid !== undefined && isRunning(pid)) {
        throw new DemoError(`a fleet is running below ${this.shownRoot}; stop it with ${this.shownRoot}/bin/stop`);
      }
    }
    if (!isThere(this.#root)) return;
    const strangers = [...Deno.readDirSync(this.#root)].map(({ name }) => name)
      .filter((name) => name !== "bin" && ![...SERVICES, ...CONSOLE_SERVICES].some(({ node }) => node === name));
    if (strangers.length > 0) throw new DemoError(`${this.#root} holds ${strangers[0]}, which no demo put there`);
    Deno.removeSync(this.#root, { recursive: true });
  }

  async #write(): Promise<void> {
    const root = this.#root;
    const { publish, request } = this.#ports;
    for (const { node, role } of this.#services) {
      if (role === "api") continue; // it reads the master's
      await Deno.mkdir(`${root}/${node}/etc/salt`, { recursive: true, mode: 0o755 });
      const ofRole = role === "master"
        ? {
          interface: "127.0.0.1",
          publish_port: publish,
          ret_port: request,
          timeout: 2,
          gather_job_timeout: 2,
        }
        // Keys are accepted at once here, so the minion repeats its sign-in sooner than after the default of ten
        // seconds.
        : { id: node, master: "127.0.0.1", master_port: request, acceptance_wait_time: 0.3 };
      const settings = { root_dir: `${root}/${node}`, log_level_logfile: "info", ...ofRole };
      // Plain scalars, which are read without the YAML parser; otherwise JSON, which is valid YAML.
      const text = (value: string | number) => /^[\w./-]+$/.test(String(value)) ? value : JSON.stringify(value);
      const lines = Object.entries(settings).map(([name, value]) => `${name}: ${text(value)}\n`);
      await Deno.writeTextFile(`${root}/${node}/etc/salt/${role}`, lines.join(""));
    }
    if (this.#options.console === true) this.#writeConsole();
    await Deno.mkdir(`${root}/bin`);
    for (const name of ["salt", "salt-key", "salt-run"]) await this.#writeScript(name, "master");
    await this.#writeScript("salt-call", "web1");
    await executable(`${root}/bin/stop`, stopScript(root, this.#services));
  }

  /** The states, the user, and what the console needs. */
  #writeConsole(): void {
    const config_dir = `${this.#root}/master/etc/salt`, states = `${this.#root}/master/srv/salt`;
    const section = { port: this.#ports.api, host: "127.0.0.1" };
    const settings = { salt_console: true, rest_cherrypy: section, file_roots: { base: [states] } };
    for (const directory of [states, `${config_dir}/master.d`]) Deno.mkdirSync(directory, { recursive: true });
    for (const [name, text] of Object.entries(sampleStates(this.#root))) {
      Deno.writeTextFileSync(`${states}/${name}`, text);
    }
    Deno.writeTextFileSync(`${config_dir}/master.d/console.conf`, `${JSON.stringify(settings)}\n`);
    const opts = { config_dir, pki_dir: `${config_dir}/pki/master`, external_auth: new Map(), salt_console: true };
    this.#user = makeFirstUser("admin", opts);
  }

  /** A script that runs a command with the configuration of one node. */
  async #writeScript(name: string, node: string): Promise<void> {
    const command = [...this.#command(name), "-c", `${this.#root}/${node}/etc/salt`].map(shellWord).join(" ");
    await executable(`${this.#root}/bin/${name}`, `#!/bin/sh\nexec ${command} "$@"\n`);
  }

  /** The start of the command line of a program, without arguments. */
  #command(name: string): string[] {
    const { dist, project } = this.#options;
    if (dist !== undefined) return [`${dist}/${name}`];
    const executable = EXECUTABLES.find((one) => one.name === name || one.links.some((link) => link === name));
    if (executable === undefined) throw new RangeError(`no entry answers to ${name}`);
    const run = [Deno.execPath(), ...DENO_RUN, `${project}/${executable.entry}`];
    return executable.name === name ? run : [...run, "--as", name];
  }
}

/** Runs a command to its end. Aborting the signal kills it. */
async function runCommand([command, ...args]: readonly string[], signal?: AbortSignal): Promise<CommandResult> {
  signal?.throwIfAborted();
  let result: Deno.CommandOutput;
  try {
    result = await new Deno.Command(command, { args, stdin: "null", signal }).output();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new DemoError(`there is no ${command}`);
    throw error;
  }
  signal?.throwIfAborted();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code: result.code, output: text(result.stdout) + text(result.stderr) };
}

async function until(
  what: string,
  signal: AbortSignal,
  holds: () => boolean,
): Promise<void> {
  const deadline = Date.now() + MAX_WAIT_MS;
  while (!holds()) {
    signal.throwIfAborted();
    if (Date.now() > deadline) {
      throw new DemoError(`waited ${MAX_WAIT_MS / 1000} s for ${what}`);
    }
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function absolute(path: string): string {
  return rstripChars(path.startsWith("/") ? path : `${Deno.cwd()}/${path}`, "/");
}

function isThere(path: string): boolean {
  return readable(() => Deno.statSync(path)) !== undefined;
}

function readIfThere(path: string): string | undefined {
  return readable(() => Deno.readTextFileSync(path));
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function executable(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(path, text, { mode: 0o755 });
}

function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Ends the services and waits until they are gone. */
function stopScript(root: string, services: readonly Service[]): string {
  return `#!/bin/sh
for file in ${services.map(({ node, role }) => shellWord(`${root}/${node}/var/run/salt-${role}.pid`)).join(" ")}; do
  pid=$(cat "$file" 2>/dev/null) || continue
  kill "$pid" 2>/dev/null
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
done
`;
}
