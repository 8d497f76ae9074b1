/**
 * The attributes that `lsattr` shows and `chattr` sets, and SELinux's contexts: by the programs, as Salt does.
 * Source: Salt 3008.3, `salt/modules/file.py`; e2fsprogs; chcon(1).
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { mayExist } from "#lib/os/file_kind.ts";
import { which } from "#lib/programs/which.ts";
import { str, type Value } from "#lib/values/value.ts";
import type { FileHost, SelinuxContext } from "./file_host.ts";

/** Letters of attributes that old and newer versions know. */
const LETTERS = { old: /[acdijstuADST]/g, newer: /[aAcCdDeijPsStTu]/g };

/**
 * The argument `attrs`: a text or, as `cron.file` gives it, a list of letters; null if attributes are not looked at.
 */
export function attributeLetters(attrs: Value): string | null {
  if (attrs === null) return null;
  return Array.isArray(attrs) ? attrs.map(str).join("") : str(attrs);
}

/**
 * The attributes of each file in the output of `lsattr`.
 * @param extended Whether the version is above 1.41.12.
 */
export function parseLsattr(output: string, extended: boolean): Map<string, string[]> {
  const attributes = new Map<string, string[]>();
  for (const line of output.split("\n")) {
    const parts = /^\s*(\S+)\s+(.*)$/.exec(line);
    if (line.startsWith("lsattr: ") || parts === null) continue;
    attributes.set(parts[2], parts[1].match(extended ? LETTERS.newer : LETTERS.old) ?? []);
  }
  return attributes;
}

/** Whether `tune2fs` says that it is newer than 1.41.12. */
export function isNewE2fsprogs(output: string): boolean {
  const version = /tune2fs ([0-9.]+)/.exec(output)?.[1].split(".").map(Number);
  if (version === undefined) return false;
  const wanted = [1, 41, 12];
  const place = wanted.findIndex((part, i) => (version[i] ?? 0) !== part);
  return place < 0 ? version.length > wanted.length : (version[place] ?? 0) > wanted[place];
}

/**
 * `file.lsattr`: None where there is no `lsattr`.
 * @throws {InvocationError} If there is no such file.
 */
export async function listAttributes(path: string, host: FileHost): Promise<Map<string, string[]> | null> {
  if (which("lsattr") === undefined) return null;
  if (!mayExist(path)) throw new InvocationError(`File or directory does not exist: ${path}`);
  const { stdout } = await host.run(["lsattr", path], { ignoreRetcode: true, joined: true });
  const tune2fs = which("tune2fs");
  const extended = tune2fs !== undefined &&
    isNewE2fsprogs((await host.run([tune2fs], { ignoreRetcode: true, joined: true })).stdout);
  return parseLsattr(stdout, extended);
}

/** A change that `chattr` makes. */
export interface AttributeChange {
  readonly operator: "add" | "remove";
  readonly attributes: string;
  readonly flags?: string;
  readonly version?: string;
}

/** `file.chattr`: whether the program said nothing. */
export async function changeAttributes(
  files: readonly string[],
  { operator, attributes, flags, version }: AttributeChange,
  host: FileHost,
): Promise<boolean> {
  const words = ["chattr", `${operator === "add" ? "+" : "-"}${attributes}`];
  if (flags !== undefined) words.push(`-${flags}`);
  if (version !== undefined) words.push("-v", version);
  return (await host.run([...words, ...files], { joined: true })).stdout === "";
}

/** The letters to set and those to remove; each `null` if there are none. */
export interface AttributeDifference {
  readonly added: string | null;
  readonly removed: string | null;
}

/** Compares a file's attributes with those wanted. The extents flag, which cannot be removed, counts as wanted. */
export async function compareAttributes(
  path: string,
  attributes: string,
  host: FileHost,
): Promise<AttributeDifference | undefined> {
  const listed = await listAttributes(path, host);
  if (listed === null) return undefined;
  const set = new Set(listed.get(path) ?? []), wanted = new Set(attributes);
  if (set.has("e")) wanted.add("e");
  return {
    added: [...wanted].filter((letter) => !set.has(letter)).join("") || null,
    removed: [...set].filter((letter) => !wanted.has(letter)).join("") || null,
  };
}

/** `file.get_selinux_context`: the context, or Salt's sentence that there is none. */
export async function selinuxContext(path: string, host: FileHost): Promise<string> {
  const { retcode, stdout } = await host.run(["stat", "-c", "%C", path]);
  return retcode === 0 ? stdout : `No selinux context information is available for ${path}`;
}

/** The four parts of a file's context; `undefined` if it has none. */
export async function selinuxParts(path: string, host: FileHost): Promise<Required<SelinuxContext> | undefined> {
  return splitContext(await selinuxContext(path, host));
}

/** Splits a context as Salt does: it has four parts, or it is none. */
export function splitContext(context: string): { user: string; role: string; type: string; range: string } | undefined {
  const parts = context.split(":");
  if (parts.length !== 4) return undefined;
  const [user, role, type, range] = parts;
  return { user, role, type, range };
}

/**
 * `file.set_selinux_context` without `persist`: the context afterwards, or False.
 * @throws {CommandError} If there is no `chcon`.
 */
export async function setSelinuxContext(
  path: string,
  context: SelinuxContext,
  host: FileHost,
): Promise<string | false> {
  const options: readonly (readonly [string, string | null | undefined])[] = [
    ["-u", context.user],
    ["-r", context.role],
    ["-t", context.type],
    ["-l", context.range],
  ];
  const words = options.flatMap(([option, value]) => value ? [option, value] : []);
  if (which("chcon") === undefined) throw new CommandError("chcon executable not found");
  const { retcode } = await host.run(["chcon", ...words, path]);
  return retcode === 0 ? await selinuxContext(path, host) : false;
}
