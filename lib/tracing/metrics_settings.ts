/**
 * The option `metrics`, checked: Salt's keys and defaults.
 * Source: Salt 3008.3 `salt/utils/metrics.py`.
 * @module
 */

import { isMap, str, toNumber, truthy, type ValueMap } from "#lib/values/value.ts";
import { textsOf } from "./tracing_settings.ts";

/** The ways in which metrics leave. */
const EXPORTERS = ["otlp-http"] as const;

/** What the option says. */
export interface MetricsSettings {
  /** The collector's URL. */
  readonly endpoint: string;
  /** Time between two exports, in milliseconds. */
  readonly intervalMs: number;
  /** Attributes of this program, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
  /** More headers of requests to the collector. */
  readonly headers: Readonly<Record<string, string>>;
  /** The ends of the buckets of histograms, by name, where they are not the default. */
  readonly boundaries: ReadonlyMap<string, readonly number[]>;
}

/** The collector on this host, where OpenTelemetry's own libraries expect it. */
const DEFAULT_ENDPOINT = "http://localhost:4318/v1/metrics";
const DEFAULT_INTERVAL_S = 60;

/**
 * Reads the option.
 * @param serviceName The name of this program, unless the option has one.
 * @returns The settings; `undefined` if nothing is measured. A text says what is wrong, and then nothing is.
 */
export function readMetrics(option: ValueMap, serviceName: string): MetricsSettings | string | undefined {
  if (!truthy(option.get("enabled") ?? false)) return undefined;
  const text = (key: string) => str(option.get(key) ?? "").trim();
  if (!EXPORTERS.some((name) => name === (text("exporter") || "otlp-http").toLowerCase())) {
    return `metrics: the exporter ${text("exporter")} is not built; use ${
      EXPORTERS.join(", ")
    }, or /metrics of salt-api`;
  }
  const intervalS = toNumber(option.get("export_interval_seconds") ?? DEFAULT_INTERVAL_S);
  if (intervalS === undefined || !(intervalS >= 1)) return "metrics: export_interval_seconds is no number from 1 on";
  const endpoint = text("endpoint") || DEFAULT_ENDPOINT;
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) return "metrics: endpoint is not an http or https URL";
  const boundaries = new Map<string, readonly number[]>();
  const given = option.get("histogram_boundaries");
  for (const [name, ends] of isMap(given) ? given : []) {
    const numbers = Array.isArray(ends) ? ends.map((end) => toNumber(end)) : [undefined];
    if (!isAscending(numbers)) return `metrics: histogram_boundaries of ${str(name)} are no ascending numbers`;
    boundaries.set(str(name), numbers);
  }
  return {
    endpoint,
    intervalMs: intervalS * 1000,
    resource: { "service.name": text("service_name") || serviceName, ...textsOf(option, "resource_attributes") },
    headers: textsOf(option, "headers"),
    boundaries,
  };
}

function isAscending(numbers: readonly (number | undefined)[]): numbers is readonly number[] {
  return numbers.every((number, i) => {
    const before = i === 0 ? -Infinity : numbers[i - 1];
    return number !== undefined && before !== undefined && number > before;
  });
}
