/**
 * A site for a master and its minions: a temporary root, free ports, their configuration and their processes.
 *
 * The implementation is chosen when a program is started: several may use the same directories, one after the other.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { type Ran, run, Service } from "#tests/support/processes.ts";
import type { Salt } from "./salts.ts";

/** Time limit for the start of a service, in milliseconds. */
const START_MS = 60_000;

/**
 * Time limit for a minion to sign in and answer, in milliseconds. It includes the start of a master: the ports of a
 * Python master are open before it serves them, on a busy machine for most of a minute.
 */
const ANSWER_MS = 120_000;

/** Time limit for a master to end on SIGTERM, in milliseconds: its files are checked afterwards. */
const MASTER_STOP_MS = 20_000;

/**
 * Time limit for a minion to end on SIGTERM, in milliseconds; then it is killed, because the job processes of 3007 may
 * run on for half a minute.
 */
const MINION_STOP_MS = 3_000;

/** Number of lines of each log that a failure shows. */
const LOG_LINES = 15;

/** A master's options, for every implementation. The times are short, so that the tests need not wait. */
function masterConfig(root: string, ports: { publish: number; request: number }): string {
  return `
root_dir: ${root}
user: ${userName()}
interface: 127.0.0.1
publish_port: ${ports.publish}
ret_port: ${ports.request}
file_roots: {base: [${root}/srv]}
file_recv: true
worker_threads: 3
loop_interval: 1
timeout: 5
gather_job_timeout: 5
log_level_logfile: info
enable_fqdns_grains: false
enable_gpu_grains: false
pillar_roots: {base: [${root}/pillar]}
ext_pillar: [{cmd_yaml: 'echo "of: %s"'}]
`;
}

/**
 * A minion's options. `ports.publish` is set only if the program needs it: a minion gets that port when it signs in. If
 * a master ends before it replies, 3007 waits for the reply, and later requests wait too: without the timeout options,
 * for a minute, as every version does for the reply to a sign-in.
 */
function minionConfig(root: string, id: string, ports: { publish: number | undefined; request: number }): string {
  return `
root_dir: ${root}
user: ${userName()}
id: ${id}
master: 127.0.0.1
master_port: ${ports.request}
${ports.publish === undefined ? "" : `publish_port: ${ports.publish}`}
acceptance_wait_time: 1
request_channel_timeout: 10
auth_timeout: 15
random_reauth_delay: 1
recon_default: 100
recon_max: 300
log_level_logfile: info
enable_fqdns_grains: false
enable_gpu_grains: false
`;
}

function userName(): string {
  const { stdout } = new Deno.Command("id", { args: ["-un"] }).outputSync();
  return new TextDecoder().decode(stdout).trim();
}

/** The root directory and the processes in it. */
export class Site {
  readonly root: string;
  readonly #ports = { publish: freePort(), request: freePort() };
  readonly #minions = new Map<string, { readonly root: string; readonly service: Service }>();
  #master: { readonly salt: Salt; readonly service: Service } | undefined;

