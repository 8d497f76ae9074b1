/**
 * CPU profiles of the current thread, in the format of browsers' developer tools and editors (`.cpuprofile`).
 * Source: Chrome DevTools Protocol, "Profiler"; V8's inspector through `node:inspector`.
 * @module
 */

import type { Session } from "node:inspector";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";

/** A profile that is being taken. */
export interface RunningProfile {
  /** Resolves when V8 has begun to sample. */
  readonly started: Promise<void>;
  /**
   * Ends the profile and writes `<name>-<time>.cpuprofile` into `directory`, mode 0600.
   * @returns The file's path.
   */
  stop(directory: string, name: string): Promise<string>;
}

/** Starts to profile this thread. */
export function startProfile(): RunningProfile {
  const session = new (nodeBuiltin("node:inspector").Session)();
  session.connect();
  const started = (async () => {
    await post(session, "Profiler.enable");
    await post(session, "Profiler.start");
  })();
  started.catch(() => session.disconnect());
  return {
    started,
    async stop(directory, name) {
      await started;
      const { profile } = await post(session, "Profiler.stop");
      session.disconnect();
      const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
      const path = `${directory}/${name}-${time}.cpuprofile`;
      Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileAtomic(path, JSON.stringify(profile));
      return path;
    },
  };
}

/** Sends one command of the protocol. */
function post(session: Session, method: string): Promise<{ profile?: unknown }> {
  return new Promise((resolve, reject) => {
    session.post(method, (error: Error | null, answer?: object) => {
      if (error) reject(new Error(`${method}: ${error.message}`));
      else resolve(answer ?? {});
    });
  });
}
