/**
 * A fleet in this process: a real master and real minions on loopback, with their own ports, in a temporary directory
 * that is removed at the end. The operator's commands run in this process too.
 *
 *     await using fleet = await startFleet({ minions: ["web1", "db1"] });
 *     assertEquals((await fleet.salt("*", "test.ping")).code, 0);
 *
 * `fleetTest` registers a test with its own fleet, and shows the logs when it fails. FLEET_LOG=1 shows them at once.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { fireEvent } from "#lib/bus/fire.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { localCommands } from "#lib/client/runner_local.ts";
import { createLogger, LEVEL_NUMBERS, levelName, type Logger } from "#lib/runtime/log.ts";
import { Master } from "#lib/master/daemon/master.ts";
import { Minion } from "#lib/minion/agent/minion.ts";
import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import { runSaltCall } from "#lib/commands/programs/salt_call.ts";
import { runSalt } from "#lib/commands/programs/salt.ts";
import { runSaltKey } from "#lib/commands/programs/salt_key.ts";
import { runSaltRun, type SaltRunIo } from "#lib/commands/programs/salt_run.ts";
import { toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { eventually } from "#tests/support/eventually.ts";
import { placeKey, takesMadeKey } from "./keys.ts";

export { eventually } from "#tests/support/eventually.ts";

/** The options of a fleet. */
export interface FleetOptions {
  /** The ids of its minions. Default: none. */
  readonly minions?: readonly string[];
  /** Further options of the master. */
  readonly master?: Readonly<Record<string, unknown>>;
  /** Further options of each minion. */
  readonly minion?: Readonly<Record<string, unknown>>;
  /** Whether the master accepts all keys. Default: true. If false, the fleet does not wait for its minions either. */
  readonly autoAccept?: boolean;
}

/** The outcome of one run of a command. */
export interface Run {
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly err: string;
}

/** The environment of one run of a command, where it differs from the default. */
export interface RunOptions {
  /** Standard input; also the answers to questions, a line each. */
  readonly stdin?: string;
  /** Ctrl-C. */
  readonly signal?: AbortSignal;
  /** Called with each piece of output. */
  readonly onOutput?: (text: string) => void;
  /** Whether standard output is a terminal. */
  readonly isTerminal?: boolean;
  /** Whether standard error is a terminal. */
  readonly isErrorTerminal?: boolean;
}

/** Options that shorten a fleet's waits. */
const MASTER_OPTIONS = { interface: "127.0.0.1", worker_threads: 2, loop_interval: 60 };
const MINION_OPTIONS = {
  master: "127.0.0.1",
  acceptance_wait_time: 0.2,
  random_reauth_delay: 0.2,
  recon_default: 50,
  recon_max: 200,
  recon_randomize: false,
  return_retry_timer: 1,
  return_retry_timer_max: 1,
  auth_timeout: 2,
};

/** How long a minion may take until it serves jobs, in milliseconds. */
const START_MS = 60_000;

/** Fleets that may run at the same time and have keys of their own. */
const FLEETS = 6;
let fleets = 0;

/** A running fleet. */
export class Fleet implements AsyncDisposable {
  /** The directory of the whole fleet. */
  readonly root: string;
  /** The log lines of the master and the minions. */
  readonly logs: string[] = [];
  /** The batches that run in the background. */
  readonly startedBatches: Promise<Run>[] = [];
  /** The running minions by id. */
  readonly minions = new Map<string, Minion>();
  readonly #options: FleetOptions;
  readonly #ports = { publish: freePort(), request: freePort() };
  readonly #number = fleets++ % FLEETS;
  /** Who has got a key from here: one that is removed later is made anew, as by an operator's master. */
  readonly #withKeys = new Set<string>();
  #master: Master | undefined;
  #masterOpts: MasterOpts | undefined;

