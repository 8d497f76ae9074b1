/**
 * Equivalent mutants of lib/host/filesystem.
 * @module
 */

import type { EquivalentMutant } from "./equivalent_mutant.ts";

/** See the module. */
export const FILESYSTEM: readonly EquivalentMutant[] = [
  {
    file: "lib/host/filesystem/acl_output.ts",
    code: "continue;",
    change: "continue; → {}",
    why: "a line that is no comment has no key: the next statement passes it over",
  },
  {
    file: "lib/host/filesystem/backups.ts",
    code: "Deno.chmodSync(copy.path, (info.mode ?? 0o600) & 0o7777);",
    change: "0o600 → 0o644",
    why: "the runtime knows the mode of every file of Linux and macOS",
  },
  {
    file: "lib/host/filesystem/backups.ts",
    code: "Deno.chmodSync(made.path, (old.mode ?? 0o600) & 0o7777);",
    change: "0o600 → 0o644",
    why: "the runtime knows the mode of every file of Linux and macOS",
  },
  {
    file: "lib/host/filesystem/checksums.ts",
    code: "const BLOCK = 65_536;",
    change: "65_536 → 65_536 * 1000",
    why: "the digest is the same; 64 MB are read at once",
  },
  {
    file: "lib/host/filesystem/contents.ts",
    code: "Deno.chmodSync(made.path, (old.mode ?? 0o600) & 0o7777);",
    change: "0o600 → 0o644",
    why: "the runtime knows the mode of every file of Linux and macOS",
  },
  {
    file: "lib/host/filesystem/contents.ts",
    code: "Deno.chmodSync(made.path, (info.mode ?? 0o600) & 0o7777);",
    change: "0o600 → 0o644",
    why: "the runtime knows the mode of every file of Linux and macOS",
  },
  {
    file: "lib/host/filesystem/contents.ts",
    code: "const COPY_BLOCK = 1 << 18;",
    change: "1 << 18 → (1 << 18) * 1000",
    why: "the same bytes are copied and compared, in larger pieces",
  },
  {
    file: "lib/host/filesystem/contents.ts",
    code: "if (size !== second.statSync().size) return false;",
    change: "return false; → {}",
    why: "files of other sizes have other bytes; the bound is one of speed",
  },
  {
    file: "lib/host/filesystem/diffs.ts",
    code: "if (!ignoresSomething(ignoring)) return diff.length > 0;",
    change: "> → >=",
    why: "a diff without lines is answered before",
  },
  {
    file: "lib/host/filesystem/file_watches.ts",
    code: "if (number < 0) return this.#reportRefusal(path);",
    change: "< → <=",
    why: "the kernel counts watches from 1",
  },
  {
    file: "lib/host/filesystem/file_watches.ts",
    code: "continue;",
    change: "continue; → {}",
    why: "the report of an overflow is of no watch: the next line leaves it out",
  },
  {
    file: "lib/host/filesystem/file_watches.ts",
    code: "if (this.#closed) return;",
    change: "return; → {}",
    why: "ending the wait twice is allowed there, too",
  },
  {
    file: "lib/host/filesystem/followed_file.ts",
    code: "const CHUNK = 1 << 16;",
    change: "1 << 16 → (1 << 16) * 1000",
    why: "the same bytes in fewer reads",
  },
  {
    file: "lib/host/filesystem/followed_file.ts",
    code: "#inode = 0;",
    change: "0 → 1",
    why: "no file that is written to has either number; opening one sets it",
  },
  {
    file: "lib/host/filesystem/followed_file.ts",
    code: "#at = 0;",
    change: "0 → 1",
    why: "it is read only while a file is open, and opening one sets it",
  },
  {
    file: "lib/host/filesystem/line_editing.ts",
    code: "const DOTALL = 16;",
    change: "16 → 17",
    why: "Python's flag 1 has no effect",
  },
  {
    file: "lib/host/filesystem/managing.ts",
    code:
      'if (sfn !== "" || sum === undefined || schemeOf(source) !== "salt" || (!follow && isLink(name))) return false;',
    change: 'sfn !== "" || sum === undefined → sum === undefined',
    why: "a copy of the source that is given is used in any case; the file is only hashed once more",
  },
  {
    file: "lib/host/filesystem/ownership.ts",
    code: 'if (group === null) return "";',
    change: 'return ""; → {}',
    why: "no group is called None",
  },
  {
    file: "lib/host/filesystem/sources.ts",
    code:
      "if (sfn === \"\" || !lexists(sfn)) throw new Unmanageable(`Source file '${hidePassword(source)}' not found`, sfn);",
    change: 'sfn === "" || !lexists(sfn) → !lexists(sfn)',
    why: "no file has an empty name",
  },
  {
    file: "lib/host/filesystem/text_replacing.ts",
    code: "const PSED_FLAGS: Readonly<Record<string, number>> = { I: 2, L: 4, M: 8, S: 16, U: 32, X: 64 };",
    change: "2 → 3",
    why: "Python's flag 1 has no effect",
  },
  {
    file: "lib/host/filesystem/text_replacing.ts",
    code: "const PSED_FLAGS: Readonly<Record<string, number>> = { I: 2, L: 4, M: 8, S: 16, U: 32, X: 64 };",
    change: "8 → 9",
    why: "Python's flag 1 has no effect",
  },
  {
    file: "lib/host/filesystem/text_replacing.ts",
    code: "const PSED_FLAGS: Readonly<Record<string, number>> = { I: 2, L: 4, M: 8, S: 16, U: 32, X: 64 };",
    change: "4 → 5",
    why: "Python's flag 1 has no effect",
  },
  {
    file: "lib/host/filesystem/text_replacing.ts",
    code: "const PSED_FLAGS: Readonly<Record<string, number>> = { I: 2, L: 4, M: 8, S: 16, U: 32, X: 64 };",
    change: "32 → 33",
    why: "Python's flag 1 has no effect",
  },
  {
    file: "lib/host/filesystem/text_replacing.ts",
    code: "const PSED_FLAGS: Readonly<Record<string, number>> = { I: 2, L: 4, M: 8, S: 16, U: 32, X: 64 };",
    change: "64 → 65",
    why: "Python's flag 1 has no effect",
  },
];
