/**
 * Ext file systems: the options of mke2fs and tune2fs, and the output of dumpe2fs.
 * Source: Salt 3008.3, `salt/modules/extfs.py`; mke2fs(8), tune2fs(8), dumpe2fs(8).
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { strip } from "#lib/values/python_text.ts";

/** Salt's names of the options of mke2fs. */
export const MKFS_OPTIONS: Readonly<Record<string, string>> = {
  block_size: "b",
  check: "c",
  direct: "D",
  ext_opts: "E",
  fragment_size: "f",
  force: "F",
  blocks_per_group: "g",
  number_of_groups: "G",
  bytes_per_inode: "i",
  inode_size: "I",
  journal: "j",
  journal_opts: "J",
  blocks_file: "l",
  label: "L",
  reserved: "m",
  last_dir: "M",
  test: "n",
  number_of_inodes: "N",
  creator_os: "o",
  opts: "O",
  revision: "r",
  super: "S",
  usage_type: "T",
  uuid: "U",
  cluster_size: "C",
  root_directory: "d",
  errors_behavior: "e",
};

/** Salt's names of the options of tune2fs. */
export const TUNE_OPTIONS: Readonly<Record<string, string>> = {
  max: "c",
  count: "C",
  error: "e",
  extended_opts: "E",
  force: "f",
  group: "g",
  interval: "i",
  journal: "j",
  journal_opts: "J",
  label: "L",
  last_dir: "M",
  opts: "o",
  feature: "O",
  mmp_check: "p",
  reserved: "r",
  reserved_percentage: "m",
  quota_opts: "Q",
  time: "T",
  user: "u",
  uuid: "U",
};

/**
 * The words of options: `-L data`; one that is True has no value. Options that are not in the table are skipped, as in
 * Salt.
 */
export function extOptionWords(
  given: ReadonlyMap<string, string>,
  options: Readonly<Record<string, string>>,
): string[] {
  return [...given].flatMap(([name, value]) => {
    if (!Object.hasOwn(options, name)) return [];
    if (value.toLowerCase() === "true") return [`-${options[name]}`];
    // deno-lint-ignore no-control-regex
    if (value === "" || /[\x00-\x1f\x7f]/.test(value)) {
      throw new InvocationError(`Invalid ${name}: ${JSON.stringify(value)}`);
    }
    return [`-${options[name]}`, value];
  });
}

/** Lines of mke2fs that report progress. */
const PROGRESS = [
  "mke2fs",
  "Discarding device blocks",
  "Allocating group tables",
  "Writing inode tables",
  "Creating journal",
  "Writing superblocks",
];

/** The lines of mke2fs that do not report progress. */
export function withoutProgress(lines: readonly string[]): string[] {
  return lines.filter((line) => line !== "" && !PROGRESS.some((one) => line.startsWith(one)));
}

/** One group of blocks. */
export interface BlockGroup {
  group: string;
  range: string;
  extra: string[];
  "free blocks"?: string[];
  "free inodes"?: string[];
}

/** Parses the output of dumpe2fs: the attributes and the block groups. */
export function parseDumpe2fs(text: string): {
  readonly attributes: Map<string, string | string[]>;
  readonly blocks: Map<string, BlockGroup>;
} {
  const attributes = new Map<string, string | string[]>();
  const blocks = new Map<string, BlockGroup>();
  let current: BlockGroup | undefined;
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("dumpe2fs")) continue;
    const isGroup = line.startsWith("Group") && (current !== undefined || !line.startsWith("Group descriptor size"));
    if (isGroup) {
      const words = line.replace(/[:()[\]]/g, "").trim().split(/\s+/);
      current = { group: words[1], range: words[3], extra: [] };
      blocks.set(`Group ${words[1]}`, current);
    } else if (current === undefined) {
      const [name, value] = line.replaceAll("\t", " ").split(": ");
      if (value === undefined) continue;
      attributes.set(name, line.startsWith("Filesystem features") ? value.trim().split(/\s+/) : value.trim());
    } else if (line.includes("Free blocks:")) {
      current["free blocks"] = (line.split(": ")[1] ?? "").split(", ");
    } else if (line.includes("Free inodes:")) {
      current["free inodes"] = (line.split(": ")[1] ?? "").split(", ");
    } else current.extra.push(strip(line));
  }
  return { attributes, blocks };
}
