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
}

/** A destination of records. */
export interface LogSink {
  /** Least level that it wants. */
  readonly level: number;
  /** Writes one record. Must not throw: a full disk must not end a service. */
  write(record: LogRecord): void;
  /** Closes its files. May be called twice. */
  close(): void;
}

/** Writes log messages by level. */
export interface Logger {
  /** The minimum level of all sinks: check it before you compute an expensive message. */
  readonly level: number;
  /** The service cannot continue, or is attacked. */
  critical(message: string): void;
  /** Something failed. */
  error(message: string): void;
  /** Something is wrong, but work continues. */
  warning(message: string): void;
  /** Important events. */
  info(message: string): void;
  /** Durations. */
  profile(message: string): void;
  /** Single steps. */
  debug(message: string): void;
  /** Everything. */
  trace(message: string): void;
  /** The contents of messages. */
  garbage(message: string): void;
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

/** A logger that passes records to each of `sinks` with a matching level. */
export function createLogger(sinks: readonly LogSink[], name = "salt"): Logger {
  const level = Math.min(LEVEL_NUMBERS.quiet, ...sinks.map((sink) => sink.level));
  return makeLogger(name, level, (record) => {
    for (const sink of sinks) if (record.level >= sink.level) sink.write(record);
  });
}

/**
 * A logger for a worker, which has no sinks: `post` sends the records to the main thread.
 * @param level The level of the main thread's logger; records below it are not sent.
 */
export function postingLogger(post: (record: LogRecord) => void, level = 0, name = "salt"): Logger {
  return makeLogger(name, level, post);
}

export const SILENT_LOGGER: Logger = createLogger([]);

function makeLogger(name: string, level: number, write: (record: LogRecord) => void): Logger {
  const at = (number: number) => (message: string) => {
    if (number >= level) write({ level: number, name, message, timeMs: Date.now() });
  };
  return {
    level,
    critical: at(LEVEL_NUMBERS.critical),
    error: at(LEVEL_NUMBERS.error),
    warning: at(LEVEL_NUMBERS.warning),
    info: at(LEVEL_NUMBERS.info),
    profile: at(LEVEL_NUMBERS.profile),
    debug: at(LEVEL_NUMBERS.debug),
    trace: at(LEVEL_NUMBERS.trace),
    garbage: at(LEVEL_NUMBERS.garbage),
    write: (record) => {
      if (record.level >= level) write(record);
    },
    named: (other) => makeLogger(other, level, write),
  };
}
