/**
 * Parsers for the output of the quota programs: repquota, quotaon, quotastats.
 * Source: Salt 3008.3 `salt/modules/quota.py`; repquota(8), quotaon(8).
 * @module
 */

import { splitLines } from "#lib/text/split_lines.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

const LIMITS = [
  ...["block-used", "block-soft-limit", "block-hard-limit", "block-grace"],
  ...["file-used", "file-soft-limit", "file-hard-limit", "file-grace"],
] as const;

function wordsOf(line: string): string[] {
  return line.trim().split(/\s+/);
}

/**
 * Parses the output of `repquota -vp` for users or groups: the grace times, and the use and limits by name, as texts.
 */
export function parseReport(text: string, kind: "Users" | "Groups"): ValueMap {
  const quotas: ValueMap = new Map();
  const report: ValueMap = new Map([[kind, quotas]]);
  let isHeader = true;
  for (const line of splitLines(text)) {
    if (isHeader && line.includes("Block grace time")) {
      const [block, inode = ""] = line.split(";");
      report.set("Block Grace Time", block.split(": ").slice(-1)).set("Inode Grace Time", inode.split(": ").slice(-1));
    } else if (isHeader) isHeader = !line.startsWith("-");
    else {
      const [name, , ...values] = wordsOf(line);
      if (values.length >= LIMITS.length) quotas.set(name, new Map(LIMITS.map((limit, n) => [limit, values[n]])));
    }
  }
  return report;
}

/**
 * Parses the output of `quotaon -p` for a device: by mount point its device, and `on` or `off` for users and groups.
 * @param device The requested device.
 */
export function parseModes(text: string, device: string): ValueMap {
  const modes: ValueMap = new Map();
  for (const line of splitLines(text)) {
    const words = wordsOf(line);
    if (words[0].startsWith("quotaon")) {
      if (words[1]?.startsWith("Cannot")) return new Map([[device, "Not found"]]);
      if (words[1]?.startsWith("Mountpoint") && words[4] !== undefined) modes.set(words[4], "disabled");
      continue;
    }
    const [kind, , , mount, source, , mode] = words;
    if (mode === undefined) continue;
    const modeMap = modes.get(mount);
    const entry = modeMap instanceof Map ? modeMap : map({ device: source.replace(/[()]/g, "") });
    modes.set(mount, entry.set(kind, mode));
  }
  return modes;
}

/** Parses the output of `quotastats`: numbers as texts, by their labels. */
export function parseStatistics(text: string): ValueMap {
  return new Map(
    splitLines(text).map((line) => line.split(": ")).filter((parts) => parts.length > 1).map((
      [name, value],
    ): [Value, Value] => [name, value]),
  );
}
