/**
 * Numbers of bytes as people read them, and as people write them.
 * Source: Salt 3006.28 `salt/modules/dockermod.py` (`_size_fmt`); docker-py 7 `docker/utils/utils.py` (`parse_bytes`).
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { isFloat, isInt, str, type Value } from "#lib/values/value.ts";

/** `1023 bytes`, `1.5 KiB`. */
export function humanSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  let size = bytes / 1024;
  for (const unit of ["KiB", "MiB", "GiB", "TiB"]) {
    if (size < 1024) return `${size.toFixed(1)} ${unit}`;
    size /= 1024;
  }
  return `${size.toFixed(1)} PiB`;
}

const UNITS: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/**
 * The bytes of a number, or of a text such as `512m` or `1gb`.
 * @throws {InvocationError} If it is neither.
 */
export function bytesOfSize(size: Value): Value {
  if (isInt(size) || isFloat(size)) return size;
  const text = str(size);
  if (text === "") return 0;
  const parts = /^(-?[\d.]+)([bkmgt]?)b?$/i.exec(text.trim());
  const digits = Number(parts?.[1]);
  if (parts === null || Number.isNaN(digits)) {
    throw new InvocationError(
      `The specified value for memory (${text}) should specify the units. The postfix should be one of the \`b\` \`k\` \`m\` ` +
        "`g` characters",
    );
  }
  return Math.trunc(digits * UNITS[parts[2].toLowerCase() || "b"]);
}
