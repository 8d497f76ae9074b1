/**
 * Pauses and soft kills of runs, requested by an operator: `<cachedir>/state_pause/<jid>`, which `state.pause` and
 * similar functions write. Source: Salt 3008.3, `State.check_pause` of `salt/state.py`, `state.pause`,
 * `state.soft_kill` of `salt/modules/state.py`.
 * @module
 */

import { CommandError, MsgpackError } from "#lib/errors.ts";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { type Chunk, field } from "#lib/states/compiler/chunks.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** Stands for every state. */
export const ALL_STATES = "__all__";

/** Interval at which a paused run checks the file, in milliseconds. */
const LOOK_MS = 200;
/** Minimum time between two checks of a run, in milliseconds: a check takes longer than many states. */
const FRESH_MS = 20;

function pauseDirectory(cachedir: string): string {
  return `${cachedir}/state_pause`;
}

/** The requests for a run, by the ID of the state; `undefined`: none. */
function readPauses(cachedir: string, jid: string): ValueMap | undefined {
  const bytes = readFileIfExists(`${pauseDirectory(cachedir)}/${jid}`);
  if (bytes === undefined) return undefined;
  try {
    const data = decode(bytes, "disk");
    return isMap(data) ? data : undefined;
  } catch (error) {
    if (error instanceof MsgpackError) return undefined;
    throw error;
  }
}

function writePauses(cachedir: string, jid: string, pauses: ValueMap): void {
  Deno.mkdirSync(pauseDirectory(cachedir), { recursive: true });
  writeFileAtomic(`${pauseDirectory(cachedir)}/${jid}`, encode(pauses, "disk"), { mode: 0o600 });
}

/** Removes the requests for a run that has ended. */
export function dropPauses(cachedir: string, jid: string): void {
  removeIfExists(`${pauseDirectory(cachedir)}/${jid}`);
}

/** The pauses of one run. */
export class RunPauses {
  readonly #cachedir: string;
  readonly #jid: string;
  readonly #signal: AbortSignal;
  #lookedAt = -Infinity;
  #saidNothing = true;

  constructor({ cachedir, jid, signal }: { cachedir: string; jid: string; signal: AbortSignal }) {
    this.#cachedir = cachedir;
    this.#jid = jid;
    this.#signal = signal;
  }

  /**
   * Waits before a state while it is paused.
   * @returns "kill" if the run ends here.
   */
  async before(chunk: Chunk): Promise<"run" | "kill"> {
    const begun = performance.now();
    if (this.#saidNothing && begun - this.#lookedAt < FRESH_MS) return "run";
    const id = field(chunk, "__id__");
    for (;;) {
      this.#lookedAt = performance.now();
      const pauses = readPauses(this.#cachedir, this.#jid);
      this.#saidNothing = pauses === undefined;
      const pause = pauses?.get(id) ?? pauses?.get(ALL_STATES);
      if (!isMap(pause)) return "run";
      const seconds = toNumber(pause.get("duration"));
      if (seconds !== undefined && performance.now() - begun > seconds * 1000) return "run";
      if (pause.has("kill")) return "kill";
      await sleep(LOOK_MS, this.#signal);
    }
  }
}

/** The request of an operator for one state or all. */
export interface PauseOptions {
  readonly id: string;
  /** Seconds after which the run continues. */
  readonly duration?: number;
  /** Whether the run ends there. */
  readonly kill?: boolean;
}

/** Requests that a run pauses or ends before a state. */
export function pauseRun(cachedir: string, jid: string, { id, duration, kill }: PauseOptions): null {
  const path = checkedJid(jid);
  const pauses = readPauses(cachedir, path) ?? new Map();
  const pause = pauses.get(id);
  const wish = mapOrEmpty(pause);
  if (duration !== undefined) wish.set("duration", duration);
  if (kill) wish.set("kill", true);
  writePauses(cachedir, path, pauses.set(id, wish));
  return null;
}

/** Resumes a run that is paused before a state; with {@linkcode ALL_STATES}, before any state. */
export function resumeRun(cachedir: string, jid: string, id: string): null {
  const path = checkedJid(jid);
  const pauses = readPauses(cachedir, path) ?? new Map();
  pauses.delete(id);
  writePauses(cachedir, path, id === ALL_STATES ? new Map() : pauses);
  return null;
}

/** The requests for running jobs, by job; those for other jobs are removed. */
export async function knownPauses(jids: Value, { opts, jobs }: Pick<JobContext, "opts" | "jobs">): Promise<ValueMap> {
  const { cachedir } = opts;
  const selected = jids === null ? pausedJobs(cachedir) : Array.isArray(jids) ? jids.map(str) : [str(jids)];
  const running = new Set((await jobs.running()).filter(({ fun }) => fun.startsWith("state.")).map(({ jid }) => jid));
  const pauses: ValueMap = new Map();
  for (const jid of selected.map(checkedJid)) {
    if (running.has(jid)) pauses.set(jid, readPauses(cachedir, jid) ?? new Map());
    else dropPauses(cachedir, jid);
  }
  return pauses;
}

function pausedJobs(cachedir: string): string[] {
  try {
    return [...Deno.readDirSync(pauseDirectory(cachedir))].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** A job id that is a valid file name. */
function checkedJid(jid: string): string {
  if (isJid(jid)) return jid;
  throw new CommandError(`'${jid}' is no job id`);
}
