/**
 * Equivalent mutants of lib/files.
 * @module
 */

import type { EquivalentMutant } from "./equivalent_mutant.ts";

/** See the module. */
export const FILES: readonly EquivalentMutant[] = [
  {
    file: "lib/files/backends/list_cache.ts",
    code: "const MAX_CACHED = 64;",
    change: "64 → 65",
    why: "the size of a cache",
  },
  {
    file: "lib/files/backends/list_cache.ts",
    code: "if (nowMs - (this.#looked.get(saltenv) ?? -LOOK_MS) < LOOK_MS) return false;",
    change: "< → <=",
    why: "a look a moment later",
  },
  {
    file: "lib/files/backends/mtime_map.ts",
    code: "continue;",
    change: "continue; → {}",
    why: "a directory has no time: the check after it leaves it out",
  },
  {
    file: "lib/files/backends/pieces.ts",
    code: "const DIGESTED = 1 << 20;",
    change: "1 << 20 → (1 << 20) * 1000",
    why: "both ways give the same digest; the bound is one of speed and memory",
  },
  {
    file: "lib/files/backends/pieces.ts",
    code: "export const SMALL = 1 << 16;",
    change: "1 << 16 → (1 << 16) * 1000",
    why: "both ways give the same digest; the bound is one of speed",
  },
  {
    file: "lib/files/backends/received_files.ts",
    code: "if (await isDirectory(path)) return false;",
    change: "return false; → {}",
    why: "a file cannot be renamed to a directory: that is refused as well",
  },
  {
    file: "lib/files/backends/received_files.ts",
    code:
      'if (normal === "." || normal.startsWith("/") || normal === ".." || normal.startsWith("../")) return undefined;',
    change: 'normal === "." || normal.startsWith("/") → normal.startsWith("/")',
    why: "the second of two locks: the path with its links followed is compared, and a directory is no file",
  },
  {
    file: "lib/files/backends/received_files.ts",
    code:
      'if (normal === "." || normal.startsWith("/") || normal === ".." || normal.startsWith("../")) return undefined;',
    change: 'normal === "." || normal.startsWith("/") || normal === ".." → (normal === "." || normal.startsWith("/"))',
    why: "the second of two locks: the path with its links followed is compared, and a directory is no file",
  },
  {
    file: "lib/files/backends/received_files.ts",
    code:
      'if (normal === "." || normal.startsWith("/") || normal === ".." || normal.startsWith("../")) return undefined;',
    change:
      'normal === "." || normal.startsWith("/") || normal === ".." || normal.startsWith("../") → (normal === "." || normal.startsWith("/") || normal === "..")',
    why: "the second of two locks: the path with its links followed is compared, and a directory is no file",
  },
  {
    file: "lib/files/backends/root_files.ts",
    code: 'if (path.includes("\\0") || root.includes("\\0")) return false;',
    change: 'path.includes("\\0") || root.includes("\\0") → path.includes("\\0")',
    why: "the path contains the root, or is absolute and below no such root",
  },
  {
    file: "lib/files/backends/root_files.ts",
    code: "if (!isBelow(lexicalRoot, lexical)) return false;",
    change: "return false; → {}",
    why: "the second of two locks: the path with its links followed is compared, too",
  },
  {
    file: "lib/files/backends/root_files.ts",
    code: 'if (existing === "/" || existing === lexicalRoot) return true;',
    change: 'existing === "/" || existing === lexicalRoot → existing === lexicalRoot',
    why: "there is always a /",
  },
  {
    file: "lib/files/backends/walk_roots.ts",
    code: "if (!directory) return;",
    change: "return; → {}",
    why: "a file that is taken for a directory cannot be read as one, and is left out then",
  },
  {
    file: "lib/files/backends/walk_roots.ts",
    code: "else if (isListed) return;",
    change: "return; → {}",
    why: "nothing follows it",
  },
  {
    file: "lib/files/client/downloads.ts",
    code: "else await body.pipeTo(file.writable, { signal: options.signal });",
    change: "signal: options.signal → ",
    why: "the signal of the request ends the body of its answer, too",
  },
  {
    file: "lib/files/client/file_digest.ts",
    code: "const BLOCK = 1 << 20;",
    change: "1 << 20 → (1 << 20) * 1000",
    why: "both ways give the same digest; the bound is one of speed and memory",
  },
  {
    file: "lib/files/client/file_digest.ts",
    code: "const SMALL = 1 << 16;",
    change: "1 << 16 → (1 << 16) * 1000",
    why: "both ways give the same digest; the bound is one of speed",
  },
  {
    file: "lib/files/client/placing.ts",
    code: "const BLOCK = 1 << 20;",
    change: "1 << 20 → (1 << 20) * 1000",
    why: "the same bytes are copied, in larger pieces",
  },
  {
    file: "lib/files/client/placing.ts",
    code: "Deno.chmodSync(made.path, (mode ?? 0o600) & 0o7777);",
    change: "0o600 → 0o644",
    why: "every file of Linux has a mode",
  },
  {
    file: "lib/files/git/git_program.ts",
    code: "let length = 0, whole = true;",
    change: "0 → 1",
    why: "one byte of 512 MiB",
  },
  {
    file: "lib/files/git/remote.ts",
    code: "const MAX_TREES = 32, MAX_UNKNOWN = 1_000;",
    change: "32 → 33",
    why: "the size of a cache",
  },
  {
    file: "lib/files/git/remote.ts",
    code: "if (lexistsOrThrow(`${this.#repository}/HEAD`)) return;",
    change: "return; → {}",
    why: "git init changes nothing in a repository that is there",
  },
  {
    file: "lib/files/git/update_lock.ts",
    code: "return pid !== Deno.pid && !lexistsOrThrow(`/proc/${pid}`);",
    change: "pid !== Deno.pid && !lexistsOrThrow(`/proc/${pid}`) → !lexistsOrThrow(`/proc/${pid}`)",
    why: "this process is among those of /proc",
  },
];
