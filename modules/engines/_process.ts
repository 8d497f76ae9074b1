/**
 * The process of one engine. Its main thread has all permissions, and runs no code of the engine: it fires events and
 * reads the bus for the worker in which the engine runs, with the permissions that the engine's file declares. It ends
 * with the engine, or when its input ends.
 * @module
 */

import { busOfMaster, busOfMinion, type EngineBus, type EventStream } from "#lib/engines/engine_bus.ts";
import {
  type EngineInit,
  type FromEngine,
  packEngine,
  packEngineMap,
  parseFromEngine,
  type ToEngine,
  unpackEngineInit,
  unpackEngineMap,
} from "#lib/engines/messages.ts";
import { masterAsMinion } from "#lib/config/load.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import type { RunPythonEngine } from "#lib/engines/python_engine_parts.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { declaredPermissions } from "#lib/plugins/declared_permissions.ts";
import { ENGINE_START, type EngineContext } from "#lib/plugins/engine.ts";
import { loadFamily, userFiles } from "#lib/plugins/loader.ts";
import { type Permissions, workerPermissions } from "#lib/plugins/permissions.ts";
import { moduleDirectories } from "#lib/plugins/module_directories.ts";
import type { PythonFamily } from "#lib/python_bridge/link/messages.ts";
import { allowedPlugins, findPythonPlugins, type PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import { FrameReader } from "#lib/protocol/frames.ts";
import { LEVEL_NUMBERS, type Logger } from "#lib/runtime/log.ts";
import { openLog } from "#lib/runtime/log_sinks.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { truncateRepr } from "#lib/text/truncate.ts";
import { ENGINES, ENGINES_NOT_BUILT } from "./_built_in.ts";

/** Maximum bytes of its input. */
const MAX_GIVEN = 2 ** 28;
/** Events that are being fired, and open streams. */
const MAX_FIRING = 256, MAX_STREAMS = 16;
/** How long an engine may take to end, in milliseconds. */
const ENDING_MS = 3_000;
/** Maximum length of a logged message, in UTF-16 units. */
const MAX_LOGGED = 1 << 14;

/**
 * Runs the engine that comes on standard input.
 * @param runPythonEngine What runs one in Python.
 * @returns The exit code: 0 if it was asked to end, else 1, with the reason on standard error.
 */
export async function runEngine(runPythonEngine: RunPythonEngine): Promise<number> {
  // The limits of this process are not for the commands of an engine.
  Deno.env.delete("DENO_V8_FLAGS");
  const ending = new AbortController();
  const init = unpackEngineInit(await firstFrame(() => ending.abort(new Error("the input has ended"))));
  const master = init.role === "master" ? unpackOpts("master", init.opts) : undefined;
  const opts: MasterOpts | MinionOpts = master ?? unpackOpts("minion", init.opts);
  const { log, close } = openLog(opts, {});
  try {
    const directories = engineDirectories(opts);
    const named = log.named(`salt.engines.${init.module}`);
    const bus = master === undefined ? busOfMinion(unpackOpts("minion", init.opts)) : busOfMaster(master, named);
    const plugins = pythonEngines(opts, named);
    if (plugins.names.engines?.includes(init.module)) {
      const own = master === undefined ? unpackOpts("minion", init.opts) : masterAsMinion(master);
      const values = optsValues(opts).set("__role", init.role);
      const { role } = init, { signal } = ending;
      const reason = await runPythonEngine(init, {
        ...{ bus, log: named, opts: own, values, role, plugins, signal },
        ...master !== undefined && { master },
      });
      return ending.signal.aborted ? 0 : fail(reason === "" ? "it has returned" : reason);
    }
    const permissions = workerPermissions(await permissionsOf(init.module, directories), {
      opts,
      modules: directories,
    });
    const reason = await new EngineHost({ bus, log: named })
      .run(init, { permissions, directories, signal: ending.signal });
    if (ending.signal.aborted) return 0;
    return fail(reason === "" ? "it has returned" : reason);
  } catch (error) {
    return fail(messageOf(error));
  } finally {
    close();
  }
}

/** The engines in Python, and what they import; engines in TypeScript and JavaScript win. */
function pythonEngines(opts: MasterOpts | MinionOpts, log: Logger): PythonPlugins {
  const { extension_modules: extensionModules, module_dirs: moduleDirs } = opts;
  const directories = (family: PythonFamily) => moduleDirectories({ extensionModules, moduleDirs }, family);
  return findPythonPlugins({
    engines: [...directories("engines"), ...opts.engines_dirs],
    utils: directories("utils"),
    modules: directories("modules"),
  }, {
    allowed: allowedPlugins(opts.python_plugins),
    isLoaded: () => true,
    others: (family) => new Set(directories(family).flatMap((directory) => [...userFiles(directory).keys()])),
    warn: log.warning,
  });
}

function fail(reason: string): number {
  Deno.stderr.writeSync(new TextEncoder().encode(`${reason.replaceAll(/(?<!\s)\s*\n\s*/g, " ")}\n`));
  return 1;
}

/** The directories of the operator's own engines; later ones have precedence. */
function engineDirectories({ extension_modules, module_dirs, engines_dirs }: MasterOpts | MinionOpts): string[] {
  return [
    `${extension_modules}/engines`,
    ...module_dirs.flatMap((root) => [`${root}/_engines`, `${root}/engines`]),
    ...engines_dirs,
  ];
}

/**
 * The permissions of an engine: an own one declares them in the text of its file.
 * @throws {TypeError} If there is no such engine, or its file declares them in a way that cannot be read.
 */
async function permissionsOf(module: string, directories: readonly string[]): Promise<Permissions> {
  const own = new Map(directories.flatMap((directory) => [...userFiles(directory)]));
  const path = own.get(module);
  if (path !== undefined) {
    const declared = declaredPermissions(Deno.readTextFileSync(path)).functions.get(ENGINE_START);
    if (declared !== undefined && "problem" in declared) throw new TypeError(`${path}: ${declared.problem}`);
    return declared?.permissions ?? "none";
  }
  const fun = await loadFamily<EngineContext>(ENGINES).get(`${module}.${ENGINE_START}`);
  if (fun !== undefined) return fun.permissions ?? "none";
  if (ENGINES_NOT_BUILT.has(module)) throw new TypeError(`the engine ${module} is not built`);
  const nearest = nearestName(module, [...own.keys(), ...Object.keys(ENGINES)]);
  throw new TypeError(
    `there is no engine ${truncateRepr(module)}${nearest === undefined ? "" : `; there is ${nearest}`}`,
  );
}

/** Reads the init. `onEnd` is called when the input has ended. */
function firstFrame(onEnd: () => void): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const read = async () => {
    const frames = new FrameReader(MAX_GIVEN);
    for await (const piece of Deno.stdin.readable) for (const { content } of frames.push(piece)) resolve(content);
    reject(new Error("the input ended before it was complete"));
    onEnd();
  };
  read().catch(reject);
  return promise;
}

