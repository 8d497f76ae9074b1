/**
 * Metrics in the JSON form of OTLP.
 * Source: opentelemetry-proto 1, `opentelemetry/proto/metrics/v1/metrics.proto` and its JSON mapping.
 * @module
 */

import { VERSION } from "#lib/version.ts";
import { nanoseconds, otlpAttributes } from "./otlp.ts";

/** The labels of a point. */
export type Labels = Readonly<Record<string, string>>;

/** A sum, or a value as it is now, with its labels. */
export interface NumberPoint {
  readonly labels: Labels;
  readonly value: number;
}

/** The distribution of values with the same labels. */
export interface HistogramPoint {
  readonly labels: Labels;
  readonly count: number;
  readonly sum: number;
  /** Values up to each end of a bucket, and those beyond the last. */
  readonly buckets: readonly number[];
}

/** One metric, as it is exported. */
export type ExportedMetric =
  | { readonly kind: "counter" | "gauge"; readonly name: string; readonly unit: string; readonly points: NumberPoint[] }
  | {
    readonly kind: "histogram";
    readonly name: string;
    readonly unit: string;
    readonly bounds: readonly number[];
    readonly points: HistogramPoint[];
  };

/** Sums since the start, as all of ours are. */
const CUMULATIVE = 2;

/**
 * The body of a request that exports metrics.
 * @param times The start of the counting and now, in milliseconds since the epoch.
 */
export function otlpMetrics(
  metrics: readonly ExportedMetric[],
  resource: Readonly<Record<string, string>>,
  times: { readonly startMs: number; readonly nowMs: number },
): string {
  const at = { startTimeUnixNano: nanoseconds(times.startMs), timeUnixNano: nanoseconds(times.nowMs) };
  return JSON.stringify({
    resourceMetrics: [{
      resource: { attributes: otlpAttributes(resource) },
      scopeMetrics: [{
        scope: { name: "salt", version: VERSION },
        metrics: metrics.map((one) => metricOf(one, at)),
      }],
    }],
  });
}

function metricOf(metric: ExportedMetric, at: Readonly<Record<string, string>>): unknown {
  const { name, unit } = metric;
  if (metric.kind === "histogram") {
    const dataPoints = metric.points.map(({ labels, count, sum, buckets }) => ({
      ...at,
      attributes: otlpAttributes(labels),
      count: String(count),
      sum,
      bucketCounts: buckets.map(String),
      explicitBounds: metric.bounds,
    }));
    return { name, unit, histogram: { aggregationTemporality: CUMULATIVE, dataPoints } };
  }
  const dataPoints = metric.points.map(({ labels, value }) => ({
    ...at,
    attributes: otlpAttributes(labels),
    ...Number.isInteger(value) ? { asInt: String(value) } : { asDouble: value },
  }));
  return metric.kind === "gauge"
    ? { name, unit, gauge: { dataPoints } }
    : { name, unit, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } };
}
