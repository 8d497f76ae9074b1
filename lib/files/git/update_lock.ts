/**
 * The lock of a remote's updates: a file with the process that has it, in Salt's place and form. A lock of a process
 * that has ended is ignored. Source: Salt 3008.3 `salt/utils/gitfs.py` GitProvider.lock, clear_lock.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { messageOf } from "#lib/errors.ts";
import type { LockResult } from "#lib/plugins/file_backend.ts";
import { isGone } from "#lib/os/deno_texts.ts";
import { exists, lexistsOrThrow } from "#lib/os/file_kind.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";

/** A lock that was taken. */
interface HeldLock {
  release(): Promise<void>;
}

/** The lock of one remote. */
export class UpdateLock {
  readonly path: string;
  readonly #remote: { readonly id: string; readonly url: string };

  constructor(path: string, remote: { readonly id: string; readonly url: string }) {
    this.path = path;
    this.#remote = { id: hideCredentials(remote.id), url: hideCredentials(remote.url) };
  }

  /** Takes the lock for an update; `undefined` if another process has it, or an operator has locked updates. */
  async take(): Promise<HeldLock | undefined> {
    if (!await this.#write(`${Deno.pid}\n${await machineId()}\n`)) return undefined;
    return { release: () => this.#remove().then(() => {}) };
  }

  /** Locks updates until {@linkcode clear}. */
  async set(): Promise<LockResult> {
    try {
      // Salt notes the process of the command that locks, and takes such a lock for a left one when the command has
      // ended.
      if (!await this.#write(`0\n${await machineId()}\n`)) return { done: [], errors: [] };
      return {
        done: [`Set update lock for gitfs remote '${this.#remote.id}' on machine_id '${await machineId()}'`],
        errors: [],
      };
    } catch (error) {
      return {
        done: [],
        errors: [`Unable to set update lock for ${this.#remote.id} (${this.path}): ${messageOf(error)}`],
      };
    }
  }

  /** Allows updates again. */
  async clear(): Promise<LockResult> {
    try {
      if (!await this.#remove()) return { done: [], errors: [] };
      return {
        done: [`Removed update lock for gitfs remote '${this.#remote.id}' on machine_id '${await machineId()}'`],
        errors: [],
      };
    } catch (error) {
      return {
        done: [],
        errors: [`Unable to remove update lock for ${this.#remote.url} (${this.path}): ${messageOf(error)} `],
      };
    }
  }

  /** @returns Whether the lock is ours now. */
  async #write(text: string): Promise<boolean> {
    await Deno.mkdir(dirName(this.path), { recursive: true });
    if (await this.#create(text)) return true;
    if (!await this.#isLeft()) return false;
    await this.#remove();
    return await this.#create(text);
  }

  /** @returns Whether there was none. */
  async #create(text: string): Promise<boolean> {
    try {
      await Deno.writeTextFile(this.path, text, { createNew: true });
      return true;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      return false;
    }
  }

  /** Whether the lock is of a process of this machine that has ended. */
  async #isLeft(): Promise<boolean> {
    let lines: string[];
    try {
      lines = (await Deno.readTextFile(this.path)).split("\n");
    } catch (error) {
      if (isGone(error)) return true;
      throw error;
    }
    const pid = Number(lines[0]);
    if (!Number.isInteger(pid) || pid <= 0 || lines[1] !== await machineId()) return false;
    // One of this process is of another thread, or of an update that is still under way.
    return pid !== Deno.pid && !lexistsOrThrow(`/proc/${pid}`);
  }

  /** @returns Whether there was one. */
  async #remove(): Promise<boolean> {
    try {
      await Deno.remove(this.path);
      return true;
    } catch (error) {
      if (isGone(error)) return false;
      throw error;
    }
  }
}

async function machineId(): Promise<string> {
  for (const path of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    if (exists(path)) return (await Deno.readTextFile(path)).trim();
  }
  return "no_machine_id_available"; // Salt's words
}
