/**
 * The names of log levels. Source: Salt's documentation, "Logging".
 * @module
 */

/** Salt's names of log levels, from the quietest up. */
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

/** A name out of {@linkcode LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];
