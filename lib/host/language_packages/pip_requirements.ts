/**
 * Files of requirements: found on this host or on the file server, and copied with all that they include for a user who
 * may not read them where they are. Root copies only what root alone may change: pip reads everything else with its
 * user's own rights, so that no user has root copy a file of another's for them.
 * Source: Salt 3008.3, `salt/modules/pip.py` _process_requirements.
 * @module
 */

import { includedRequirements } from "./pip_output.ts";
import { CommandError } from "#lib/errors.ts";
import { absolutePath, baseName, dirName, joinPath } from "#lib/os/paths.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { isTrustedFile } from "#lib/os/trusted_path.ts";
import { findUser } from "#lib/os/users.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { map, str, truthy } from "#lib/values/value.ts";

/** Maximum nesting of requirements files. */
const MAX_DEPTH = 32;

/** The files, until they are disposed of. */
export class Requirements implements Disposable {
  readonly #words: string[] = [];
  #copies: string | undefined;

  /** The words for pip: `--requirement path` for each file. */
  get words(): readonly string[] {
    return this.#words;
  }

  /**
   * Adds a file.
   * @returns Whether it is there.
   */
  async add(
    path: string,
    { saltenv, user, cwd, context }: {
      readonly saltenv: string;
      readonly user: string | null;
      readonly cwd: string | null;
      readonly context: JobContext;
    },
  ): Promise<boolean> {
    let local = path;
    if (path.startsWith("salt://")) {
      const cached = await context.call("cp.cache_file", [path], map({ saltenv }));
      if (!truthy(cached)) return false;
      local = str(cached);
    }
    this.#words.push("--requirement", user ? this.#copy(local, user, cwd) : local);
    return true;
  }

  /** Copies the file and what it includes to where the user can read it. */
  #copy(path: string, user: string, cwd: string | null): string {
    const owner = findUser(user);
    if (owner === undefined) throw new CommandError(`User '${user}' is not available`);
    const top = cwd === null ? absolutePath(path) : joinPath(cwd, path);
    if (isOthers(top)) return top;
    if (this.#copies === undefined) {
      this.#copies = Deno.makeTempDirSync({ prefix: "pip_requirements_" });
      // It stays this process's: in a directory of the user's own a copy could become a link before its owner changes.
      Deno.chmodSync(this.#copies, 0o711);
    }
    for (const file of includedFiles(top, MAX_DEPTH)) {
      const copy = joinPath(this.#copies, baseName(file));
      if (lexists(copy)) continue;
      Deno.writeFileSync(copy, Deno.readFileSync(file), { createNew: true, mode: 0o600 });
      Deno.chownSync(copy, owner.uid, null);
    }
    return joinPath(this.#copies, baseName(path));
  }

  [Symbol.dispose](): void {
    if (this.#copies !== undefined) Deno.removeSync(this.#copies, { recursive: true });
  }
}

function includedFiles(path: string, depth: number): string[] {
  if (depth === 0) throw new CommandError(`${path} is included too deep`);
  const children = includedRequirements(Deno.readTextFileSync(path)).map((one) => joinPath(dirName(path), one));
  const copied = children.filter((child) => !isOthers(child));
  return [path, ...copied.flatMap((child) => includedFiles(child, depth - 1))];
}

/** Whether users without root's rights may change the file, or where its path leads, while root copies it. */
function isOthers(path: string): boolean {
  return Deno.uid() === 0 && !isTrustedFile(path);
}
