/**
 * Destinations of log lines: the terminal, and a file that may be rotated at any time.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { openLogFile } from "./log_file.ts";
import type { HeldMistakes } from "./held_mistakes.ts";
import { LEVEL_ALIASES, LOG_LEVELS, type LogLevel } from "./log_levels.ts";
import { createLogger, LEVEL_NUMBERS, type Logger, type LogSink } from "./log.ts";
import { str, type ValueMap } from "#lib/values/value.ts";
import { formatRecord } from "./log_format.ts";
import { writeAll } from "#lib/os/write_all.ts";

/** Options of every sink. */
export interface SinkOptions {
  /** Minimum level. */
  readonly level: LogLevel;
  /** Python format of a line. */
  readonly format: string;
  /** strftime format of the time. */
  readonly datefmt: string;
}

/** Options of the terminal's sink. */
export interface ConsoleOptions extends SinkOptions {
  /** Whether level and message are coloured. */
  readonly colours: boolean;
  /** Writes to standard error. */
  write(text: string): void;
}

/** Salt's default format on the terminal; only this one is coloured without `%(color…)` fields. */
const PLAIN_FORMAT = "[%(levelname)-8s] %(message)s";
const COLOURED_FORMAT = "%(colorlevel)s %(colormsg)s";

/** A sink that writes to the terminal. */
export function consoleSink(options: ConsoleOptions): LogSink {
  const format = options.colours && options.format === PLAIN_FORMAT ? COLOURED_FORMAT : options.format;
  return {
    level: LEVEL_NUMBERS[options.level],
    write: (record) => options.write(`${formatRecord(record, { ...options, format })}\n`),
    close: () => {},
  };
}

/**
 * A sink that appends to the file `path`, which is created with mode 0640. If the file is moved or removed, it is
 * created again, as logrotate expects.
 * @throws What {@linkcode openLogFile} throws if the file cannot be opened now. Later failures only lose lines.
 */
export function fileSink(path: string, options: SinkOptions): LogSink {
  const encoder = new TextEncoder();
  let file: Deno.FsFile | undefined = openLogFile(path);
  let inode = inodeOf(path);
  return {
    level: LEVEL_NUMBERS[options.level],
    write(record) {
      try {
        const now = inodeOf(path);
        if (file === undefined || now === undefined || now !== inode) {
          file?.close();
          file = undefined;
          file = openLogFile(path);
          inode = inodeOf(path);
        }
        const line = encoder.encode(`${formatRecord(record, { ...options, colours: false })}\n`);
        writeAll(file, line);
      } catch {
        // With a full disk or a missing directory the service continues; the next line tries again.
      }
    },
    close() {
      file?.close();
      file = undefined;
      inode = undefined;
    },
  };
}

/** Identifies a file, to detect another file with the same name. */
function inodeOf(path: string): string | undefined {
  try {
    const { dev, ino } = Deno.statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** The configuration's options for logging. */
export interface LogOpts {
  /** Minimum level on the terminal; also in the file, if `log_level_logfile` is null. */
  readonly log_level: LogLevel;
  /** Minimum level in the file. */
  readonly log_level_logfile: LogLevel | null;
  readonly log_file: string;
  /** Python format of a line on the terminal. */
  readonly log_fmt_console: string;
  /** strftime format of the time on the terminal. */
  readonly log_datefmt: string;
  /** Python format of a line in the file. */
  readonly log_fmt_logfile: string;
  /** strftime format of the time in the file. */
  readonly log_datefmt_logfile: string;
  /** Minimum levels by logger name. */
  readonly log_granular_levels: ValueMap;
}

/** Where {@linkcode openLog} writes besides the file. */
export interface LogPlaces {
  /** Writes to standard error; absent in a daemon, which has no terminal. */
  readonly terminal?: (text: string) => void;
  /** Whether the terminal supports colours. */
  readonly colours?: boolean;
  /** Keeps mistakes that the result may show from the terminal. */
  readonly mistakes?: HeldMistakes;
}

export interface OpenLog {
  readonly log: Logger;
  close(): void;
}

/**
 * Opens the log by `opts`: the terminal, if there is one, and the log file. If the file cannot be opened, a message on
 * the terminal reports this and the log continues without it, as Salt's commands do for users without the right to
 * write it. Services check the file before.
 */
export function openLog(opts: LogOpts, places: LogPlaces): OpenLog {
  const sinks: LogSink[] = [];
  if (places.terminal !== undefined && opts.log_level !== "quiet") {
    const sink = consoleSink({
      level: opts.log_level,
      format: opts.log_fmt_console,
      datefmt: opts.log_datefmt,
      colours: places.colours ?? false,
      write: places.terminal,
    });
    sinks.push(places.mistakes?.before(sink) ?? sink);
  }
  const fileLevel = opts.log_level_logfile ?? opts.log_level;
  let problem: string | undefined;
  if (fileLevel !== "quiet") {
    try {
      const { log_fmt_logfile: format, log_datefmt_logfile: datefmt } = opts;
      sinks.push(fileSink(opts.log_file, { level: fileLevel, format, datefmt }));
    } catch (error) {
      problem = messageOf(error);
    }
  }
  const log = createLogger(sinks, granularLevels(opts.log_granular_levels));
  if (problem !== undefined) log.info(`The log file ${opts.log_file} cannot be written: ${problem}`);
  return { log, close: () => sinks.forEach((sink) => sink.close()) };
}

/** The numbers of the levels; a word that is not a level is that of errors, as in Salt. */
function granularLevels(levels: ValueMap): Map<string, number> {
  return new Map([...levels].map(([name, level]) => {
    const word = str(level).toLowerCase();
    const levelName = LOG_LEVELS.find((one) => one === (LEVEL_ALIASES[word] ?? word));
    return [str(name), LEVEL_NUMBERS[levelName ?? "error"]];
  }));
}
