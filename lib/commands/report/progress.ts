/**
 * The progress of a job as one line: a bar, the numbers of minions that have returned and failed, the minions that are
 * not connected, and those that the command still waits for. On a terminal the line is below the returns while the
 * command waits.
 * @module
 */

import type { JobIo } from "#lib/commands/cli/run_command.ts";
import { clearInterval, setInterval } from "#lib/os/timers.ts";
import { StatusLine } from "#lib/output/status_line.ts";
import { hasReturned } from "#lib/protocol/outcome.ts";
import { sanitizeLine } from "#lib/text/terminal.ts";
import { truncateList } from "#lib/text/truncate.ts";
import type { Answer } from "./answers.ts";

/** The state of a job while a command waits for it. */
export class JobProgress {
  readonly #total: number;
  readonly #waiting: Set<string>;
  readonly #absent = new Set<string>();
  /** For minions that report states: the number of finished states, and of all. */
  readonly #states = new Map<string, { done: number; of: number }>();
  #returned = 0;
  #failed = 0;

  constructor(ids: readonly string[]) {
    this.#total = ids.length;
    this.#waiting = new Set(ids);
  }

  /** A minion has answered. */
  answered({ id, retcode, outcome }: Pick<Answer, "id" | "retcode" | "outcome">): void {
    if (!this.#waiting.delete(id)) return;
    if (!hasReturned(outcome)) return;
    this.#returned++;
    this.#absent.delete(id);
    if (retcode !== 0) this.#failed++;
  }

  /** A state is done on a minion whose run has `of` of them. */
  state(id: string, of: number): void {
    const progress = this.#states.get(id) ?? { done: 0, of };
    this.#states.set(id, { done: Math.min(progress.done + 1, of), of });
  }

  /** Minions are known not to be connected. */
  absent(ids: readonly string[]): void {
    for (const id of ids) if (this.#waiting.has(id)) this.#absent.add(id);
  }

  /**
   * The line.
   * @param seconds Since the job was published.
   */
  text(seconds: number): string {
    const done = this.#total === 0 ? WIDTH : Math.round(this.#returned / this.#total * WIDTH);
    const waiting = [...this.#waiting].filter((id) => !this.#absent.has(id)).map(sanitizeLine);
    const parts = [
      `${this.#returned}/${this.#total} returned`,
      ...this.#failed > 0 ? [`${this.#failed} failed`] : [],
      ...this.#absent.size > 0 ? [`${this.#absent.size} not connected`] : [],
      `${Math.floor(seconds)} s`,
      ...this.#states.size > 0 ? [`${this.#sum("done")} of ${this.#sum("of")} states`] : [],
      ...waiting.length > 0 ? [`waiting for ${truncateList(waiting, 3)}`] : [],
    ];
    return `[${"#".repeat(done).padEnd(WIDTH)}] ${parts.join(", ")}`;
  }

  #sum(field: "done" | "of"): number {
    return [...this.#states.values()].reduce((sum, states) => sum + states[field], 0);
  }
}

/** Characters of the bar. */
const WIDTH = 20;

/** How often the line is redrawn, in milliseconds. */
const REDRAW_MS = 250;

/** The line below what a command prints. */
export interface ProgressScreen {
  /** The command's input and output: what is written removes the line first. */
  readonly io: JobIo;
  /** Makes the state of a job. */
  readonly Progress: typeof JobProgress;
  /** Shows `progress` until the result is disposed of, from `afterMs` on. */
  follow(progress: JobProgress, afterMs: number): Disposable;
}

/** The screen of a command whose standard error is a terminal; `undefined` if that cannot redraw a line. */
export function progressScreen(io: JobIo): ProgressScreen | undefined {
  if (io.isDumb) return undefined;
  const line = new StatusLine({ write: (text) => io.writeError(text), columns: io.columns });
  const above = (write: (text: string) => void) => (text: string) => {
    line.clear();
    write(text);
  };
  return {
    Progress: JobProgress,
    io: { ...io, write: above((text) => io.write(text)), writeError: above((text) => io.writeError(text)) },
    follow(progress, afterMs) {
      const startedMs = performance.now();
      const draw = () => {
        const ms = performance.now() - startedMs;
        if (ms >= afterMs) line.show(progress.text(ms / 1000));
      };
      draw();
      const timer = setInterval(draw, REDRAW_MS);
      return {
        [Symbol.dispose]() {
          clearInterval(timer);
          line.clear();
        },
      };
    },
  };
}
