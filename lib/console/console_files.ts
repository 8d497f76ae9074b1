/**
 * The files of the web console, as they lie in `browser/`: read and packed once, then served from memory. A page may
 * load nothing from elsewhere, run no text as code, and be in no frame.
 * Source: docs/console.md; the policy is that of CSP 3 and Trusted Types.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { gzip } from "#lib/values/gzip.ts";

/** The project's directory, or that of an executable. */
const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);

/** The directory of the files below that. */
const BROWSER = "lib/console/browser";

/** Media types of the files that are served; others are not. */
const TYPES: Readonly<Record<string, string>> = {
  css: "text/css;charset=utf-8",
  html: "text/html;charset=utf-8",
  js: "text/javascript;charset=utf-8",
};

/** What a page of the console may do. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  // Asked for each time, and answered with 304: after an upgrade no page mixes old files and new ones.
  "Cache-Control": "no-cache",
  "Vary": "Accept-Encoding",
};

interface ConsoleFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly packed: Uint8Array<ArrayBuffer>;
}

/** An answer with a file, or that the client has it. */
interface ConsoleAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | null;
}

let files: Promise<ReadonlyMap<string, ConsoleFile>> | undefined;

/**
 * The answer with a file of the console.
 * @param name Its path below `browser/`; empty: the page.
 * @returns `undefined` if there is no such file.
 */
export async function consoleAnswer(
  request: Pick<Request, "url" | "headers">,
  name: string,
): Promise<ConsoleAnswer | undefined> {
  if (name === "" && !new URL(request.url).pathname.endsWith("/")) {
    return { body: null, status: 308, headers: { ...HEADERS, Location: "console/" } };
  }
  files ??= readFiles();
  const file = (await files).get(name === "" ? "index.html" : name);
  if (file === undefined) return undefined;
  const headers = { ...HEADERS, "Content-Type": file.type, ETag: file.etag };
  if (request.headers.get("if-none-match") === file.etag) return { body: null, status: 304, headers };
  if (!/\bgzip\b/.test(request.headers.get("accept-encoding") ?? "")) return { body: file.plain, status: 200, headers };
  return { body: file.packed, status: 200, headers: { ...headers, "Content-Encoding": "gzip" } };
}

/** Only what is found here is served: no name of a request becomes a path. */
async function readFiles(): Promise<ReadonlyMap<string, ConsoleFile>> {
  const found = new Map<string, ConsoleFile>();
  for (const name of namesBelow("")) {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    const plain = Deno.readFileSync(`${ROOT}${BROWSER}/${name}`);
    const packed = await gzip(plain);
    found.set(name, { type, plain, packed, etag: `W/"${hashHex(plain, "sha256").slice(0, 32)}"` });
  }
  return found;
}

function namesBelow(folder: string): string[] {
  return [...Deno.readDirSync(`${ROOT}${BROWSER}/${folder}`)].flatMap(({ name, isDirectory }) =>
    isDirectory ? namesBelow(`${folder}${name}/`) : [`${folder}${name}`]
  );
}
