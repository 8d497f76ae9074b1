/**
 * `/metrics`: counts for monitoring. No label has the id of a minion or of a user, so that their number is bounded.
 * Source: prometheus.io, "Exposition formats", text format 0.0.4.
 * @module
 */

import { ApiError } from "#lib/api/http/api_error.ts";
import { plainAddress } from "#lib/api/http/client_origin.ts";
import { HttpAnswer } from "#lib/api/http/exchange.ts";
import { BUCKETS, type RequestCounts } from "#lib/api/endpoints/request_counts.ts";
import { isLoopback } from "#lib/api/endpoints/api_settings.ts";
import type { ApiParts, ApiRequest, Methods } from "#lib/api/endpoints/endpoint.ts";
import { isMasterRunning } from "#lib/client/master_running.ts";
import { sameText } from "#lib/crypto/same_text.ts";
import { readPresence } from "#lib/fleet/presence_file.ts";
import { KEY_STATES } from "#lib/keys/manager.ts";
import { KeyStore } from "#lib/keys/store.ts";

/** The path `/metrics`. */
export const METRICS: Methods = {
  GET: {
    summary: "Counts in the text format of Prometheus.",
    rights: "a session, metrics_token as a bearer, or a client on this host",
    isRaw: true,
    answers: [{ doc: "The counts.", media: "text/plain" }],
    errors: [401],
    async handle(request, parts) {
      checkReader(request, parts);
      const text = [...requestMetrics(parts.counts), ...tlsMetrics(parts), ...await fleetMetrics(parts)].join("");
      const headers = { "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store" };
      return new HttpAnswer(text, { headers });
    },
  },
};

/** @throws {ApiError} 401 if the client may not read them. */
function checkReader({ request, client, session }: ApiRequest, { settings }: ApiParts): void {
  if (session !== undefined) return;
  const bearer = /^Bearer (.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const { metrics_token } = settings;
  if (metrics_token !== null && bearer !== undefined && sameText(metrics_token, bearer)) return;
  // A proxy on this host passes requests of everybody on.
  const isPassedOn = ["forwarded", "x-forwarded-for", "via"].some((name) => request.headers.has(name));
  if (isLoopback(plainAddress(client.address)) && !isPassedOn) return;
  throw new ApiError(401, "No authentication credentials given");
}

type Labels = Readonly<Record<string, string | number>>;

/** One metric: its head, and a line for each sample. */
function metric(
  name: string,
  { type, help }: { readonly type: "counter" | "gauge" | "histogram"; readonly help: string },
  samples: readonly (readonly [labels: Labels, value: number, suffix?: string])[],
): string {
  const lines = samples.map(([labels, value, suffix = ""]) => {
    const inner = Object.entries(labels).map(([key, text]) => `${key}="${escaped(String(text))}"`).join(",");
    return `${name}${suffix}${inner === "" ? "" : `{${inner}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function requestMetrics(counts: RequestCounts): string[] {
  const routes = counts.routes();
  const labels = (one: Labels) => one;
  const durations = routes.flatMap(({ route, method, status, count, seconds, buckets }) => {
    let sum = 0;
    const own = labels({ route, method, status });
    const rows = BUCKETS.map((end, i) => [{ ...own, le: end }, sum += buckets[i], "_bucket"] as const);
    return [...rows, [{ ...own, le: "+Inf" }, count, "_bucket"], [own, seconds, "_sum"], [
      own,
      count,
      "_count",
    ]] as const;
  });
  return [
    metric(
      "salt_api_requests_total",
      { type: "counter", help: "Requests that were answered." },
      routes.map(({ route, method, status, count }) => [{ route, method, status }, count]),
    ),
    metric(
      "salt_api_request_duration_seconds",
      { type: "histogram", help: "Time until the headers of an answer." },
      durations,
    ),
    metric("salt_api_open_requests", { type: "gauge", help: "Requests that are being answered." }, [[{}, counts.open]]),
    metric("salt_api_event_streams", { type: "gauge", help: "Open streams of events." }, [[{}, counts.streams]]),
    metric(
      "salt_api_logins_total",
      { type: "counter", help: "Log-ins by result." },
      [...counts.logIns()].map(([result, count]) => [{ result }, count]),
    ),
    metric("process_start_time_seconds", { type: "gauge", help: "Start of the process since the epoch." }, [[
      {},
      counts.startedS,
    ]]),
    metric("process_resident_memory_bytes", { type: "gauge", help: "Memory of the process." }, [[
      {},
      Deno.memoryUsage().rss,
    ]]),
  ];
}

function tlsMetrics({ certificateEndsMs }: ApiParts): string[] {
  const endsMs = certificateEndsMs();
  if (endsMs === undefined) return [];
  return [
    metric("salt_api_certificate_end_seconds", { type: "gauge", help: "End of the certificate since the epoch." }, [[
      {},
      Math.floor(endsMs / 1000),
    ]]),
  ];
}

async function fleetMetrics({ opts, jobs }: ApiParts): Promise<string[]> {
  const keys = new KeyStore(opts.pki_dir);
  const accepted = new Set(keys.list("accepted"));
  const { present } = readPresence(opts.cachedir);
  const connected = [...present.keys()].filter((id) => accepted.has(id)).length;
  const isUp = await isMasterRunning(opts.sock_dir);
  if (isUp) await jobs.load();
  return [
    metric("salt_master_up", { type: "gauge", help: "1: the master runs." }, [[{}, isUp ? 1 : 0]]),
    metric(
      "salt_minion_keys",
      { type: "gauge", help: "Keys of minions by state." },
      KEY_STATES.map((state) => [{ state }, keys.list(state).length]),
    ),
    metric("salt_minions_connected", { type: "gauge", help: "Accepted minions that are connected." }, [[
      {},
      connected,
    ]]),
    metric("salt_job_returns_total", {
      type: "counter",
      help: "Returns of minions since the first reading, by outcome.",
    }, [...jobs.returns()].map(([outcome, count]) => [{ outcome }, count])),
    metric("salt_events_total", { type: "counter", help: "Events of the master since the first reading." }, [[
      {},
      jobs.events,
    ]]),
  ];
}
