/**
 * Starts the threads and processes that jobs run in, with the permissions of their functions, and knows which each has.
 * A thread loads only built-in modules. The permissions of a custom module are read from the text of its file
 * (custom_modules.ts).
 * @module
 */

import { CustomModules } from "#lib/minion/catalogue/custom_modules.ts";
import type { JobHost } from "./job_host.ts";
import { type FromJob, type FromModule, type HostData, type ModuleProcessInit, unpackValue } from "./job_protocol.ts";
import { JobThread } from "./job_thread.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { CUSTOM_FAMILIES, possibleDirectories } from "#lib/minion/catalogue/catalogue.ts";
import { unpackModuleOutcome } from "./module_messages.ts";
import { ModuleProcess } from "./module_process.ts";
import { pythonPlugins } from "#lib/minion/catalogue/python_plugins.ts";
import { NO_PYTHON_PLUGINS, type PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { type Permissions, workerPermissions } from "#lib/plugins/permissions.ts";
import { map, type Value } from "#lib/values/value.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";

/** Maximum time for describing all custom modules, in milliseconds. */
const DESCRIBE_MS = 15_000;

/** The data that all hosts of a pool are started with. */
export interface JobHostsOptions {
  /** The minion's options, packed. */
  readonly opts: Uint8Array;
  /** Grains and pillar at the start. */
  readonly hostData: HostData;
  readonly log: Logger;
  /** Whether the pool runs only custom modules; for `salt-call`. */
  readonly customOnly?: boolean;
  /** The file of its threads. Default: job_worker.ts. */
  readonly threadUrl?: URL;
}

/** Callbacks of the hosts. */
export interface HostListener {
  onDeath(host: JobHost, text: string): void;
  onMessage(host: JobHost, message: FromJob | FromModule): void;
}

/** Starts threads and processes of jobs. */
export class JobHosts {
  /** Grains and pillar for those that are started from now on. */
  hostData: HostData;
  readonly #options: JobHostsOptions;
  readonly #listener: HostListener;
  readonly #opts: MinionOpts;
  readonly #permissions = new WeakMap<JobHost, Permissions>();
  #custom: CustomModules;
  #python: PythonPlugins;
  #described: Promise<Value> | undefined;
  #started = 0;

  constructor(options: JobHostsOptions, listener: HostListener) {
    this.#options = options;
    this.#listener = listener;
    this.#opts = unpackOpts("minion", options.opts);
    this.hostData = options.hostData;
    this.#custom = this.#found();
    this.#python = this.#foundPython();
  }

  /** The custom modules, as they were found last. */
  get custom(): CustomModules {
    return this.#custom;
  }

  /** The plugins in Python, as they were found last. */
  get python(): PythonPlugins {
    return this.#python;
  }

  /** Reads the list of custom modules again. */
  findCustom(): void {
    this.#custom = this.#found();
    this.#python = this.#foundPython();
    this.#described = undefined;
  }

  /** Of `salt-call` the calling process has them. */
  #foundPython(): PythonPlugins {
    return this.#options.customOnly ? NO_PYTHON_PLUGINS : pythonPlugins(this.#opts, this.#options.log.warning);
  }

  #found(): CustomModules {
    const packed = this.hostData.grains;
    return new CustomModules(this.#opts, () => {
      return mapOrEmpty(unpackValue(packed));
    });
  }

  /** The permissions that a host was started with. */
  permissionsOf(host: JobHost): Permissions {
    return this.#permissions.get(host) ?? "none";
  }

  /**
   * Starts a thread for built-in modules.
   * @throws {TypeError} If the permissions are invalid.
   */
  startThread(permissions: Permissions): JobThread {
    const thread: JobThread = new JobThread({
      name: `Job-${this.#started++}`,
      url: this.#options.threadUrl,
      init: {
        opts: this.#options.opts,
        hostData: this.hostData,
        permissions,
        customModules: this.#custom.names,
        refusedModules: Object.fromEntries(this.#custom.refusals),
        python: this.#python,
      },
      permissions: this.#denoPermissions(permissions),
      log: this.#options.log,
      onDeath: (reason) => this.#listener.onDeath(thread, `The job's worker died: ${reason}`),
      onMessage: (message) => this.#listener.onMessage(thread, message),
    });
    this.#permissions.set(thread, permissions);
    return thread;
  }

  /**
   * Starts a process for custom modules.
   * @param modules Their names.
   * @param silent Whether its output must not be logged.
   * @throws {TypeError} If the permissions are invalid.
   */
  startProcess(
    modules: readonly string[],
    permissions: Permissions,
    { silent }: { readonly silent: boolean },
  ): ModuleProcess {
    const process: ModuleProcess = new ModuleProcess({
      name: `Job-${this.#started++}`,
      init: this.#processInit(modules, { logFailures: !this.#options.customOnly }),
      permissions: this.#denoPermissions(permissions),
      memory: this.#opts.custom_module_memory,
      log: this.#options.log,
      silent,
      onEnd: (text) => this.#listener.onDeath(process, text),
      onMessage: (message) => this.#listener.onMessage(process, message),
    });
    this.#permissions.set(process, permissions);
    return process;
  }

  /**
   * Describes the functions of the custom modules (`describeFunctions`). They are loaded in one process without
   * permissions that does nothing else.
   */
  describeCustom(): Promise<Value> {
    return this.#described ??= this.#describeCustom();
  }

  async #describeCustom(): Promise<Value> {
    const answer = Promise.withResolvers<Value>();
    const none = (why: string) =>
      answer.resolve(map({ functions: [], problems: new Map(this.#custom.names.map((name) => [name, why])) }));
    const process = new ModuleProcess({
      name: "Modules",
      init: this.#processInit([], { logFailures: true }),
      permissions: this.#denoPermissions("none"),
      memory: this.#opts.custom_module_memory,
      log: this.#options.log,
      onEnd: none,
      onMessage: (message) => message.kind === "done" && answer.resolve(unpackModuleOutcome(message.outcome)),
    });
    const timer = setTimeout(() => none(`the custom modules were not loaded in ${DESCRIBE_MS} ms`), DESCRIBE_MS);
    process.send({ kind: "describe" });
    try {
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      await process.kill();
    }
  }

  #processInit(modules: readonly string[], { logFailures }: { readonly logFailures: boolean }): ModuleProcessInit {
    return {
      opts: this.#options.opts,
      hostData: this.hostData,
      modules,
      renamed: this.#custom.renamed,
      logLevel: this.#options.log.lowest,
      logFailures,
    };
  }

  /**
   * The Deno permissions for `permissions`.
   * @throws {TypeError} If they are invalid.
   */
  #denoPermissions(permissions: Permissions): Deno.PermissionOptions {
    const { extension_modules: extensionModules, module_dirs: moduleDirs } = this.#opts;
    const modules = CUSTOM_FAMILIES.flatMap((family) => possibleDirectories({ extensionModules, moduleDirs }, family));
    return workerPermissions(permissions, { opts: this.#opts, modules });
  }
}
