/**
 * Where log lines go: the terminal, and a file that may be rotated away at any time.
 * @module
 */

import { openLogFile } from "./log_file.ts";
import type { LogLevel } from "./log_levels.ts";
import { createLogger, LEVEL_NUMBERS, type Logger, type LogSink } from "./log.ts";
import { formatRecord } from "./log_format.ts";

/** How a sink writes its lines. */
export interface SinkOptions {
  /** Least level to write. */
  readonly level: LogLevel;
  /** Python format of a line. */
  readonly format: string;
  /** strftime format of its time. */
  readonly datefmt: string;
}

/** The terminal's own options. */
export interface ConsoleOptions extends SinkOptions {
  /** Whether level and message are coloured. */
  readonly colours: boolean;
  /** Writes text to standard error. */
  write(text: string): void;
}

/** Salt's default line on the terminal, which is the one that gets colours without being asked for them. */
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
 * A sink that appends to the file `path`, made with mode 0640 if it is not there. A file that was moved or removed is
 * made again, as logrotate expects.
 * @throws What {@linkcode openLogFile} throws if the file cannot be opened now; later failures only lose lines.
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
        for (let written = 0; written < line.length;) written += file.writeSync(line.subarray(written));
      } catch {
        // A full disk, a directory taken away: the service goes on, and the next line tries again.
      }
    },
    close() {
      file?.close();
      file = undefined;
      inode = undefined;
    },
  };
}

/** What tells one file from another of the same name. */
function inodeOf(path: string): string | undefined {
  try {
    const { dev, ino } = Deno.statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** The options of a configuration that say how to log. */
export interface LogOpts {
  /** Least level on the terminal, and in the file where that has none of its own. */
  readonly log_level: LogLevel;
  /** Least level in the file. */
  readonly log_level_logfile: LogLevel | null;
  /** Path of the file. */
  readonly log_file: string;
  /** Python format of a line on the terminal. */
  readonly log_fmt_console: string;
  /** strftime format of its time. */
  readonly log_datefmt: string;
  /** Python format of a line in the file. */
  readonly log_fmt_logfile: string;
  /** strftime format of its time. */
  readonly log_datefmt_logfile: string;
}

/** Where {@linkcode openLog} writes. */
export interface LogPlaces {
  /** Writes text to standard error; absent in a daemon, which has no terminal. */
  readonly terminal?: (text: string) => void;
  /** Whether that terminal shows colours. */
  readonly colours?: boolean;
}

/** The log that a configuration asks for, and the way to close it. */
export interface OpenLog {
  /** What to log with. */
  readonly log: Logger;
  /** Closes the file. */
  close(): void;
}

/**
 * Opens the log as `opts` say: the terminal, if there is one, and the log file. A file that cannot be opened is said
 * on the terminal, and the log goes on without it, as Salt's commands do for users who may not write there; services
 * check it beforehand.
 */
export function openLog(opts: LogOpts, places: LogPlaces): OpenLog {
  const sinks: LogSink[] = [];
  if (places.terminal !== undefined && opts.log_level !== "quiet") {
    sinks.push(consoleSink({
      level: opts.log_level,
      format: opts.log_fmt_console,
      datefmt: opts.log_datefmt,
      colours: places.colours ?? false,
      write: places.terminal,
    }));
  }
  const fileLevel = opts.log_level_logfile ?? opts.log_level;
  let problem: string | undefined;
  if (fileLevel !== "quiet") {
    try {
      const { log_fmt_logfile: format, log_datefmt_logfile: datefmt } = opts;
      sinks.push(fileSink(opts.log_file, { level: fileLevel, format, datefmt }));
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
  }
  const log = createLogger(sinks);
  if (problem !== undefined) log.info(`The log file ${opts.log_file} cannot be written: ${problem}`);
  return { log, close: () => sinks.forEach((sink) => sink.close()) };
}
