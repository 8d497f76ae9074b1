/**
 * A context for tests of returners: the options of a minion with those of the test.
 * @module
 */

import type { ReturnerContext } from "#lib/plugins/returner.ts";
import { toValue } from "#lib/values/value.ts";
import { testOpts } from "./job_context.ts";

/** Makes a context. `logged` gets the log lines, `level: message`. */
export function returnerContext(
  options: Readonly<Record<string, unknown>>,
  logged: string[] = [],
): ReturnerContext {
  const opts = testOpts();
  const { keep_jobs_seconds: keep, ...own } = options;
  const extra = new Map([
    ...opts.extra,
    ...Object.entries(own).map(([name, value]) => [name, toValue(value)] as const),
  ]);
  return {
    opts: { ...opts, extra, ...typeof keep === "number" && { keep_jobs_seconds: keep } },
    grains: new Map(),
    pillar: new Map(),
    signal: new AbortController().signal,
    log: (level, message) => void logged.push(`${level}: ${message}`),
  };
}
