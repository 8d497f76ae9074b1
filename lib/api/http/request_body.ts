/**
 * The body of a request: read within its bound, and parsed by its type. JSON, YAML, forms and text are what salt-api
 * takes. Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py` (hypermedia_in); answers of a live salt-api.
 * @module
 */

import { parseJson } from "#lib/values/json_read.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { JsonError, YamlError } from "#lib/errors.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { MAX_ALIASED } from "#lib/yaml/nodes.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import { ApiError } from "./api_error.ts";
import type { IncomingRequest } from "./exchange.ts";

/** What a client has sent. */
export interface RequestBody {
  /** As it came; empty without one. */
  readonly text: string;
  /** Its value; `undefined` without a body. */
  readonly data: Value | undefined;
  /** Whether it is a form, whose values are words as on a command line. */
  readonly isForm: boolean;
}

/** How long a body may be, and its types. */
export interface BodyBounds {
  /** The most bytes that are read. */
  readonly maxBytes: number;
  /** Time until its last byte, in milliseconds. */
  readonly timeoutMs: number;
  /** The media types that are read: some of {@linkcode BODY_TYPES}. */
  readonly types: readonly string[];
}

/** The body of a request without one. */
export const NO_BODY: RequestBody = { text: "", data: undefined, isForm: false };
/** Maximum depth of lists and maps. */
const MAX_DEPTH = 64;
/** Maximum number of fields of a form. */
const MAX_FIELDS = 10_000;

const PARSERS: Readonly<Record<string, (text: string) => Value>> = {
  "application/json": jsonBody,
  "application/x-yaml": yamlBody,
  "text/yaml": yamlBody,
  "application/x-www-form-urlencoded": formBody,
  "text/plain": textBody,
};

/** The media types of bodies. */
export const BODY_TYPES: readonly string[] = Object.keys(PARSERS);
/** Those of endpoints that take JSON alone: a form of a page of another site can send none of them. */
export const JSON_TYPES: readonly string[] = ["application/json"];

const FORM = "application/x-www-form-urlencoded";

/**
 * Reads and parses the body.
 * @throws {ApiError} 400 if it cannot be read as its type, or is cut off, 406 for another type, 408 if it comes too
 * slowly, 413 if it is too long.
 */
export async function readRequestBody(
  request: Pick<IncomingRequest, "headers" | "body">,
  bounds: BodyBounds,
): Promise<RequestBody> {
  const declared = request.headers.get("content-length");
  if (request.body === null || declared === "0") return NO_BODY;
  const type = (request.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
  const isTooLarge = declared !== null && Number(declared) > bounds.maxBytes;
  if (isTooLarge || !bounds.types.includes(type)) {
    await request.body.cancel();
    throw isTooLarge ? tooLarge(bounds.maxBytes) : new ApiError(406, "Content type not supported");
  }
  const bytes = await readBytes(request.body, bounds);
  if (bytes.length === 0) return NO_BODY;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ApiError(400, "The body is not UTF-8");
  }
  const data = PARSERS[type](text);
  checkDepth(data, MAX_DEPTH);
  return { text, data, isForm: type === FORM };
}

async function readBytes(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { maxBytes, timeoutMs }: BodyBounds,
): Promise<Uint8Array> {
  const reader = body.getReader();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new ApiError(408, "The body came too slowly")), timeoutMs);
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    while (true) {
      const { done, value } = await Promise.race([reader.read().catch(cutOff), late.promise]);
      if (done) return joinBytes(parts);
      length += value.length;
      if (length > maxBytes) throw tooLarge(maxBytes);
      parts.push(value);
    }
  } catch (error) {
    // Not awaited: a client that sends nothing would hold the answer back.
    reader.cancel().catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The client has gone amid its body: that is no error of ours, and nobody reads the answer. */
function cutOff(): never {
  throw new ApiError(400, "The body was cut off");
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError(413, `The body is larger than ${maxBytes} bytes (max_request_body_size)`);
}

function jsonBody(text: string): Value {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new ApiError(400, "Invalid JSON document");
  }
}

function yamlBody(text: string): Value {
  try {
    return loadYaml(text, "the body", { maxAliased: MAX_ALIASED.argument });
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new ApiError(400, "Invalid YAML document");
  }
}

/** Text that is no JSON is a string. */
function textBody(text: string): Value {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return text;
  }
}

/** A field that occurs more than once is a list. */
function formBody(text: string): Value {
  const fields: ValueMap = new Map();
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    if (++count > MAX_FIELDS) throw new ApiError(400, `The form has more than ${MAX_FIELDS} fields`);
    const before = fields.get(name);
    if (before === undefined) fields.set(name, value);
    else if (Array.isArray(before)) before.push(value);
    else fields.set(name, [before, value]);
  }
  return fields;
}

/** @throws {ApiError} 400 if `value` is nested deeper than `levels`. */
function checkDepth(value: Value, levels: number): void {
  if (!Array.isArray(value) && !(value instanceof Map)) return;
  if (levels === 0) throw new ApiError(400, `The body is nested more than ${MAX_DEPTH} deep`);
  for (const item of value.values()) checkDepth(item, levels - 1);
}
