/**
 * Plugins in Python for calls that share nothing, as those of pillars of several minions: each call has a process of
 * its own, which ends with it.
 * @module
 */

import type { PythonAnswer } from "#lib/python_bridge/link/session.ts";
import type { MissingPlugin } from "#lib/python_bridge/link/session.ts";
import type { PythonFamily, PythonRequest } from "#lib/python_bridge/link/messages.ts";
import type { PythonZygote, ZygoteOptions } from "#lib/python_bridge/zygote/zygote.ts";
import type { Descriptions } from "./descriptions.ts";
import { PythonJob, type PythonJobParts, type PythonScope } from "./python_job.ts";

/** Starts Python for calls: for each anew, or once for all of a process. */
export class PythonLease {
  readonly #options: ZygoteOptions;
  readonly #printed: (line: string) => void;
  readonly #keeps: boolean;
  #kept: Promise<PythonZygote> | undefined;

  /**
   * @param printed Called with each line that a plugin prints.
   * @param keeps Whether Python stays until {@linkcode close}, or ends with each call.
   */
  constructor(options: ZygoteOptions, { printed, keeps }: {
    readonly printed: (line: string) => void;
    readonly keeps: boolean;
  }) {
    this.#options = options;
    this.#printed = printed;
    this.#keeps = keeps;
  }

  /** Calls `run` with what gives the path of Python's socket. */
  async use<T>(run: (socket: () => Promise<string>) => Promise<T>): Promise<T> {
    const lent = this.lend();
    try {
      return await run(lent.socket);
    } finally {
      await lent.close();
    }
  }

  /** What gives the path of Python's socket until it is closed. */
  lend(): { socket(): Promise<string>; close(): Promise<void> } {
    if (this.#keeps) {
      return {
        socket: async () => await (await (this.#kept ??= this.#open())).socket(),
        close: () => Promise.resolve(),
      };
    }
    let own: Promise<PythonZygote> | undefined;
    return {
      socket: async () => await (await (own ??= this.#open())).socket(),
      close: async () => await (await own)?.close(),
    };
  }

  async #open(): Promise<PythonZygote> {
    const { PythonZygote } = await import("#lib/python_bridge/zygote/zygote.ts");
    return new PythonZygote(this.#options, this.#printed);
  }

  /** Ends Python. */
  async close(): Promise<void> {
    await (await this.#kept)?.close();
  }
}

/** Calls of plugins, a process each. */
export class SeparateCalls<C extends PythonScope> {
  readonly #parts: Omit<PythonJobParts<C>, "socket">;
  readonly #lease: PythonLease;

  constructor(parts: Omit<PythonJobParts<C>, "socket">, lease: PythonLease) {
    this.#parts = parts;
    this.#lease = lease;
  }

  /** As {@linkcode PythonJob.find}. */
  find(family: PythonFamily, fun: string): Promise<string | null | MissingPlugin> {
    return this.together((job) => job.find(family, fun));
  }

  /** As {@linkcode PythonJob.describe}. */
  describe(family: PythonFamily): Promise<Descriptions> {
    return this.together((job) => job.describe(family));
  }

  /** As {@linkcode PythonJob.request}. */
  request(request: PythonRequest, context: C): Promise<PythonAnswer> {
    return this.together((job) => job.request(request, context));
  }

  /** Asks the process of one call for several things. */
  together<T>(run: (job: PythonJob<C>) => Promise<T>): Promise<T> {
    return this.#lease.use(async (socket) => {
      const job = new PythonJob<C>({ ...this.#parts, socket });
      try {
        return await run(job);
      } finally {
        await job.end();
      }
    });
  }
}
