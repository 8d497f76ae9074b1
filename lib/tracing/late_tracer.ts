/**
 * The tracer of a program that is configured to trace. Others load no code for it.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import { truthy, type ValueMap } from "#lib/values/value.ts";
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
