/**
 * Mutants without an observable effect, each with the reason. They are not made.
 * @module
 */

/** An equivalent mutant, identified by its text: line numbers may change. */
export interface Equivalent {
  /** The path from the root of the tree. */
  readonly file: string;
  /** The line where the mutant begins, trimmed. */
  readonly code: string;
  /** As `deno task mutants` prints it. */
  readonly change: string;
  /** Why no test can observe it. */
  readonly why: string;
}

/** All equivalent mutants that are known. A test checks that each of them is still a mutant. */
export const EQUIVALENT: readonly Equivalent[] = [
  {
    file: "lib/minion/masters/return_spool.ts",
    code: "if (at < 0) return true; // it was dropped while it was being sent",
    change: "return true; → {}",
    why: "the last entry is put where it is, and true is returned too",
  },
  {
    file: "lib/host/filesystem/managing.ts",
    code:
      'if (sfn !== "" || sum === undefined || schemeOf(source) !== "salt" || (!follow && isLink(name))) return false;',
    change: 'sfn !== "" || sum === undefined → sum === undefined',
    why: "a copy of the source that is given is used in any case; the file is only hashed once more",
  },
  {
    file: "lib/host/filesystem/checksums.ts",
    code: "const BLOCK = 65_536;",
    change: "65_536 → 65_536 * 1000",
    why: "the digest is the same; 64 MB are read at once",
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
    file: "lib/crypto/crypticle.ts",
    code: "if (bytes >= SMALL_BYTES) {",
    change: ">= → >",
    why: "both ways to seal give the same bytes; the bound is one of speed",
  },
  {
    file: "lib/sockets/connection_shares.ts",
    code: "#max = 0;",
    change: "0 → 1",
    why: "it is not read while there is no connection, and the first makes it 1",
  },
  {
    file: "lib/sockets/connection_shares.ts",
    code: "this.#max = to > from ? Math.max(this.#max, to) : this.#bySize.has(this.#max) ? this.#max : this.#max - 1;",
    change: "> → >=",
    why: "the count of an address changes by one each time: it is never the same",
  },
  {
    file: "lib/sockets/connection_limiter.ts",
    code: "for (let inARow = 0; await wait.until(() => socket.readable, Infinity);) {",
    change: "0 → 1",
    why: "other sockets get their turn one event earlier, only the first time",
  },
  {
    file: "lib/keys/shared_table.ts",
    code: "for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);",
    change: "< → <=",
    why: "the code past the end is NaN, which counts as 0: another hash, equally good",
  },
  {
    file: "lib/keys/shared_key.ts",
    code: "const HEADER_BYTES = 8;",
    change: "8 → 9",
    why: "one byte more than needed, in every view",
  },
  {
    file: "lib/keys/sessions.ts",
    code: "const READY = 512;",
    change: "512 → 513",
    why: "the size of a cache",
  },
  {
    file: "lib/keys/verified_tokens.ts",
    code: "const DIGEST_BYTES = 16;",
    change: "16 → 17",
    why: "a longer digest is equally good",
  },
  {
    file: "lib/keys/shared_table.ts",
    code: "const DIGEST_BYTES = 16;",
    change: "16 → 17",
    why: "a longer digest is equally good",
  },
  {
    file: "lib/crypto/same_bytes.ts",
    code: "for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;",
    change: "< → <=",
    why: "both are undefined past their common length",
  },
  {
    file: "lib/minion/masters/publish_reader.ts",
    code: "#lastSerial = 0;",
    change: "0 → 1",
    why: "it is read only after a sign-in, which sets it",
  },
  {
    file: "lib/crypto/aes.ts",
    code: "for (let byte = 0; byte < 256; byte++) {",
    change: "< → <=",
    why: "a write past the end of a typed array has no effect",
  },
  {
    file: "lib/crypto/aes.ts",
    code: "for (let i = length, constant = 1; i < words.length; i++) {",
    change: "< → <=",
    why: "a write past the end of a typed array has no effect",
  },
  {
    file: "lib/crypto/aes.ts",
    code: "for (let i = 0; i < words.length; i++) {",
    change: "< → <=",
    why: "a write past the end of a typed array has no effect",
  },
  {
    file: "lib/auth/tokens.ts",
    code: "writeFileAtomic(this.#path(token), file, { mode: 0o600, makeDirectory: true });",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/keys/sessions.ts",
    code: "writeFileAtomic(this.#path(id), generateKeyString(), { mode: 0o600, makeDirectory: true });",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/keys/store.ts",
    code: "writeFileAtomic(this.#path(id, state), pem, { mode: 0o600, sync: true });",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/auth/tokens.ts",
    code: "const ENTROPY_BYTES = 512;",
    change: "512 → 513",
    why: "more random bytes give a token of the same length",
  },
  {
    file: "lib/auth/auth_list.ts",
    code: 'if (typeof name !== "string" || name === "*" || !Array.isArray(entries)) continue;',
    change: 'typeof name !== "string" || name === "*" → typeof name !== "string"',
    why: "the entry is taken for a user of that name alone, who has its rules either way",
  },
  {
    file: "modules/auth/pam.ts",
    code: "if (Deno.uid() === 0) return true;",
    change: "return true; → {}",
    why: "root can read /etc/shadow, which is looked at next",
  },
  {
    file: "lib/auth/libpam.ts",
    code: "const PAM_BUF_ERR = 5;",
    change: "5 → 6",
    why: "PAM and its modules look only whether it is 0",
  },
  {
    file: "lib/auth/libpam.ts",
    code: "const PAM_CONV_ERR = 19;",
    change: "19 → 20",
    why: "PAM and its modules look only whether it is 0",
  },
  {
    file: "lib/auth/libpam.ts",
    code: "const MAX_MESSAGES = 32;",
    change: "32 → 33",
    why: "libpam itself passes on no more than 32",
  },
  {
    file: "lib/files/backends/list_cache.ts",
    code: "const MAX_CACHED = 64;",
    change: "64 → 65",
    why: "the size of a cache",
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
    file: "lib/master/functions/processes.ts",
    code: "if (await budget.allows(Promise.all(this.#serving))) return;",
    change: "return; → {}",
    why: "all processes have ended: there is none to kill",
  },
  {
    file: "lib/files/git/git_program.ts",
    code: "let length = 0, whole = true;",
    change: "0 → 1",
    why: "one byte of 512 MiB",
  },
  {
    file: "lib/files/git/update_lock.ts",
    code: "return pid !== Deno.pid && !lexistsOrThrow(`/proc/${pid}`);",
    change: "pid !== Deno.pid && !lexistsOrThrow(`/proc/${pid}`) → !lexistsOrThrow(`/proc/${pid}`)",
    why: "this process is among those of /proc",
  },
  {
    file: "lib/keys/accepted_keys.ts",
    code: "const KNOWN = 512;",
    change: "512 → 513",
    why: "the size of a cache",
  },
  {
    file: "lib/keys/accepted_keys.ts",
    code: "if (proof?.version === version && sameBytes(proof.token, token)) return true;",
    change: "return true; → {}",
    why: "the threads' common memory of tokens says the same, after two digests more",
  },
  {
    file: "lib/master/functions/processes.ts",
    code: "if (this.#closed || this.#running[kind].size >= this.#bounds[kind].running) return;",
    change:
      "this.#closed || this.#running[kind].size >= this.#bounds[kind].running → this.#running[kind].size >= this.#bounds[kind].running",
    why: "nothing waits after close",
  },
  {
    file: "lib/files/backends/walk_roots.ts",
    code: "else if (isListed) return;",
    change: "return; → {}",
    why: "nothing follows it",
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
    file: "lib/pillar/reads.ts",
    code: 'return equals(a, b) && (typeof a === "string" || sameBytes(encode(a, "disk"), encode(b, "disk")));',
    change:
      'typeof a === "string" || sameBytes(encode(a, "disk"), encode(b, "disk")) → sameBytes(encode(a, "disk"), encode(b, "disk"))',
    why: "equal texts have equal bytes; the condition is one of speed",
  },
  {
    file: "lib/pillar/processes.ts",
    code: "#number = 0;",
    change: "0 → 1",
    why: "the answer has the number of its request, whatever the first one is",
  },
  {
    file: "lib/host/filesystem/line_editing.ts",
    code: "const DOTALL = 16;",
    change: "16 → 17",
    why: "Python's flag 1 has no effect",
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
    file: "lib/host/filesystem/ownership.ts",
    code: 'if (group === null) return "";',
    change: 'return ""; → {}',
    why: "no group is called None",
  },
  {
    file: "lib/host/filesystem/text_replacing.ts",
    code: "const PSED_FLAGS: Readonly<Record<string, number>> = { I: 2, L: 4, M: 8, S: 16, U: 32, X: 64 };",
    change: "4 → 5",
    why: "Python's flag 1 has no effect",
  },
  {
    file: "lib/pillar/sls.ts",
    code: "return;",
    change: "return; → {}",
    why: "what was added a line before is not added again",
  },
  {
    file: "lib/pillar/sls_cache.ts",
    code: "if (count > max) break;",
    change: "break; → {}",
    why: "the count is above the bound either way; the bound is one of speed",
  },
  {
    file: "lib/pillar/service.ts",
    code: "if (!minion_data_cache || pillarenv !== null) return false;",
    change: "return false; → {}",
    why: "nothing is stored then: the method that stores looks at the same options",
  },
  {
    file: "lib/pillar/service.ts",
    code: "if (!minion_data_cache || pillarenv !== null) return false;",
    change: "!minion_data_cache || pillarenv !== null → !minion_data_cache",
    why: "nothing is stored then: the method that stores looks at the same options",
  },
  {
    file: "lib/pillar/service.ts",
    code: "if (!minion_data_cache || pillarenv !== null) return false;",
    change: "!minion_data_cache || pillarenv !== null → pillarenv !== null",
    why: "nothing is stored then: the method that stores looks at the same options",
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
  {
    file: "lib/host/filesystem/diffs.ts",
    code: "if (!ignoresSomething(ignoring)) return diff.length > 0;",
    change: "> → >=",
    why: "a diff without lines is answered before",
  },
  {
    file: "lib/host/filesystem/acl_output.ts",
    code: "continue;",
    change: "continue; → {}",
    why: "a line that is no comment has no key: the next statement passes it over",
  },
  {
    file: "lib/host/filesystem/sources.ts",
    code:
      "if (sfn === \"\" || !lexists(sfn)) throw new Unmanageable(`Source file '${hidePassword(source)}' not found`, sfn);",
    change: 'sfn === "" || !lexists(sfn) → !lexists(sfn)',
    why: "no file has an empty name",
  },
  {
    file: "lib/keys/derived_sessions.ts",
    code: "const READY = 512;",
    change: "512 → 513",
    why: "the size of a cache",
  },
  {
    file: "lib/keys/followers.ts",
    code: 'if (statIfExists(path) === undefined) writeFileAtomic(path, "", { mode: 0o600, makeDirectory: true });',
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/keys/shared_key.ts",
    code: "const KEYS = 3;",
    change: "3 → 4",
    why: "memory for one key more, which nobody uses",
  },
  {
    file: "lib/auth/tokens.ts",
    code:
      "if (file !== undefined) return writeFileAtomic(this.#path(token), file, { mode: 0o600, makeDirectory: true });",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/auth/tokens.ts",
    code: "if (own.length <= MAX_OF_USER) return;",
    change: "<= → <",
    why: "of as many as there may be, none is beyond",
  },
  {
    file: "lib/auth/first_user.ts",
    code: "const own = { mode: 0o600, makeDirectory: true };",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/auth/first_user.ts",
    code: "const PASSWORD_BYTES = 15;",
    change: "15 → 16",
    why: "a longer random password is equally good",
  },
  {
    file: "lib/auth/audit_log.ts",
    code: "const TAIL_BYTES = 8192;",
    change: "8192 → 8192 * 1000",
    why: "the last line is the same; more is read to find it",
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
    file: "lib/keys/shared_key.ts",
    code: "const KEY_LENGTH = 76;",
    change: "76 → 77",
    why: "one byte more than needed, which is cut off again",
  },
  {
    file: "lib/files/backends/list_cache.ts",
    code: "if (nowMs - (this.#looked.get(saltenv) ?? -LOOK_MS) < LOOK_MS) return false;",
    change: "< → <=",
    why: "a look a moment later",
  },
  {
    file: "lib/auth/audit_log.ts",
    code: "for (let n: number | null = 0; n !== null && read < bytes.length; read += n ?? 0) {",
    change: "0 → 1",
    why: "the first read sets it",
  },
  {
    file: "lib/auth/audit_log.ts",
    code: "let low = 0, high = size;",
    change: "0 → 1",
    why: "a byte of a place that is known to 64 KiB",
  },
  {
    file: "lib/host/filesystem/file_watches.ts",
    code: "if (this.#closed) return;",
    change: "return; → {}",
    why: "ending the wait twice is allowed there, too",
  },
  {
    file: "lib/cluster/publish_log.ts",
    code: "const MOST_ROWS = 200;",
    change: "200 → 201",
    why: "the number of rows of one statement",
  },
  {
    file: "lib/cluster/publish_log.ts",
    code: 'if (Date.now() > (toNumber(stored.get("until_ms")) ?? 0) + SKEW_MS) {',
    change: "> → >=",
    why: "one millisecond of a minute",
  },
  {
    file: "lib/jobs/redelivery.ts",
    code: "if (nowMs > untilMs) {",
    change: "> → >=",
    why: "one millisecond, by a clock with fractions of it",
  },
  {
    file: "lib/jobs/undelivered.ts",
    code: "mode: 0o600,",
    change: "mode: 0o600, → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/jobs/undelivered.ts",
    code: 'if (!isMap(record) || record.get("kind") !== "undelivered") return false;',
    change: '!isMap(record) || record.get("kind") !== "undelivered" → !isMap(record)',
    why: "no other record of the journal has a field of that name",
  },
  {
    file: "lib/jobs/undelivered.ts",
    code: "writeFileAtomic(path, sealed, { mode: 0o600, makeDirectory: true });",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/master/publisher/delivery.ts",
    code: "const ASKED_JOBS = 500;",
    change: "500 → 501",
    why: "the number of jobs of one question",
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: 'writeFileAtomic(path, lines.join(""), { mode: 0o600, sync: this.#options.journal !== undefined });',
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/minion/masters/return_spool.ts",
    code: "const AT_HAND = 16;",
    change: "16 → 17",
    why: "the size of a cache",
  },
  {
    file: "lib/minion/masters/return_spool.ts",
    code: "writeFileAtomic(`${this.#options.directory}/${entry.name}`, encoded, { mode: 0o600 });",
    change: "mode: 0o600 → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
];
