/**
 * Fetches files by http and https, a piece at a time. A file appears only when it is complete. Source: the results and
 * error texts of Salt 3008.3 `salt/fileclient.py` get_url.
 * @module
 */

import { followForChange, holdDirectory, holdOpen } from "#lib/os/held_path.ts";
import { currentUmask } from "#lib/os/umask.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { baseName, dirName } from "#lib/os/paths.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { readTextFileIfExists, removeIfExists, statIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import { unquoteUrlPart } from "#lib/text/url_parts.ts";

/** How a file is downloaded. */
export interface DownloadOptions {
  /** Whether the server's certificate is checked. Default: true. */
  readonly verifySsl?: boolean;
  /** Whether the file is kept while the server's ETag is that of the file `<dest>.etag`, which is written here. */
  readonly useEtag?: boolean;
  /** Aborts the download. */
  readonly signal: AbortSignal;
}

/** Largest contents that are held in memory. */
const MAX_BYTES = 100 * 2 ** 20;

/**
 * Downloads to `dest`, whose directory is there. An old file keeps its mode.
 * @throws {CommandError} If the server does not give it.
 */
export async function download(url: string, dest: string, options: DownloadOptions): Promise<void> {
  const etagFile = `${dest}.etag`;
  const etag = options.useEtag && isFile(dest) ? readTextFileIfExists(etagFile)?.trim() : undefined;
  const response = await request(url, options, etag === undefined ? {} : { "If-None-Match": etag });
  if (etag !== undefined && response.status === 304) {
    await response.body?.cancel();
    return;
  }
  const { body } = await requireOk(response, url);
  const target = followForChange(dest, realPath);
  using directory = holdDirectory(dirName(target));
  const part = `.${baseName(target).slice(0, 64)}.${crypto.randomUUID()}.part`, temporary = directory.at(part);
  try {
    const file = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
    using made = holdOpen(directory, part, file);
    // The stream closes the file, also when the download fails.
    if (body === null) file.close();
    else await body.pipeTo(file.writable, { signal: options.signal });
    Deno.chmodSync(made.path, (statIfExists(target)?.mode ?? 0o666 & ~currentUmask()) & 0o7777);
    Deno.renameSync(temporary, directory.at(baseName(target)));
  } catch (error) {
    removeIfExists(temporary);
    options.signal.throwIfAborted();
    if (error instanceof Deno.errors.NotCapable) throw error;
    throw unreachable(url, error);
  }
  const newTag = options.useEtag ? response.headers.get("etag") : null;
  if (newTag !== null) writeFileAtomic(etagFile, newTag, { mode: 0o644 });
}

/**
 * The contents of a URL: text if the server declares it as text, else bytes.
 * @throws {CommandError} If the server does not give it.
 */
export async function downloadContents(url: string, options: DownloadOptions): Promise<Uint8Array | string> {
  const response = await requireOk(await request(url, options, {}), url);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    for await (const piece of response.body ?? []) {
      size += piece.length;
      if (size > MAX_BYTES) throw new CommandError(`${hideCredentials(url)} is larger than ${MAX_BYTES} bytes`);
      pieces.push(piece);
    }
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof CommandError) throw error;
    throw unreachable(url, error);
  }
  const bytes = new Uint8Array(await new Blob(pieces).arrayBuffer());
  return response.headers.get("content-type")?.startsWith("text") ? new TextDecoder().decode(bytes) : bytes;
}

/** Whether the URL exists on its web server. False if the server cannot be reached. */
export async function isThere(url: string, options: DownloadOptions): Promise<boolean> {
  try {
    const response = await request(url, { ...options, method: "HEAD" }, {});
    await response.body?.cancel();
    return response.ok;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/** @throws {CommandError} If it is no URL. */
export function parseUrl(url: string): URL {
  const parsed = URL.parse(url);
  if (parsed === null) throw new CommandError(`Cannot fetch '${hideCredentials(url)}': it is no URL`);
  return parsed;
}

async function request(
  url: string,
  options: DownloadOptions & { readonly method?: "HEAD" },
  headers: Record<string, string>,
): Promise<Response> {
  const { signal, verifySsl = true, method } = options;
  if (!verifySsl && /^https:/i.test(url)) {
    throw new CommandError("The certificates of https servers are always checked: verify_ssl=False is not supported");
  }
  const plain = parseUrl(url);
  if (plain.username !== "") {
    const user = `${unquoteUrlPart(plain.username)}:${unquoteUrlPart(plain.password)}`;
    headers.Authorization = `Basic ${new TextEncoder().encode(user).toBase64()}`;
    [plain.username, plain.password] = ["", ""];
  }
  try {
    return await fetch(plain, { headers, signal, method });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Deno.errors.NotCapable) throw error;
    throw unreachable(url, error);
  }
}

/** @throws {CommandError} In Salt's words, unless the server sends the file. */
async function requireOk(response: Response, url: string): Promise<Response> {
  if (response.ok) return response;
  await response.body?.cancel();
  const { status, statusText } = response;
  throw new CommandError(`Error: HTTP ${status}: ${statusText} reading ${new URL(url).pathname}`);
}

function unreachable(url: string, error: unknown): CommandError {
  const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
  const reason = messageOf(cause).replace(/^error sending request for url \(.*?\): /, "");
  return new CommandError(`Error reading ${hideCredentials(url)}: ${reason}`);
}
