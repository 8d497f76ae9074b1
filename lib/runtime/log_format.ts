/**
 * Formats a record for a log, with Python's `%(name)s` formats and strftime as in Salt's options. The first line of a
 * message is a line of the log; its further lines are indented, and control characters are made visible, so that
 * untrusted text cannot forge a line. Source: docs.python.org, "logging" (LogRecord
 * attributes) and "time.strftime"; Salt's colours of levels.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { levelName, type LogRecord } from "./log.ts";
import { strftime } from "#lib/text/strftime.ts";
import { sanitizeLine } from "#lib/text/terminal.ts";

export interface LineFormat {
  /** Python format, such as `[%(levelname)-8s] %(message)s`. */
  readonly format: string;
  /** strftime format of `%(asctime)s`. */
  readonly datefmt: string;
  /** Whether `%(colorlevel)s` and similar fields are coloured. */
  readonly colours: boolean;
}

const RESET = "\x1b[0;0m";

/** The colours of a level's name and of its message. */
const LEVEL_COLOURS: Readonly<Record<string, readonly [level: string, message: string]>> = {
  CRITICAL: ["\x1b[0;1;31m", "\x1b[0;1;31m"],
  ERROR: ["\x1b[0;1;31m", "\x1b[0;31m"],
  WARNING: ["\x1b[0;1;33m", "\x1b[0;33m"],
  INFO: ["\x1b[0;1;32m", "\x1b[0;32m"],
  PROFILE: ["\x1b[0;1;36m", "\x1b[0;1;36m"],
  DEBUG: ["\x1b[0;1;36m", "\x1b[0;36m"],
  TRACE: ["\x1b[0;1;35m", "\x1b[0;35m"],
  GARBAGE: ["\x1b[0;1;34m", "\x1b[0;34m"],
};
const NAME_COLOUR = "\x1b[0;1;32m";
const PROCESS_COLOUR = "\x1b[0;1;34m";

const FIELD = /%(?:%|\((\w+)\)([-+ 0#]*)(\d*)(?:\.\d+)?[a-zA-Z])/g;

/** Formats `record`, without a newline at its end. Fields that do not exist here (`lineno`, …) are empty. */
export function formatRecord(record: LogRecord, how: LineFormat): string {
  return how.format.replace(FIELD, (whole, field: string | undefined, flags: string, width: string) => {
    if (field === undefined) return "%";
    const text = fieldText(field, record, how);
    if (text === undefined) return whole;
    const pad = Number(width || 0);
    if (flags.includes("-")) return text.padEnd(pad);
    return text.padStart(pad, flags.includes("0") ? "0" : " ");
  });
}

/** What precedes each further line of a message: no line of a log begins with it, so no text can forge one. */
const INDENT = "    ";

function sanitizeLines(message: string): string {
  return rstripChars(message, "\n").split("\n").map(sanitizeLine).join(`\n${INDENT}`);
}

function fieldText(field: string, record: LogRecord, how: LineFormat): string | undefined {
  const name = sanitizeLine(record.name), level = levelName(record.level);
  const message = sanitizeLines(record.message);
  const [levelColour, messageColour] = LEVEL_COLOURS[level] ?? [RESET, RESET];
  const colour = (code: string, text: string) => how.colours ? `${code}${text}${RESET}` : text;
  switch (field) {
    case "message":
      return message;
    case "colormsg":
      return colour(messageColour, message);
    case "levelname":
      return level;
    case "levelno":
      return String(record.level);
    case "bracketlevel":
      return `[${level.padEnd(8)}]`;
    case "colorlevel":
      return colour(levelColour, `[${level.padEnd(8)}]`);
    case "name":
      return name;
    case "bracketname":
      return `[${name.padEnd(17)}]`;
    case "colorname":
      return colour(NAME_COLOUR, `[${name.padEnd(17)}]`);
    case "process":
      return String(Deno.pid);
    case "bracketprocess":
      return `[${String(Deno.pid).padStart(5)}]`;
    case "colorprocess":
      return colour(PROCESS_COLOUR, `[${String(Deno.pid).padStart(5)}]`);
    case "asctime":
      return strftime(new Date(record.timeMs), how.datefmt);
    case "msecs":
      return String(record.timeMs % 1000).padStart(3, "0");
    case "created":
      return String(record.timeMs / 1000);
    case "processName":
      return "MainProcess";
    case "threadName":
    case "lineno":
    case "pathname":
    case "filename":
    case "module":
    case "funcName":
    case "thread":
    case "relativeCreated":
    case "jid":
    case "minion_id":
      return "";
    default:
      return undefined;
  }
}
