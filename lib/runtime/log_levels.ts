/**
 * The names of log levels.
 * Source: Salt's documentation, "Logging".
 * @module
 */

/** Salt's log levels, from the fewest messages to the most. */
export const LOG_LEVELS = [
  "quiet",
  "critical",
  "error",
  "warning",
  "info",
  "profile",
  "debug",
  "trace",
  "garbage",
  "all",
] as const;

/** Python's other names of levels, which Salt does not accept. */
export const LEVEL_ALIASES: Readonly<Record<string, LogLevel>> = { warn: "warning", fatal: "critical", notset: "all" };

export type LogLevel = (typeof LOG_LEVELS)[number];