  /** Use {@linkcode startFleet}. */
  constructor(options: FleetOptions) {
    this.#options = options;
    this.root = Deno.makeTempDirSync({ prefix: "fleet_" });
  }

  /** The master's configuration directory, for `-c`. */
  get configDir(): string {
    return `${this.root}/master`;
  }

  /** The master's options, with its actual ports. */
  get masterOpts(): MasterOpts {
    if (this.#masterOpts === undefined) throw new Error("the fleet has no master yet");
    return this.#masterOpts;
  }

  /** The running master. */
  get master(): Master {
    if (this.#master === undefined) throw new Error("the master is not running");
    return this.#master;
  }

  /** The master's keys. */
  get keys(): KeyStore {
    return new KeyStore(this.masterOpts.pki_dir);
  }

  /** Starts the master. A second start uses the same ports. */
  async startMaster(): Promise<Master> {
    const opts = this.prepareMaster();
    if (takesMadeKey(this.#options.master)) await this.#placeKey(opts.pki_dir, "master", "master");
    this.#master = await Master.start(opts, this.#logger("master"));
    return this.#master;
  }

  /** Writes the master's configuration and makes its directories, for a master that is started elsewhere. */
  prepareMaster(): MasterOpts {
    const { autoAccept = true } = this.#options;
    writeConfig(this.configDir, "master", {
      root_dir: this.configDir,
      id: "fleet_master",
      auto_accept: autoAccept,
      ...MASTER_OPTIONS,
      publish_port: this.#ports.publish,
      ret_port: this.#ports.request,
      file_roots: { base: [`${this.root}/srv`] },
      ...this.#options.master,
    });
    const { opts } = loadMasterConfig({ configDir: this.configDir });
    for (const path of [opts.pki_dir, opts.cachedir, opts.sock_dir]) makeDirectory(path);
    this.#masterOpts = opts;
    return opts;
  }

  /** Stops the master; its minions keep running. */
  async stopMaster(): Promise<void> {
    await this.#master?.close();
    this.#master = undefined;
  }

  /** The configuration directory of a minion, for `-c`. */
  minionConfigDir(id: string): string {
    return `${this.root}/${id}`;
  }

  /** The options of the minion `id`. Writes its configuration and creates its directories. */
  minionOpts(id: string, overrides: Readonly<Record<string, unknown>> = {}): MinionOpts {
    const configDir = this.minionConfigDir(id);
    writeConfig(configDir, "minion", {
      root_dir: configDir,
      id,
      master_port: this.masterOpts.ret_port,
      ...MINION_OPTIONS,
      ...this.#options.minion,
      ...overrides,
    });
    const { opts } = loadMinionConfig({ configDir });
    for (const path of [opts.pki_dir, opts.cachedir, opts.sock_dir]) makeDirectory(path);
    return opts;
  }

  /** Starts a minion; does not wait until it serves ({@linkcode untilServing} does). */
  async startMinion(id: string, overrides: Readonly<Record<string, unknown>> = {}): Promise<Minion> {
    const opts = this.minionOpts(id, overrides);
    if (takesMadeKey({ ...this.#options.minion, ...overrides })) await this.#placeKey(opts.pki_dir, "minion", id);
    const minion = await Minion.start(opts, this.#logger(id));
    // A test that checks how the minion ends awaits `closed`; other tests must not fail because of it.
    minion.closed.catch((error) => this.logs.push(`${id}: ended: ${error.message}`));
    this.minions.set(id, minion);
    return minion;
  }

  async #placeKey(pkiDir: string, role: "master" | "minion", id: string): Promise<void> {
    if (this.#withKeys.has(pkiDir)) return;
    this.#withKeys.add(pkiDir);
    await placeKey(pkiDir, role, `${role}_${this.#number}_${id}`);
  }

  async stopMinion(id: string): Promise<void> {
    await this.minions.get(id)?.close();
    this.minions.delete(id);
  }

  /** Runs `act`, and waits until each of `ids` has sent its start event. */
  async untilServing(ids: readonly string[], act: () => Promise<unknown>): Promise<void> {
    using events = await EventSubscriber.connect(masterBus(this.masterOpts.sock_dir).pub, ["salt/minion/"]);
    await act();
    const missing = new Set(ids);
    const deadline = performance.now() + START_MS;
    while (missing.size > 0) {
      const event = await events.next(Math.max(0, deadline - performance.now()));
      if (event === undefined) throw new Error(`not serving after ${START_MS} ms: ${[...missing].join(", ")}`);
      const id = /^salt\/minion\/(.*)\/start$/.exec(event.tag)?.[1];
      if (id !== undefined) missing.delete(id);
    }
  }

  /** Runs `salt` with these arguments. */
  salt(...argv: string[]): Promise<Run> {
    return this.saltWith({}, ...argv);
  }

  /** Runs `salt` with these arguments and options. */
  saltWith(options: RunOptions, ...argv: string[]): Promise<Run> {
    // A batch in the background runs in this process; `startedBatches` waits for it.
    const startBatch = (words: readonly string[], { jid }: { readonly jid: string }) => {
      this.startedBatches.push(capture({}, (io) => runSalt(words, { ...io, batchJid: jid })));
      return Promise.resolve();
    };
    return capture(options, (io) => runSalt(["-c", this.configDir, ...argv], { ...io, startBatch }));
  }

  /**
   * Runs `salt --static --out=json` with these arguments, and returns the parsed output.
   * @throws {Error} If that is not JSON.
   */
  async saltJson(...argv: string[]): Promise<Value> {
    const { out, err } = await this.salt("--static", "--out=json", ...argv);
    if (out === "") throw new Error(`salt ${argv.join(" ")} shows nothing: ${err}`);
    return parseJson(out);
  }

  /** Runs `salt-key` with these arguments. */
  saltKey(...argv: string[]): Promise<Run> {
    return this.saltKeyWith({}, ...argv);
  }

  /** Runs `salt-key` with these arguments and options. */
  saltKeyWith(options: RunOptions, ...argv: string[]): Promise<Run> {
    return capture(options, (io) =>
      runSaltKey(["-c", this.configDir, ...argv], {
        ...io,
        fire: async (tag, data, { sock_dir }) => void await fireEvent(masterBus(sock_dir), tag, data),
      }));
  }

  /** Runs `salt-run` with these arguments. */
  saltRun(...argv: string[]): Promise<Run> {
    return this.saltRunWith({}, ...argv);
  }

  /** Runs `salt-run` with these arguments and options. */
  saltRunWith(options: RunOptions & Pick<SaltRunIo, "outputGone">, ...argv: string[]): Promise<Run> {
    return capture(options, (io) =>
      runSaltRun(["-c", this.configDir, ...argv], {
        ...io,
        outputGone: options.outputGone,
        fire: (tag, data, { sock_dir }) => fireEvent(masterBus(sock_dir), tag, data),
        local: localCommands,
        startDetached: () => {
          throw new Error("a test starts nothing in the background");
        },
      }));
  }

  /** Runs `salt-call` with these arguments as the minion `id`, which need not be running. */
  saltCall(id: string, ...argv: string[]): Promise<Run> {
    return this.saltCallWith({}, id, ...argv);
  }

  /** Runs `salt-call` with these arguments and options as the minion `id`, which need not be running. */
  saltCallWith(options: RunOptions, id: string, ...argv: string[]): Promise<Run> {
    const configDir = this.minionConfigDir(id);
    if (!exists(`${configDir}/minion`)) this.minionOpts(id);
    return capture(options, (io) => runSaltCall(["-c", configDir, ...argv], io));
  }

  /** Subscribes to the master's event bus. */
  async listen(...prefixes: string[]): Promise<EventSubscriber> {
    return await EventSubscriber.connect(masterBus(this.masterOpts.sock_dir).pub, prefixes);
  }

  /** Fires an event on the master's event bus. */
  async fire(tag: string, data: ValueMap): Promise<void> {
    await fireEvent(masterBus(this.masterOpts.sock_dir), tag, data);
  }

  #logger(who: string): Logger {
    return createLogger([{
      level: LEVEL_NUMBERS.debug,
      write: ({ level, message, timeMs }) => {
        const line = `${new Date(timeMs).toISOString().slice(11, 23)} ${who}: [${levelName(level)}] ${message}`;
        this.logs.push(line);
        if (Deno.env.get("FLEET_LOG") === "1") Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
      },
      close: () => {},
    }]);
  }

  /** Stops all services and removes the directory. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.minions.keys()].map((id) => this.stopMinion(id)));
    await this.stopMaster();
    Deno.removeSync(this.root, { recursive: true });
  }
}

/** Starts a fleet, and waits until all its minions serve jobs. */
export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  const fleet = new Fleet(options);
  try {
    await fleet.startMaster();
    const ids = options.minions ?? [];
    const start = () => Promise.all(ids.map((id) => fleet.startMinion(id)));
    if (options.autoAccept ?? true) await fleet.untilServing(ids, start);
    else await start();
    return fleet;
  } catch (error) {
    await fleet[Symbol.asyncDispose]();
    throw explained(error, fleet);
  }
}

/** Registers a test with its own fleet. A failure shows the fleet's logs. */
export function fleetTest(name: string, options: FleetOptions, run: (fleet: Fleet) => Promise<void>): void {
  Deno.test(name, async () => {
    await using fleet = await startFleet(options);
    try {
      await run(fleet);
    } catch (error) {
      throw explained(error, fleet);
    }
  });
}

function explained(error: unknown, { logs }: Fleet): Error {
  const message = messageOf(error);
  return new Error(`${message}\n\nLast of the logs:\n${logs.slice(-60).join("\n")}`, { cause: error });
}

/** The input and output of every command, with its output recorded. */
async function capture(
  { stdin = "", signal = new AbortController().signal, onOutput, isTerminal = false, isErrorTerminal = false }:
    RunOptions,
  run: (io: CaptureIo) => Promise<number>,
): Promise<Run> {
  let out = "", err = "";
  const lines = stdin.split("\n");
  const code = await run({
    write(text) {
      out += text;
      onOutput?.(text);
    },
    writeError(text) {
      err += text;
      onOutput?.(text);
    },
    isTerminal,
    isErrorTerminal,
    noColor: "",
    readStdin: () => Promise.resolve(stdin),
    readLine(prompt) {
      out += prompt;
      return Promise.resolve(lines.length > 1 || lines[0] !== "" ? lines.shift() : undefined);
    },
    ask(question) {
      err += question;
      return Promise.resolve(lines.length > 1 || lines[0] !== "" ? lines.shift() : undefined);
    },
    signal,
  });
  return { code, out, err };
}

interface CaptureIo {
  write(text: string): void;
  writeError(text: string): void;
  readonly isTerminal: boolean;
  readonly isErrorTerminal: boolean;
  readonly noColor: string;
  readStdin(): Promise<string>;
  readLine(prompt: string): Promise<string | undefined>;
  ask(question: string): Promise<string | undefined>;
  readonly signal: AbortSignal;
}

function writeConfig(directory: string, name: string, options: Readonly<Record<string, unknown>>): void {
  makeDirectory(directory);
  // JSON is YAML.
  Deno.writeTextFileSync(`${directory}/${name}`, dumpJson(toValue(options)));
}

function makeDirectory(path: string): void {
  Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Waits until the master has the key of the minion `id` in this state. */
export async function untilKey(
  fleet: Fleet,
  id: string,
  state: "accepted" | "pending" | "rejected" | "denied",
): Promise<void> {
  await eventually(() => fleet.keys.list(state).includes(id), { what: `the key of ${id}, ${state},` });
}
