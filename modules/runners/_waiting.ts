/**
 * What waits on the master: events for the reactor and for returners, records for the database of jobs, items of
 * queues.
 * @module
 */

import type { RunnerContext } from "#lib/client/runner_context.ts";
import { eventLogDirectory, reactorDirectory, returnersDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { parseOffset } from "#lib/event_log/offset.ts";
import { EventLogReader } from "#lib/event_log/reader.ts";
import { isAlive } from "#lib/jobs/proc_notes.ts";
import { readStatus } from "#lib/reactor/status.ts";
import { type EventOption, readPosition } from "#lib/returners/event_position.ts";
import { EVENT_OPTIONS, masterReturners } from "#lib/returners/master_returners.ts";
import { outboxDirectory, outboxRecords } from "#lib/stores/record_outbox.ts";
import { jobStoreKind } from "#lib/stores/store_options.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, toNumber, type ValueMap } from "#lib/values/value.ts";
import { listItems, listQueues } from "./_sqlite_queue.ts";

/** How far a returner of the master is. */
export interface ReturnerLag {
  /** Events of the log that it still has to read. */
  readonly waiting: number;
  /** When the oldest of them came; `null`: none waits. */
  readonly oldest: string | null;
  readonly stored: number;
  readonly dropped: number;
  /** The last error; empty: none. */
  readonly error: string;
}

/** How far a returner that an option names is. */
export function returnerLag(option: EventOption, name: string, { cachedir }: MasterOpts): ReturnerLag {
  const position = readPosition(returnersDirectory(cachedir), option, name);
  using reader = new EventLogReader(eventLogDirectory(cachedir));
  const known = position !== undefined && position.log === reader.id;
  reader.seekEnd();
  const end = reader.next;
  const next = known ? position.number + 1 : end;
  return {
    waiting: Math.max(0, end - next),
    oldest: next < end ? timeOf(reader, next) : null,
    stored: position?.stored ?? 0,
    dropped: position?.dropped ?? 0,
    error: position?.error ?? "",
  };
}

/** When the event of a number came, or the oldest after it that is kept. */
function timeOf(reader: EventLogReader, number: number): string | null {
  reader.seek(number);
  const [first] = reader.read().events;
  return first === undefined ? null : new Date(first.ms).toISOString();
}

/** A report of the reactor that runs, with the events that wait for it (`behind`); `undefined`: it does not run. */
export function reactorReport({ cachedir }: Pick<MasterOpts, "cachedir">): ValueMap | undefined {
  const status = readStatus(reactorDirectory(cachedir));
  if (status === undefined || !isAlive(status.get("pid"))) return undefined;
  using reader = new EventLogReader(eventLogDirectory(cachedir));
  reader.seekEnd();
  const at = parseOffset(str(status.get("offset") ?? ""))?.number ?? 0;
  return new Map([...status, ["behind", Math.max(0, reader.next - 1 - at)]]);
}

interface WaitingRow {
  readonly queue: string;
  readonly kind: "reactor" | "returner" | "outbox" | "queue";
  readonly waiting: number;
  readonly oldest?: string | null;
  readonly dropped?: number;
  readonly error?: string;
}

/** A row for each queue of this master. */
export function waitingRows({ opts }: Pick<RunnerContext, "opts">): ValueMap[] {
  const rows: WaitingRow[] = [];
  const reactor = reactorReport(opts);
  if (reactor !== undefined) rows.push(reactorRow(reactor, opts));
  for (const option of EVENT_OPTIONS) {
    for (const name of masterReturners(option, opts).names) {
      const { waiting, oldest, dropped, error } = returnerLag(option, name, opts);
      rows.push({ queue: `${option} ${name}`, kind: "returner", waiting, oldest, dropped, error });
    }
  }
  if (jobStoreKind(opts) !== "local_cache") {
    const waiting = outboxRecords(outboxDirectory(opts));
    rows.push({ queue: `outbox of ${jobStoreKind(opts)}`, kind: "outbox", waiting });
  }
  for (const name of listQueues(opts.sqlite_queue_dir)) {
    rows.push({ queue: name, kind: "queue", waiting: listItems(opts.sqlite_queue_dir, name).length });
  }
  return rows.map(({ queue, kind, waiting, oldest = null, dropped = 0, error = "" }) =>
    map({ queue, kind, waiting, oldest: oldest ?? "", dropped, error })
  );
}

function reactorRow(report: ValueMap, { cachedir }: MasterOpts): WaitingRow {
  const number = (name: string) => toNumber(report.get(name)) ?? 0;
  const behind = number("behind");
  const dropped = [...mapOrEmpty(report.get("dropped")).values()].reduce<number>(
    (sum, one) => sum + (toNumber(one) ?? 0),
    0,
  );
  using reader = new EventLogReader(eventLogDirectory(cachedir));
  const at = parseOffset(str(report.get("offset") ?? ""))?.number;
  const oldest = behind > 0 && at !== undefined ? timeOf(reader, at + 1) : null;
  return { queue: "reactor", kind: "reactor", waiting: behind + number("in_work"), oldest, dropped };
}
