/**
 * The file `grains` beside the minion's configuration: grains that an operator has set, as YAML in Salt's form.
 * Source: Salt 3008.3 `salt/modules/grains.py` setvals.
 * @module
 */

import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { YamlError } from "#lib/errors.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { loadYaml } from "#lib/yaml/load.ts";

/** Mode of a new file: as with Salt, everybody may read it. */
const MODE = 0o644;

/**
 * The path of the file.
 * @param configDir The directory of the configuration.
 */
function grainsPath(configDir: string): string {
  return `${configDir}/grains`;
}

/**
 * The contents of the file; an empty map if there is none, or it contains no map.
 * @throws {YamlError} If it is not YAML.
 */
export function readGrainsFile(configDir: string): ValueMap {
  const path = grainsPath(configDir);
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Map();
    throw error;
  }
  const grains: Value = text.trim() === "" ? null : loadYaml(text, path);
  return mapOrEmpty(grains);
}

/** Whether an error of {@linkcode readGrainsFile} says that the file is not YAML. */
export function isBrokenGrainsFile(error: unknown): error is YamlError {
  return error instanceof YamlError;
}

/**
 * Writes the file whole; an existing one keeps its mode.
 * @throws What writing throws.
 */
export function writeGrainsFile(configDir: string, grains: ValueMap): void {
  const path = grainsPath(configDir);
  let mode = MODE;
  try {
    mode = (Deno.statSync(path).mode ?? MODE) & 0o777;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  writeFileAtomic(path, dumpYaml(grains), { mode });
}
