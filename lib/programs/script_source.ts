/**
 * Copies a script to a temporary file that only its user can read and execute. Supports local paths, `file://` and
 * `http(s)://`, and `salt://` by the caller's file client.
 * Source: Salt 3008.3, `salt/modules/cmdmod.py` script, `salt/fileclient.py`.
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { isTrustedPath } from "#lib/os/trusted_path.ts";
import type { User } from "#lib/os/users.ts";

/** Options of a copy. */
export interface ScriptCopy {
  /**
   * Directory of the copy; default: the system's temporary directory. That is also used instead of a directory in which
   * others could replace root's file.
   */
  readonly directory?: string;
  /** Its owner; default: this process's user. */
  readonly owner?: User;
  /** Aborts a download. */
  readonly signal: AbortSignal;
  /**
   * Fetches a file of the file server.
   * @returns The path of a copy; `undefined` if there is no such file.
   */
  fetch(url: string): Promise<string | undefined>;
  /** Renders the script, if it is a template. */
  readonly render?: (text: string) => Promise<string>;
}

/**
 * Copies the script at `source`, with mode 0500.
 * @returns The copy's path, which the caller removes; or the reason why the script is not available.
 * @throws {CommandError} If `source` is no absolute path and its scheme is not supported.
 */
export async function copyScript(
  source: string,
  copy: ScriptCopy,
): Promise<{ readonly path: string } | { readonly problem: string }> {
  const contents = await read(source, copy);
  if (typeof contents === "string") return { problem: contents };
  const suffix = /(?<=[^/.][^/]*)\.[^./]*$/.exec(source.replace(/[?#].*$/s, ""))?.[0] ?? "";
  const path = await Deno.makeTempFile({ dir: safeDirectory(copy), prefix: "__salt.tmp.", suffix });
  try {
    if (copy.render === undefined) await Deno.writeFile(path, contents);
    else await Deno.writeTextFile(path, await copy.render(new TextDecoder().decode(contents)));
    await Deno.chmod(path, 0o500);
    if (copy.owner !== undefined && copy.owner.uid !== Deno.uid()) await Deno.chown(path, copy.owner.uid, null);
    return { path };
  } catch (error) {
    await Deno.remove(path);
    throw error;
  }
}

const ROOT: User = { name: "root", passwd: "x", uid: 0, gid: 0, gecos: "", home: "/", shell: "" };

function safeDirectory({ directory, owner = ROOT }: ScriptCopy): string | undefined {
  if (Deno.uid() !== 0 || !directory?.startsWith("/")) return directory;
  return isTrustedPath(`${directory}/script`, owner) ? directory : undefined;
}

/** The script, or the reason why it cannot be read. */
async function read(source: string, { signal, fetch: fetchFile }: ScriptCopy): Promise<Uint8Array | string> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(source)?.[1].toLowerCase();
  try {
    switch (scheme) {
      case undefined:
        if (!source.startsWith("/")) throw new CommandError(`Path '${source}' is not absolute`);
        return await Deno.readFile(source);
      case "file":
        return await Deno.readFile(new URL(source));
      case "http":
      case "https": {
        const response = await fetch(source, { signal });
        if (response.ok) return await response.bytes();
        await response.body?.cancel();
        return `Cannot fetch ${source}: the server answered ${response.status} ${response.statusText}`.trimEnd();
      }
      case "salt": {
        const path = await fetchFile(source);
        return path === undefined
          ? `Cannot fetch ${source}: the file server has no such file`
          : await Deno.readFile(path);
      }
      default:
        throw new CommandError(`Cannot fetch '${source}': ${scheme}:// is not supported`);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CommandError) throw error;
    return `Cannot fetch ${source}: ${fetchReason(error)}`;
  }
}

/**
 * The reason why a read or a download failed. For a download it is in the cause, after the address, which is left out.
 */
function fetchReason(error: unknown): string {
  const cause = error instanceof TypeError ? error.cause : undefined;
  return cause === undefined
    ? messageOf(error)
    : messageOf(cause).replace(/^error sending request for url \(.*?\): /, "");
}
