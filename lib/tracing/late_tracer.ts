/**
 * The tracer and the meter of a program that is configured to trace, or to measure. Others load no code for them.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import { truthy, type ValueMap } from "#lib/values/value.ts";
import type { Meter } from "./meter.ts";
import type { Tracer } from "./tracer.ts";

/**
 * The tracer of a program or a thread, if its configuration asks for one.
 * @param option The option `tracing`.
 * @param service The program's name unless the configuration has one.
 */
export async function tracerOf(option: ValueMap, service: string, log: Logger): Promise<Tracer | undefined> {
  if (!truthy(option.get("enabled") ?? false)) return undefined;
  const { openTracer } = await import("./tracer.ts");
  return openTracer(option, service, log);
}

/**
 * The meter of a program or a thread, if its configuration asks for one.
 * @param option The option `metrics`.
 * @param who The program's name unless the configuration has one, and which instance of it this is.
 */
export async function meterOf(
  option: ValueMap,
  who: { readonly service: string; readonly instance: string },
  log: Logger,
): Promise<Meter | undefined> {
  if (!truthy(option.get("enabled") ?? false)) return undefined;
  const { openMeter } = await import("./meter.ts");
  return openMeter(option, who, log);
}
