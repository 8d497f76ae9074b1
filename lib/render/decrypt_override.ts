/**
 * Decrypts the pillar of a caller (`pillar_enc`): a map with encrypted texts, or a whole map as one text.
 * Source: Salt 3008.3 `salt/modules/pillar.py` items, `salt/state.py` _decrypt_pillar_override.
 * @module
 */

import { CommandError, YamlError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { Value } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { jobRenderHost } from "./job_host.ts";
import { renderValue } from "./render_value.ts";

/**
 * The result of `renderer`; a text is read as YAML.
 * @throws {CommandError} If the renderer may not be used for it, or cannot decrypt it.
 */
export async function decryptOverride(pillar: Value, renderer: string, context: JobContext): Promise<Value> {
  const valid = context.opts.decrypt_pillar_renderers;
  if (valid.length > 0 && !valid.includes(renderer)) {
    throw new CommandError(
      `Failed to decrypt pillar override: '${renderer}' is not a valid decryption renderer. Valid choices are: ${
        valid.join(", ")
      }`,
    );
  }
  try {
    const host = jobRenderHost(context, { cacheFile: () => undefined });
    const pillarValue = await renderValue(renderer, pillar, host, { translateNewlines: true });
    return typeof pillarValue === "string" ? loadYaml(pillarValue) : pillarValue;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Decrypted data must not appear in messages.
    const reason = error instanceof YamlError ? "it is no YAML" : error.message;
    throw new CommandError(`Failed to decrypt pillar override: ${reason}`);
  }
}
