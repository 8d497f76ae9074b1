/**
 * Answers: values as JSON or YAML, errors in the language that the client takes.
 * @module
 */

import { dumpJson } from "#lib/values/json.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { escapeHtml } from "#lib/text/html.ts";
import { map, type Value } from "#lib/values/value.ts";
import { preferredType, prefers } from "./accept.ts";
import { ApiError } from "./api_error.ts";
import { HttpAnswer } from "./exchange.ts";

/** The media types of values. */
export const VALUE_TYPES = ["application/json", "application/x-yaml"] as const;

/** One of {@linkcode VALUE_TYPES}. */
export type ValueType = typeof VALUE_TYPES[number];

/** The headers of every answer: none is kept by caches, and none is taken for another type. */
const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store, private",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** The headers of every HTML page: it is in no frame, tells nobody where its links were, and may use no devices. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "X-Content-Type-Options": "nosniff",
};

/** Of pages without scripts and styles. */
const BARE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The reasons of the statuses that are used, as in RFC 9110. */
const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  421: "Misdirected Request",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** A status in words. */
export function statusText(status: number): string {
  return REASONS[status] ?? "Error";
}

/**
 * The type of the answer to a client with this `Accept`. Asked before the work is done, so that nothing runs whose
 * answer nobody takes.
 * @param onlyJson Whether there is no YAML.
 * @throws {ApiError} 406 if it takes neither.
 */
export function valueType(accept: string | null, onlyJson = false): ValueType {
  const types = onlyJson ? VALUE_TYPES.slice(0, 1) : VALUE_TYPES;
  const type = preferredType(accept, types);
  if (type !== undefined) return type;
  throw new ApiError(
    406,
    `Your client sent this Accept header: ${accept}. But this resource only emits these media types: ` +
      `${types.join(", ")}.`,
  );
}

/** An answer with a value. */
export function valueAnswer(value: Value, type: ValueType, { status = 200, headers = {} }: {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
} = {}): HttpAnswer {
  const text = type === "application/json" ? dumpJson(value) : dumpYaml(value);
  return new HttpAnswer(text, { status, headers: { ...COMMON_HEADERS, "Content-Type": type, ...headers } });
}

/**
 * An answer with an error: JSON `{"error": {status, code, message, request}}`, or a page for a client that prefers
 * `text/html`. `code` is the status in words, `request` the id of the request in the log.
 */
export function errorAnswer(error: ApiError, { accept, request }: {
  readonly accept: string | null;
  readonly request: string;
}): HttpAnswer {
  const { status, message, headers, back } = error;
  const reason = statusText(status);
  if (prefers(accept, "text/html", VALUE_TYPES)) {
    const title = `${status} ${reason}`;
    const link = back === undefined ? "" : `<p><a href="${escapeHtml(back)}">Back</a></p>\n`;
    const text = `<h1>${title}</h1>\n<p>${escapeHtml(message)}</p>\n${link}`;
    const page = `<!doctype html>\n<html lang="en">\n<title>${title}</title>\n${text}`;
    const own = { "Content-Type": "text/html;charset=utf-8", "Content-Security-Policy": BARE_POLICY };
    return new HttpAnswer(page, { status, headers: { ...COMMON_HEADERS, ...PAGE_HEADERS, ...own, ...headers } });
  }
  const code = reason.toLowerCase().replaceAll(" ", "_");
  const value = map({ error: { status, code, message, request } });
  return valueAnswer(value, preferredType(accept, VALUE_TYPES) ?? "application/json", { status, headers });
}
