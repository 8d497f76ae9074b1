/**
 * The log: Salt's levels, records, and loggers that pass records to sinks. A worker's logger sends its records to the
 * main thread, whose logger writes them. Knows neither formats nor files (`log_format.ts`, `log_sinks.ts`). Callers
 * must not log secrets; control characters are made visible when a line is formatted.
 * Source: docs.saltproject.io, "Salt logging"; the numbers are those of Python's logging.
 * @module
 */

import type { LogLevel } from "./log_levels.ts";

/** The number of each level. A sink writes a record whose number is at least the sink's level. */
export const LEVEL_NUMBERS: Readonly<Record<LogLevel, number>> = {
  quiet: 1000,
  critical: 50,
  error: 40,
  warning: 30,
  info: 20,
  profile: 15,
  debug: 10,
  trace: 5,
  garbage: 1,
  all: 0,
};

/** One log record. Can be passed to other threads (structured clone). */
export interface LogRecord {
  /** A number out of {@linkcode LEVEL_NUMBERS}. */
  readonly level: number;
  /** The logger's dotted name: `salt.master`. */
  readonly name: string;
  /** The message; control characters are not escaped yet. */
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  /** Whether it is an error in what a user wrote: {@linkcode Logger.mistake}. */
  readonly isMistake?: true;
}

/** A destination of records. */
export interface LogSink {
  /** The minimum level of its records. */
  readonly level: number;
  /** Writes one record. Must not throw: a full disk must not end a service. */
  write(record: LogRecord): void;
  /** Closes its files. May be called twice. */
  close(): void;
}

/** A message, or a function that makes it, which is called only if a sink wants the message. */
export type LogText = string | (() => string);

/** Writes log messages by level. A message must not hold a secret, nor the arguments or results of a job. */
export interface Logger {
  /** The logger's dotted name: `salt.master`. */
  readonly name: string;
  /** The minimum level under this name. */
  readonly level: number;
  /** The minimum level under any name: what other threads must send. */
  readonly lowest: number;
  /** The service cannot continue, or is attacked. */
  critical(message: LogText): void;
  error(message: LogText): void;
  /**
   * An error in what a user wrote (an SLS file, a pillar), which the result has, too: as {@linkcode error}, but a
   * command that shows the result does not repeat it on the terminal.
   */
  mistake(message: LogText): void;
  /** Something is wrong, but work continues. */
  warning(message: LogText): void;
  /** Important events. */
  info(message: LogText): void;
  /** Durations. */
  profile(message: LogText): void;
  debug(message: LogText): void;
  /** Everything. */
  trace(message: LogText): void;
  /** The contents of messages. */
  garbage(message: LogText): void;
  /** Writes a record of another thread. */
  write(record: LogRecord): void;
  /** The same log with another logger name. */
  named(name: string): Logger;
}

/** The name of a level's number, as in log lines: `WARNING`; `Level 17` for a number without a name, as in Python. */
export function levelName(level: number): string {
  for (const [name, number] of Object.entries(LEVEL_NUMBERS)) if (number === level) return name.toUpperCase();
  return `Level ${level}`;
}

/**
 * A logger that passes records to each of `sinks` with a matching level.
 * @param levels Minimum levels by logger name (`log_granular_levels`): each counts for the names below it, too.
 */
export function createLogger(sinks: readonly LogSink[], levels: ReadonlyMap<string, number> = new Map()): Logger {
  const lowest = Math.min(LEVEL_NUMBERS.quiet, ...sinks.map((sink) => sink.level));
  return makeLogger("salt", {
    lowest,
    levelOf: levels.size === 0 ? () => lowest : (name) => Math.max(lowest, nearestLevel(name, levels)),
    write(record) {
      for (const sink of sinks) if (record.level >= sink.level) sink.write(record);
    },
  });
}

/** The level of the longest name that equals `name` or is above it; 0 without one. */
function nearestLevel(name: string, levels: ReadonlyMap<string, number>): number {
  for (let at = name.length; at > 0; at = name.lastIndexOf(".", at - 1)) {
    const level = levels.get(name.slice(0, at));
    if (level !== undefined) return level;
  }
  return 0;
}

/**
 * A logger for a worker, which has no sinks: `post` sends the records to the main thread.
 * @param level The minimum level of the main thread's logger; records below it are not sent.
 */
export function postingLogger(post: (record: LogRecord) => void, level = 0, name = "salt"): Logger {
  return makeLogger(name, { lowest: level, levelOf: () => level, write: post });
}

export const SILENT_LOGGER: Logger = createLogger([]);

/** The sinks of records, and their levels. */
interface LogGate {
  readonly lowest: number;
  levelOf(name: string): number;
  write(record: LogRecord): void;
}

function makeLogger(name: string, gate: LogGate): Logger {
  const level = gate.levelOf(name);
  const at = (number: number, more: Pick<LogRecord, "isMistake"> = {}) => (message: LogText) => {
    if (number < level) return;
    const text = typeof message === "string" ? message : message();
    gate.write({ level: number, name, message: text, timeMs: Date.now(), ...more });
  };
  return {
    name,
    level,
    lowest: gate.lowest,
    critical: at(LEVEL_NUMBERS.critical),
    error: at(LEVEL_NUMBERS.error),
    mistake: at(LEVEL_NUMBERS.error, { isMistake: true }),
    warning: at(LEVEL_NUMBERS.warning),
    info: at(LEVEL_NUMBERS.info),
    profile: at(LEVEL_NUMBERS.profile),
    debug: at(LEVEL_NUMBERS.debug),
    trace: at(LEVEL_NUMBERS.trace),
    garbage: at(LEVEL_NUMBERS.garbage),
    write: (record) => {
      if (record.level >= gate.levelOf(record.name)) gate.write(record);
    },
    named: (other) => makeLogger(other, gate),
  };
}

/** A logger for a process that tells warnings, and what is worse, in another way. */
export function warningLogger(warn: (text: string) => void): Logger {
  return createLogger([{ level: LEVEL_NUMBERS.warning, write: ({ message }) => warn(message), close: () => {} }]);
}