  /** @param more Further lines of the master's configuration. */
  constructor(more = "") {
    this.root = Deno.makeTempDirSync({ prefix: "salt_" });
    writeConfig(`${this.root}/etc/salt/master`, masterConfig(this.root, this.#ports) + more);
  }

  /** Starts a syndic beside the master, below the master of `top`. */
  startSyndic(salt: Salt, id: string, top: Site): Service {
    const path = `${this.root}/etc/salt/master`;
    const lines = `syndic_master: 127.0.0.1\nsyndic_master_port: ${top.#ports.request}\n`;
    writeConfig(path, Deno.readTextFileSync(path) + lines);
    const publish = salt.version === undefined ? undefined : top.#ports.publish;
    const minion = minionConfig(this.root, id, { ...top.#ports, publish });
    // Python's syndic looks for the bus of its master there.
    writeConfig(`${this.root}/etc/salt/minion`, `${minion}sock_dir: ${this.root}/var/run/salt/master\n`);
    const words = [...salt.command("salt-syndic"), "-c", `${this.root}/etc/salt`];
    const service = Service.start(`the syndic ${id} (${salt.name})`, words, `${this.root}/syndic.out`);
    this.#minions.set(`syndic ${id}`, { root: this.root, service });
    return service;
  }

  /** Starts a master; resolves when it listens. */
  async startMaster(salt: Salt): Promise<void> {
    const name = `the master (${salt.name})`;
    const words = [...salt.command("salt-master"), "-c", `${this.root}/etc/salt`];
    const service = Service.start(name, words, `${this.root}/master.out`);
    this.#master = { salt, service };
    await eventually(async () => {
      if (service.exitCode !== undefined) return true;
      for (const port of Object.values(this.#ports)) (await Deno.connect({ port })).close();
      return true;
    }, { withinMs: START_MS, what: `${name}, which is to listen,` });
    if (service.exitCode !== undefined) throw new Error(`${name} ended with ${service.exitCode}`);
  }

  async stopMaster(): Promise<void> {
    await this.#master?.service.stop(MASTER_STOP_MS);
    this.#master = undefined;
  }

  /**
   * Starts a minion; with an earlier id it finds the files of the minion before it.
   * @param sites Those of its masters, if it has several.
   * @param more Further lines of its configuration.
   */
  startMinion(salt: Salt, id: string, sites: readonly Site[] = [], more = ""): Service {
    const root = this.minionRoot(id);
    // After a lost connection 3007 checks every second for a connection to `publish_port`, and reconnects if there is
    // none.
    const publish = salt.version === undefined || sites.length > 0 ? undefined : this.#ports.publish;
    const list = sites.map((site) => `127.0.0.1:${site.#ports.request}`);
    const masters = list.length > 0 ? `master: [${list.map((one) => `'${one}'`).join(", ")}]\n` : "";
    const config = minionConfig(root, id, { ...this.#ports, publish });
    const text = masters === "" ? config : config.replace(/^master: .*\n/m, () => masters);
    writeConfig(`${root}/etc/salt/minion`, text + more);
    const words = [...salt.command("salt-minion"), "-c", `${root}/etc/salt`];
    const service = Service.start(`the minion ${id} (${salt.name})`, words, `${root}/minion.out`);
    this.#minions.set(id, { root, service });
    return service;
  }

  async stopMinion(id: string): Promise<void> {
    await this.#minions.get(id)?.service.stop(MINION_STOP_MS);
  }

  /** The root directory of a minion. */
  minionRoot(id: string): string {
    return `${this.root}/${id}`;
  }

  /** The master's directory of keys. */
  get pkiDir(): string {
    return `${this.root}/etc/salt/pki/master`;
  }

  /** The master's cache directory. */
  get cacheDir(): string {
    return `${this.root}/var/cache/salt/master`;
  }

  /** Runs an operator's command of the implementation of the running master, or of `salt`. */
  async operate(
    program: "salt" | "salt-key" | "salt-run" | "salt-cp",
    args: readonly string[],
    salt?: Salt,
  ): Promise<Ran> {
    const by = salt ?? this.#master?.salt;
    if (by === undefined) throw new Error("no master runs: say whose command is meant");
    return await run([...by.command(program), "-c", `${this.root}/etc/salt`, ...args]);
  }

  /** Runs `salt-call` beside minion `id`. */
  async call(salt: Salt, id: string, args: readonly string[]): Promise<Ran> {
    return await run([...salt.command("salt-call"), "-c", `${this.minionRoot(id)}/etc/salt`, ...args]);
  }

  /**
   * Runs `salt` and checks its exit code, `expectCode`.
   * @returns The return of each minion.
   */
  async salt(args: readonly string[], expectCode = 0): Promise<Record<string, unknown>> {
    const ran = await this.operate("salt", ["--out=json", ...args]);
    assertEquals(ran.code, expectCode, `exit code of salt ${args.join(" ")}:\n${ran.out}${ran.err}`);
    return jsonDocuments(ran.out);
  }

  /**
   * Runs `salt-run`.
   * @returns Its result.
   */
  async saltRun(args: readonly string[], salt?: Salt): Promise<unknown> {
    const { out, err } = await this.operate("salt-run", ["--out=json", ...args], salt);
    return parse(out, `salt-run ${args.join(" ")} wrote ${out}${err}`);
  }

  /**
   * Publishes a job without waiting for it.
   * @returns The job's id.
   */
  async publish(args: readonly string[]): Promise<string> {
    const { out, err } = await this.operate("salt", ["--async", ...args]);
    const jid = /job ID: (\d{20})/.exec(out)?.[1];
    if (jid === undefined) throw new Error(`salt --async ${args.join(" ")} named no job: ${out}${err}`);
    return jid;
  }

  /** The ids of the keys in a state, as `salt-key` lists them. */
  async keys(salt?: Salt): Promise<Record<string, string[]>> {
    const { out, err } = await this.operate("salt-key", ["--out=json", "-L"], salt);
    return parse(out, `salt-key -L wrote ${out}${err}`) as Record<string, string[]>;
  }

  /** Accepts every pending key. */
  async acceptAll(): Promise<void> {
    const { code, out, err } = await this.operate("salt-key", ["-y", "-A"]);
    assertEquals(code, 0, `salt-key -A: ${out}${err}`);
  }

  /** Waits until the key of `id` is in `state`. */
  async keyComes(id: string, state: "minions" | "minions_pre" | "minions_rejected"): Promise<void> {
    const path = `${this.pkiDir}/${state}/${id}`;
    await eventually(() => lexistsOrThrow(path), { withinMs: ANSWER_MS, what: `the key of ${id} in ${state}` });
  }

  /** Waits until `id` answers a `test.ping`. */
  async answers(id: string): Promise<void> {
    await eventually(async () => {
      const { out } = await this.operate("salt", ["--out=json", "-t", "1", id, "test.ping"]);
      return jsonDocuments(out)[id] === true;
    }, { withinMs: ANSWER_MS, what: `the answer of ${id} to test.ping` });
  }

  /** Runs `prove`. If it fails, the error has the last lines of all logs. */
  async explain<T>(prove: () => Promise<T>): Promise<T> {
    try {
      return await prove();
    } catch (error) {
      const message = messageOf(error);
      throw new Error(`${message}\n${this.#logs().join("\n")}`, { cause: error });
    }
  }

  #logs(): string[] {
    const master = [`${this.root}/master.out`, `${this.root}/var/log/salt/master`];
    const minions = [...this.#minions.values()].flatMap(({ root }) => [
      `${root}/minion.out`,
      `${root}/var/log/salt/minion`,
    ]);
    return [...master, ...minions].filter(lexistsOrThrow).flatMap((path) => [
      `--- the end of ${path}`,
      ...Deno.readTextFileSync(path).split("\n").slice(-LOG_LINES),
    ]);
  }

  /** Ends all processes and removes the root directory. */
  async [Symbol.asyncDispose](): Promise<void> {
    const minions = [...this.#minions.values()].map(({ service }) => service.stop(MINION_STOP_MS));
    await Promise.all([...minions, this.stopMaster()]);
    Deno.removeSync(this.root, { recursive: true });
  }
}

/** Merges the maps that `salt --out=json` writes one after the other. */
export function jsonDocuments(text: string): Record<string, unknown> {
  const documents = text.trim().split(/(?<=^\})\n/m).filter((part) => part.startsWith("{"));
  return Object.assign({}, ...documents.map((part) => parse(part, `not JSON: ${part}`)));
}

function parse(text: string, complaint: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(complaint, { cause: error });
  }
}

function writeConfig(path: string, text: string): void {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, text);
}
