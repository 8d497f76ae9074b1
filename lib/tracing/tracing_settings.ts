/**
 * The option `tracing`, checked: Salt's keys and defaults.
 * Source: Salt 3008.3 `salt/utils/tracing.py`.
 * @module
 */

import { mapOrEmpty } from "#lib/values/shape.ts";
import { str, toNumber, truthy, type ValueMap } from "#lib/values/value.ts";

/** How roots of traces are chosen. */
const SAMPLERS = ["parent_based", "always_on", "always_off", "trace_id_ratio"] as const;

/** The ways in which spans leave. */
const EXPORTERS = ["otlp-http"] as const;

/** What the option says. */
export interface TracingSettings {
  /** The collector's URL. */
  readonly endpoint: string;
  readonly sampler: typeof SAMPLERS[number];
  /** The share of traces that are exported, from 0 to 1. */
  readonly ratio: number;
  /** Attributes of this program, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
  /** More headers of requests to the collector. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The collector on this host, where OpenTelemetry's own libraries expect it. */
const DEFAULT_ENDPOINT = "http://localhost:4318/v1/traces";

/**
 * Reads the option.
 * @param serviceName The name of this program, unless the option has one.
 * @returns The settings; `undefined` if nothing is traced. A text says what is wrong, and then nothing is traced.
 */
export function readTracing(option: ValueMap, serviceName: string): TracingSettings | string | undefined {
  if (!truthy(option.get("enabled") ?? false)) return undefined;
  const text = (key: string) => str(option.get(key) ?? "").trim();
  if (!EXPORTERS.some((name) => name === (text("exporter") || "otlp-http").toLowerCase())) {
    return `tracing: the exporter ${text("exporter")} is not built; use ${EXPORTERS.join(", ")}`;
  }
  const sampler = SAMPLERS.find((name) => name === (text("sampler") || "parent_based").toLowerCase());
  if (sampler === undefined) {
    return `tracing: there is no sampler ${text("sampler")}; use one of ${SAMPLERS.join(", ")}`;
  }
  const ratio = toNumber(option.get("sampler_arg") ?? 1);
  if (ratio === undefined || !(ratio >= 0 && ratio <= 1)) return "tracing: sampler_arg is not a number from 0 to 1";
  const endpoint = text("endpoint") || DEFAULT_ENDPOINT;
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) return "tracing: endpoint is not an http or https URL";
  return {
    endpoint,
    sampler,
    ratio,
    resource: { "service.name": text("service_name") || serviceName, ...textsOf(option, "resource_attributes") },
    headers: textsOf(option, "headers"),
  };
}

/** A map of texts in an option. */
export function textsOf(option: ValueMap, key: string): Record<string, string> {
  return Object.fromEntries([...mapOrEmpty(option.get(key))].map(([name, value]) => [str(name), str(value)]));
}