/** What the worker of an engine runs with. */
interface EngineRun {
  readonly permissions: Deno.PermissionOptions;
  readonly directories: readonly string[];
  /** Aborted when the engine must end. */
  readonly signal: AbortSignal;
}

/** Serves the worker of an engine. */
class EngineHost {
  readonly #bus: EngineBus;
  readonly #log: Logger;
  readonly #streams = new Map<number, Promise<EventStream>>();
  readonly #ended = Promise.withResolvers<string>();
  #firing = 0;

  constructor({ bus, log }: { readonly bus: EngineBus; readonly log: Logger }) {
    this.#bus = bus;
    this.#log = log;
  }

  /**
   * Runs the engine in a worker.
   * @returns Why it has ended; empty if it returned.
   */
  async run(init: EngineInit, { permissions, directories, signal }: EngineRun): Promise<string> {
    const worker = new Worker(new URL("./_worker.ts", import.meta.url), {
      type: "module",
      name: "engine",
      deno: { permissions },
    });
    const send = (message: ToEngine) => worker.postMessage(packEngine(message));
    worker.onerror = (event) => {
      event.preventDefault();
      this.#ended.resolve(event.message);
    };
    worker.onmessage = ({ data }) => {
      try {
        const message = parseFromEngine(data);
        if (message.kind === "ready") send({ kind: "start", init, directories, logLevel: LEVEL_NUMBERS.all });
        else this.#receive(message, send);
      } catch (error) {
        this.#ended.resolve(`it sent an invalid message: ${messageOf(error)}`);
      }
    };
    let late: ReturnType<typeof setTimeout> | undefined;
    signal.addEventListener("abort", () => {
      send({ kind: "stop" });
      late = setTimeout(() => this.#ended.resolve("it did not end in time"), ENDING_MS);
    });
    const reason = await this.#ended.promise;
    clearTimeout(late);
    worker.terminate();
    for (const stream of [...this.#streams.keys()]) this.#close(stream);
    return reason;
  }

  #receive(message: Exclude<FromEngine, { readonly kind: "ready" }>, send: (message: ToEngine) => void): void {
    switch (message.kind) {
      case "log":
        return this.#log.write({
          level: message.level,
          name: "salt.engines",
          message: message.text.slice(0, MAX_LOGGED),
          timeMs: Date.now(),
        });
      case "fire":
        return this.#fire(message, send);
      case "next":
        return void this.#next(message, send).catch((error: unknown) => {
          this.#ended.resolve(`the bus cannot be read: ${messageOf(error)}`);
        });
      case "close":
        return this.#close(message.stream);
      case "ended":
        return this.#ended.resolve(message.reason);
    }
  }

  #fire({ id, tag, data }: FromEngine & { readonly kind: "fire" }, send: (message: ToEngine) => void): void {
    if (++this.#firing > MAX_FIRING) throw new RangeError(`more than ${MAX_FIRING} events at once`);
    this.#bus.fire(tag, unpackEngineMap(data)).catch((error: unknown) => {
      this.#log.error(`The event ${tag} could not be fired: ${messageOf(error)}`);
      return false;
    }).then((isTaken) => {
      this.#firing--;
      send({ kind: "fired", id, isTaken });
    });
  }

  #close(stream: number): void {
    void this.#streams.get(stream)?.then((open) => open.close(), () => {});
    this.#streams.delete(stream);
  }

  async #next(
    { stream, prefixes }: FromEngine & { readonly kind: "next" },
    send: (message: ToEngine) => void,
  ): Promise<void> {
    let opening = this.#streams.get(stream);
    if (opening === undefined) {
      if (this.#streams.size >= MAX_STREAMS) throw new RangeError(`more than ${MAX_STREAMS} streams of events`);
      this.#streams.set(stream, opening = this.#bus.open(prefixes));
    }
    const event = await (await opening).next();
    if (event === undefined) return send({ kind: "closed", stream });
    send({ kind: "event", stream, tag: event.tag, data: packEngineMap(event.data) });
  }
}
