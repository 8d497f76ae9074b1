/**
 * Which options of a mount force a remount: those that the kernel does not show, and would if they held.
 * Source: Salt 3008.3 `salt/states/mount.py` mounted.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Options that the kernel does not show. */
const INVISIBLE = [
  ...["_netdev", "actimeo", "bg", "comment", "defaults", "delay_connect", "direct-io-mode", "intr", "loop", "nointr"],
  ...["nobootwait", "nofail", "password", "reconnect", "retry", "soft", "auto", "users", "bind", "nonempty"],
  ...["transform_symlinks", "port", "backup-volfile-servers"],
];

/** Those of them that have a value. */
const INVISIBLE_KEYS = [
  ...["actimeo", "comment", "credentials", "direct-io-mode", "password", "port", "retry", "secretfile"],
];

/** By file system, options whose change needs no remount. */
const IGNORED: ValueMap = new Map([["ramfs", ["size"]]]);

/** Options that are shown under another name. */
const TRANSLATED: ValueMap = new Map([["tcp", "proto=tcp"], ["udp", "proto=udp"]]);

/** A state's rules for options, besides those of Salt. */
export interface OptionRules {
  readonly extra_mount_invisible_options: Value;
  readonly extra_mount_invisible_keys: Value;
  readonly extra_mount_ignore_fs_keys: Value;
  readonly extra_mount_translate_options: Value;
  readonly hidden_opts: readonly string[];
}

/** What is mounted now: its options, and those of the file system. */
export interface ActiveOptions {
  readonly opts: readonly string[];
  readonly superopts: readonly string[];
}

/** A list of texts; of anything else nothing. */
export function texts(value: Value | undefined): string[] {
  return listOrEmpty(value).map(str);
}

const KILOBYTES: Readonly<Record<string, number>> = { k: 1, m: 1024, g: 1024 * 1024 };

/** A size in kilobytes, as the kernel shows it; `undefined` if the option is none. */
function shownSize(option: string): string | undefined {
  const match = /^size=([0-9]+)([kmg])/.exec(option);
  return match === null ? undefined : `size=${Number(match[1]) * KILOBYTES[match[2]]}k`;
}

/** An option that names a user or a group, with its number. */
async function numberOwner(option: string, context: StateContext): Promise<string> {
  const [key, name] = option.split("=");
  const fun = key === "uid" ? "user.info" : key === "gid" ? "group.info" : undefined;
  if (fun === undefined || name === undefined || /^[0-9]+$/.test(name)) return option;
  const info = await context.call(fun, [name]);
  const id = isMap(info) ? info.get(key) : undefined;
  return `${key}=${id === undefined ? name : str(id)}`;
}

/** Which of `options` force a remount, as the kernel would show them, and the last one that was looked at. */
export async function changedOptions(
  options: readonly string[],
  { fstype, active, rules }: {
    readonly fstype: string;
    readonly active: ActiveOptions;
    readonly rules: OptionRules;
  },
  context: StateContext,
): Promise<{ readonly changed: string[]; readonly last: string }> {
  const { extra_mount_ignore_fs_keys: ignores, extra_mount_translate_options: translates } = rules;
  const invisible = [...INVISIBLE, ...texts(rules.extra_mount_invisible_options), ...rules.hidden_opts];
  const keys = [...INVISIBLE_KEYS, ...texts(rules.extra_mount_invisible_keys)];
  const ignored = texts(new Map([...IGNORED, ...isMap(ignores) ? ignores : []]).get(fstype));
  const translated: ValueMap = new Map([...TRANSLATED, ...isMap(translates) ? translates : []]);
  const superopts = active.superopts.map((one) => shownSize(one) ?? one);
  const activeSize = superopts.find((one) => shownSize(one) !== undefined);
  const activeOptions = new Set([...active.opts, ...superopts, ...invisible, ...ignored, ...keys]);
  const changed: string[] = [];
  let last = "";
  for (const given of options) {
    let option = str(translated.get(given) ?? given);
    if (keys.includes(option.split("=")[0])) option = option.split("=")[0];
    option = shownSize(option) ?? option;
    const [key, value] = option.split("=");
    if (fstype === "cifs" && key === "user") option = `username=${value ?? ""}`;
    if (ignored.includes(option.split("=")[0])) option = option.split("=")[0];
    option = await numberOwner(option, context);
    // As in Salt: of a file system that shows a size no option forces a remount.
    last = activeSize ?? option;
    if (!activeOptions.has(last)) changed.push(last);
  }
  return { changed, last };
}

/** The options that were written at the last mount, and are not wanted any more. */
export async function droppedOptions(
  path: string,
  options: readonly string[],
  context: StateContext,
): Promise<string[] | undefined> {
  const cache = await context.call("mount.read_mount_cache", [path]);
  const cached = isMap(cache) ? cache.get("opts") : undefined;
  return cached === undefined ? undefined : texts(cached).filter((one) => !options.includes(one));
}
