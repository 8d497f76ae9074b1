/**
 * What a pool runs jobs in, as the pool sees it: a thread of the minion, or a process of a custom module.
 * @module
 */

import type { ToJob } from "./job_protocol.ts";

/** What runs one job at a time. */
export interface JobHost {
  /** As it appears in logs: `Job-3`. */
  readonly name: string;
  /** The process that it is or is in. */
  readonly pid: number;
  /** Sends it a message; one that is still starting has it when it is ready. */
  tell(message: ToJob): void;
  /** One line: what it is doing. */
  describe(): Promise<string>;
  /** The process groups of the commands that its job is running, each made sure to be one of that job's. */
  commands(): number[];
  /** Ends it at once, whatever it is doing. @returns Whether it has ended, as far as the system tells. */
  kill(): Promise<boolean>;
  /** Ends it, which has no job. */
  stop(): Promise<void>;
}
