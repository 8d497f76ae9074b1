/**
 * The interface of a job's host, as the pool sees it: a thread of the minion, or a process of a custom module.
 * @module
 */

import type { ToJob } from "./job_protocol.ts";

/** Runs one job at a time. */
export interface JobHost {
  /** The name in logs: `Job-3`. */
  readonly name: string;
  /** Its process id, if it is its own process. */
  readonly pid?: number;
  /** Sends a message. While it is starting, messages are queued. */
  send(message: ToJob): void;
  /** What it is doing, in one line. */
  describe(): Promise<string>;
  /** The process groups of its job's commands, each verified to belong to that job. */
  commands(): number[];
  /** Whether a command of its job outlives this minion, so that the next one takes the job over. */
  readonly hasKeeperCommands: boolean;
  /**
   * Kills it.
   * @returns Whether it has ended, as far as the system reports.
   */
  kill(): Promise<boolean>;
  /** Ends it when it has no job. */
  stop(): Promise<void>;
}
