/**
 * Files of a directory: their type, ranges and dates. No path leads out of the directory.
 * @module
 */

import { PAGE_HEADERS } from "#lib/api/http/answer.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { HttpAnswer, type IncomingRequest } from "#lib/api/http/exchange.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";

/** Media types by the end of a name. */
const TYPES: Readonly<Record<string, string>> = {
  css: "text/css",
  csv: "text/csv",
  gif: "image/gif",
  htm: "text/html",
  html: "text/html",
  ico: "image/x-icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  map: "application/json",
  md: "text/markdown",
  mjs: "text/javascript",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain",
  webp: "image/webp",
  woff: "font/woff",
  woff2: "font/woff2",
  xml: "text/xml",
};

/** The media type of a file by its name. */
function typeOf(name: string): string {
  const end = /\.([a-z0-9]+)$/i.exec(name)?.[1].toLowerCase() ?? "";
  return Object.hasOwn(TYPES, end) ? TYPES[end] : "application/octet-stream";
}

/**
 * The path of `name` in `directory`.
 * @param name Segments with slashes, decoded.
 * @throws {ApiError} 403 if it would lead out of the directory, 404 if there is no such file.
 */
export function staticPath(directory: string, name: string): string {
  if (/[\\\0]/.test(name) || name.split("/").some((segment) => segment === ".." || segment === ".")) throw forbidden();
  const path = `${directory}/${name}`;
  if (statIfExists(path)?.isFile !== true) throw new ApiError(404, "The path was not found.");
  // A link in it must stay in it.
  if (!realPath(path).startsWith(`${realPath(directory)}/`)) throw forbidden();
  return path;
}

function forbidden(): ApiError {
  return new ApiError(403, "Request forbidden -- authorization will not help");
}

/** A part of a file: the first byte and the last one. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** The one range that a header `Range` asks for; `undefined`: the whole file; `none`: there is no such part. */
function byteRange(header: string | null, size: number): ByteRange | "none" | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  if (match === null || (match[1] === "" && match[2] === "")) return undefined;
  const [from, to] = [match[1], match[2]].map((text) => text === "" ? undefined : Number(text));
  const first = from ?? Math.max(0, size - (to ?? 0));
  const last = from === undefined ? size - 1 : Math.min(to ?? size - 1, size - 1);
  return first > last ? "none" : { first, last };
}

/**
 * The answer with a file.
 * @param path A file that is there.
 * @param options.policy The `Content-Security-Policy` of HTML; empty: none.
 * @throws What opening it throws.
 */
export async function fileAnswer(
  path: string,
  request: IncomingRequest,
  { policy, headers = {} }: { readonly policy: string; readonly headers?: Readonly<Record<string, string>> },
): Promise<HttpAnswer> {
  const file = await Deno.open(path);
  let isStreamed = false;
  try {
    const { size, mtime } = await file.stat();
    const common = new Headers({
      "Content-Type": typeOf(path),
      "Accept-Ranges": "bytes",
      "X-Content-Type-Options": "nosniff",
      "Cross-Origin-Resource-Policy": "same-origin",
      ...typeOf(path) === "text/html" && PAGE_HEADERS,
      ...typeOf(path) === "text/html" && policy !== "" && { "Content-Security-Policy": policy },
      ...headers,
    });
    if (mtime !== null) common.set("Last-Modified", mtime.toUTCString());
    const since = Date.parse(request.headers.get("if-modified-since") ?? "");
    if (mtime !== null && Math.floor(mtime.getTime() / 1000) <= since / 1000) {
      return new HttpAnswer(null, { status: 304, headers: common });
    }
    const range = isSame(request.headers.get("if-range"), mtime)
      ? byteRange(request.headers.get("range"), size)
      : undefined;
    if (range === "none") return new HttpAnswer(null, { status: 416, headers: { "Content-Range": `bytes */${size}` } });
    const { first, last } = range ?? { first: 0, last: size - 1 };
    common.set("Content-Length", String(last - first + 1));
    if (range !== undefined) common.set("Content-Range", `bytes ${first}-${last}/${size}`);
    await file.seek(first, Deno.SeekMode.Start);
    isStreamed = true;
    return new HttpAnswer(bounded(file.readable, last - first + 1), {
      status: range === undefined ? 200 : 206,
      headers: common,
    });
  } finally {
    // The stream of a body closes it.
    if (!isStreamed) file.close();
  }
}

/** Whether a part of the file as it is now fits the parts that the client has, by its header `If-Range`. */
function isSame(ifRange: string | null, mtime: Date | null): boolean {
  return ifRange === null || ifRange === mtime?.toUTCString();
}

/**
 * The first `bytes` bytes of `stream`. It fails if there are fewer: the client would wait for the rest, or take the
 * next answer for it.
 */
function bounded(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  bytes: number,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = bytes;
  return stream.pipeThrough(
    new TransformStream({
      transform(piece, controller) {
        controller.enqueue(piece.subarray(0, left));
        left -= Math.min(left, piece.length);
        if (left === 0) controller.terminate();
      },
      flush() {
        if (left > 0) throw new Error(`The file has become shorter while it was sent: ${left} bytes are missing`);
      },
    }),
  );
}
