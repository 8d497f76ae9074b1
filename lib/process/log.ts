/**
 * The log: levels as Salt names them, records, and loggers that hand records to sinks.
 *
 * A worker's logger posts its records to the main thread, whose logger writes them. Knows neither formats nor files
 * (`log_format.ts`, `log_sinks.ts`). What is secret is the caller's business; what is hostile is made harmless on
 * its way into a line.
 * Source: docs.saltproject.io, "Salt logging"; the numbers are those of Python's logging.
 * @module
 */

import type { LogLevel } from "./log_levels.ts";

/** The number of each level; a record is written where its number is at least the sink's. */
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

/** One thing to log. Survives structured clone. */
export interface LogRecord {
  /** A number out of {@linkcode LEVEL_NUMBERS}. */
  readonly level: number;
  /** Who logs, dotted: `salt.master`. */
  readonly name: string;
  /** The message, still with whatever characters it has. */
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
}

/** Where records end. */
export interface LogSink {
  /** Least level that it wants. */
  readonly level: number;
  /** Writes one record; never throws, for a full disk must not end a service. */
  write(record: LogRecord): void;
  /** Closes what it opened. Twice is fine. */
  close(): void;
}

/** What the program logs with. */
export interface Logger {
  /** Least level that any sink wants: whoever would log something expensive asks first. */
  readonly level: number;
  /** The service cannot go on, or somebody attacks it. */
  critical(message: string): void;
  /** Something failed. */
  error(message: string): void;
  /** Something is wrong and yet goes on. */
  warning(message: string): void;
  /** Milestones. */
  info(message: string): void;
  /** How long things take. */
  profile(message: string): void;
  /** What the program does. */
  debug(message: string): void;
  /** Everything that it does. */
  trace(message: string): void;
  /** The messages themselves. */
  garbage(message: string): void;
  /** Writes a record that another thread made. */
  write(record: LogRecord): void;
  /** The same log under another name. */
  named(name: string): Logger;
}

/** The name of a level's number, as lines show it: `WARNING`; `Level 17` for a number without one, as Python. */
export function levelName(level: number): string {
  for (const [name, number] of Object.entries(LEVEL_NUMBERS)) if (number === level) return name.toUpperCase();
  return `Level ${level}`;
}

/** A logger that hands records to `sinks`, to each those of its level and above. */
export function createLogger(sinks: readonly LogSink[], name = "salt"): Logger {
  const level = Math.min(LEVEL_NUMBERS.quiet, ...sinks.map((sink) => sink.level));
  return makeLogger(name, level, (record) => {
    for (const sink of sinks) if (record.level >= sink.level) sink.write(record);
  });
}

/**
 * A logger for a worker, which has no sinks: `post` sends the records to the thread that has.
 * @param level The level of that thread's logger: what it would not write is not sent.
 */
export function postingLogger(post: (record: LogRecord) => void, level = 0, name = "salt"): Logger {
  return makeLogger(name, level, post);
}

/** A logger that writes nothing. */
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
