/**
 * Runs the commands of a job in the keeper's process (command_keeper.ts), so that they continue if the minion ends; and
 * takes over those that continued when an earlier minion ended.
 * @module
 */

import { type ChildCare, type ChildOutcome, type ChildRunner, runChild } from "#lib/programs/child_process.ts";
import { CommandLostError } from "#lib/errors.ts";
import { killGroup } from "#lib/procfs/process_tree.ts";
import { FrameReader } from "#lib/protocol/frames.ts";
import {
  ABORT,
  type KeeperAnswer,
  type KeeperRequest,
  MAX_KEEPER_MESSAGE,
  packRequest,
  parseAnswer,
} from "./keeper_messages.ts";
import { type DetachedCommand, detachedOutcome, runs } from "#lib/programs/detached_commands.ts";

/** The parts of a job that its commands use. */
export interface KeeperJob {
  readonly jid: string;
  /** Whether nothing of it may be written to the disk (`no_log`). */
  readonly hidden: boolean;
  /** The minion's cache directory. */
  readonly cachedir: string;
  /** Commands of this job that continued without their minion, in the order of their start. */
  readonly detached: readonly DetachedCommand[];
  /** Connects to the keeper; `undefined` if there is none, so that commands end with this process. */
  connect(): Promise<Deno.UnixConn | undefined>;
  /** Called before a command is sent to the keeper (1), and when its outcome has been received (-1). */
  count(change: 1 | -1): void;
}

/** Runs each command of a job in the keeper; the first ones are those that continued. */
export function keeperRunner(job: KeeperJob): ChildRunner {
  let number = 0;
  return async (spec, care) => {
    care.signal.throwIfAborted();
    const detached = job.detached.at(number++);
    if (detached !== undefined) return await whileCounted(job, () => adopt(job.cachedir, detached, care));
    const connection = await job.connect();
    if (connection === undefined) return await runChild(spec, care);
    return await whileCounted(job, () => {
      const { jid, hidden } = job;
      const { timeoutMs, outputMax } = care;
      const request = { jid, number, hidden, watched: care.output !== undefined, spec, timeoutMs, outputMax };
      return runInKeeper(connection, request, care);
    });
  };
}

async function whileCounted<T>({ count }: KeeperJob, run: () => Promise<T>): Promise<T> {
  count(1);
  try {
    return await run();
  } finally {
    count(-1);
  }
}

async function runInKeeper(
  connection: Deno.UnixConn,
  request: KeeperRequest,
  care: ChildCare,
): Promise<ChildOutcome> {
  const writer = connection.writable.getWriter();
  const abort = () => void writer.write(ABORT).catch(() => {}); // a keeper that has gone has no command either
  let pid: number | undefined;
  try {
    await writer.write(packRequest(request));
    care.signal.addEventListener("abort", abort);
    if (care.signal.aborted) abort();
    for await (const answer of answers(connection)) {
      switch (answer.kind) {
        case "started":
          pid = answer.pid;
          care.child(pid, "started");
          break;
        case "output":
          care.output?.(answer.stream, answer.bytes);
          break;
        case "ended":
          care.signal.throwIfAborted();
          return answer.outcome;
        case "failed":
          care.signal.throwIfAborted();
          throw new Error(answer.reason);
      }
    }
    throw new CommandLostError("The process that ran the command has ended");
  } finally {
    care.signal.removeEventListener("abort", abort);
    if (pid !== undefined) care.child(pid, "ended");
    closeQuietly(connection);
  }
}

async function* answers(connection: Deno.UnixConn): AsyncGenerator<KeeperAnswer> {
  const frames = new FrameReader(MAX_KEEPER_MESSAGE);
  for await (const piece of connection.readable) {
    for (const { content } of frames.push(piece)) yield parseAnswer(content);
  }
}

function closeQuietly(connection: Deno.UnixConn): void {
  try {
    connection.close();
  } catch {
    // Reading to the end has closed it.
  }
}

/** Waits for a command that continued without its minion. */
async function adopt(cachedir: string, detached: DetachedCommand, care: ChildCare): Promise<ChildOutcome> {
  const { pid } = detached.process;
  // A process with another start time has the same pid: the command has ended.
  const there = detached.outcome === undefined && runs(detached.process);
  const kill = () => killGroup(pid);
  if (there) {
    care.child(pid, "started");
    care.signal.addEventListener("abort", kill);
    if (care.signal.aborted) kill();
  }
  try {
    const outcome = await detachedOutcome(cachedir, detached, care.signal);
    if (outcome === undefined) {
      throw new CommandLostError("It is not known how the command ended: its keeper has ended");
    }
    return outcome;
  } finally {
    care.signal.removeEventListener("abort", kill);
    if (there) care.child(pid, "ended");
  }
}
