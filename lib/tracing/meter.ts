/**
 * Counts what a thread does, and exports the sums. Several threads of a program export for themselves, each as an
 * instance of the service, and a collector adds them up.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { ValueMap } from "#lib/values/value.ts";
import { type MetricsSettings, readMetrics } from "./metrics_settings.ts";
import {
  type ExportedMetric,
  type HistogramPoint,
  type Labels,
  type NumberPoint,
  otlpMetrics,
} from "./otlp_metrics.ts";

/** Longest wait of a request, in milliseconds. */
const REQUEST_MS = 10_000;
/** Different labels of one metric; others are counted together, as users choose names of functions. */
const MOST_LABELS = 2_000;
const BEYOND: Labels = { "otel.metric.overflow": "true" };
/** Longest label. */
const MAX_TEXT = 200;
/** The ends of the buckets of histograms, in milliseconds, as OpenTelemetry has them. */
const BOUNDS = [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000];

/**
 * The meter of a program or a thread, if its configuration asks for one. What is wrong there is logged, and nothing is
 * measured.
 * @param who The program's name unless the configuration has one, and which instance of it this is.
 */
export function openMeter(
  option: ValueMap,
  { service, instance }: { readonly service: string; readonly instance: string },
  log: Logger,
): Meter | undefined {
  const settings = readMetrics(option, service);
  if (typeof settings === "string") log.error(settings);
  if (settings === undefined || typeof settings === "string") return undefined;
  return new Meter({ ...settings, resource: { ...settings.resource, "service.instance.id": instance } }, log);
}

type MutableHistogram = HistogramPoint & { count: number; sum: number; readonly buckets: number[] };

/** Counts and exports. */
export class Meter {
  readonly #settings: MetricsSettings;
  readonly #log: Logger;
  readonly #startMs = Date.now();
  readonly #counters = new Map<string, Map<string, { readonly labels: Labels; value: number }>>();
  readonly #histograms = new Map<string, Map<string, MutableHistogram>>();
  readonly #gauges: (() => Promise<readonly ExportedMetric[]>)[] = [];
  readonly #timer: Timer;
  #sending: Promise<void> = Promise.resolve();
  #isAway = false;

  constructor(settings: MetricsSettings, log: Logger) {
    this.#settings = settings;
    this.#log = log;
    this.#timer = setInterval(() => void this.export(), settings.intervalMs);
  }

  /** Adds to a sum. */
  count(name: string, labels: Labels = {}, by = 1): void {
    const points = pointsOf(this.#counters, name);
    const { key, shown } = keyOf(points, labels);
    const point = points.get(key) ?? { labels: shown, value: 0 };
    point.value += by;
    points.set(key, point);
  }

  /** Notes how long something took, in milliseconds. */
  record(name: string, ms: number, labels: Labels = {}): void {
    const points = pointsOf(this.#histograms, name);
    const { key, shown } = keyOf(points, labels);
    const bounds = this.#boundsOf(name);
    const point = points.get(key) ?? { labels: shown, count: 0, sum: 0, buckets: Array(bounds.length + 1).fill(0) };
    const bucket = bounds.findIndex((end) => ms <= end);
    point.buckets[bucket < 0 ? bounds.length : bucket]++;
    point.count++;
    point.sum += ms;
    points.set(key, point);
  }

  /** Does `work`, and notes how long it took. */
  async timed<T>(name: string, work: () => Promise<T> | T, labels: Labels = {}): Promise<T> {
    const startMs = performance.now();
    try {
      return await work();
    } finally {
      this.record(name, performance.now() - startMs, labels);
    }
  }

  /** A value that is read at each export; `counter`: one that only grows. */
  observe(
    name: string,
    read: () => readonly NumberPoint[] | Promise<readonly NumberPoint[]>,
    { kind = "gauge", unit = "1" }: { readonly kind?: "gauge" | "counter"; readonly unit?: string } = {},
  ): void {
    this.#gauges.push(async () => [{ kind, name, unit, points: [...await read()] }]);
  }

  /** Exports now; two at a time go one after another. */
  export(withinMs = REQUEST_MS): Promise<void> {
    return this.#sending = this.#sending.then(() => this.#send(AbortSignal.timeout(withinMs)));
  }

  /** Exports what there is, and ends. */
  async close(withinMs = 2_000): Promise<void> {
    clearInterval(this.#timer);
    await this.export(withinMs);
  }

  #boundsOf(name: string): readonly number[] {
    return this.#settings.boundaries.get(name) ?? BOUNDS;
  }

  async #send(signal: AbortSignal): Promise<void> {
    const { endpoint, headers, resource } = this.#settings;
    try {
      const body = otlpMetrics(await this.#exported(), resource, { startMs: this.#startMs, nowMs: Date.now() });
      const all = { ...headers, "content-type": "application/json" };
      const answer = await fetch(endpoint, { method: "POST", body, headers: all, signal, redirect: "error" });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`the collector answered ${answer.status}`);
    } catch (error) {
      // Sums lose nothing: the next export has them.
      if (!this.#isAway) this.#log.warning(`Metrics cannot be exported to ${endpoint}: ${messageOf(error)}`);
      this.#isAway = true;
      return;
    }
    if (this.#isAway) this.#log.warning("Metrics are exported again");
    this.#isAway = false;
  }

  async #exported(): Promise<ExportedMetric[]> {
    const observed = await Promise.all(this.#gauges.map((read) => read()));
    return [
      ...[...this.#counters].map(([name, points]) => ({
        kind: "counter" as const,
        name,
        unit: "1",
        points: [...points.values()],
      })),
      ...[...this.#histograms].map(([name, points]) => ({
        kind: "histogram" as const,
        name,
        unit: "ms",
        bounds: this.#boundsOf(name),
        points: [...points.values()],
      })),
      ...observed.flat(),
    ];
  }
}

function pointsOf<T>(all: Map<string, Map<string, T>>, name: string): Map<string, T> {
  const points = all.get(name) ?? new Map<string, T>();
  all.set(name, points);
  return points;
}

function keyOf(points: ReadonlyMap<string, unknown>, labels: Labels): { readonly key: string; readonly shown: Labels } {
  const shown = Object.fromEntries(Object.entries(labels).map(([name, text]) => [name, text.slice(0, MAX_TEXT)]));
  const key = JSON.stringify(shown);
  if (points.has(key) || points.size < MOST_LABELS) return { key, shown };
  return { key: JSON.stringify(BEYOND), shown: BEYOND };
}
