/**
 * Driver `yaml` of sdb: values of YAML files, which are merged, and may hold texts that gpg decrypts.
 * Source: Salt 3008.3 `salt/sdb/yaml.py`.
 * @module
 */

import { yamlContents } from "#lib/config/sdb_address.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { RenderHost, TemplateFiles } from "#lib/plugins/renderer.ts";
import { jobRenderHost } from "#lib/render/job_host.ts";
import { renderValue } from "#lib/render/render_value.ts";
import { isMap, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { traverse } from "#lib/yaml/traverse.ts";

/** A value names no files. */
const NO_FILES: TemplateFiles = { cacheFile: () => undefined };

/** The value at a path such as `pkg:apache`; None: there is none. */
export async function get(key: string, profile: ValueMap, context: JobContext): Promise<Value> {
  const value = traverse(yamlContents(profile, (text) => context.log("error", text)), key) ?? null;
  return truthy(profile.get("gpg")) ? await decrypted(value, jobRenderHost(context, NO_FILES)) : value;
}

/** A value with the PGP messages in its texts decrypted; without any, gpg need not be there. */
async function decrypted(value: Value, host: RenderHost): Promise<Value> {
  if (typeof value === "string") {
    // By the renderer alone: a first line such as `#!jinja` names no others.
    return value.includes("-----BEGIN PGP MESSAGE-----") ? await renderValue("gpg", value, host) : value;
  }
  if (Array.isArray(value)) return await Promise.all(value.map((one) => decrypted(one, host)));
  if (!isMap(value)) return value;
  const entries = [...value].map(async ([key, one]): Promise<[Value, Value]> => [key, await decrypted(one, host)]);
  return new Map(await Promise.all(entries));
}
