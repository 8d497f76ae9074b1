/**
 * The functions of `rabbitmq` for policies, and for the upstreams of a federation.
 * Source: Salt 3008.3 `salt/modules/rabbitmq.py`.
 * @module
 */

import { checkedOutput, control, dataLines, ofVirtualHost, operands, packageVersion, RUNAS } from "./running.ts";
import { InvocationError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { dumpJson } from "#lib/values/json.ts";
import { mapUnder } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** One policy of a line's columns. Before 3.7 the pattern came after what it applies to, which was not always told. */
function policyOf(columns: readonly string[], isOld: boolean): ValueMap {
  if (!isOld) {
    const [, , pattern, apply_to, definition, priority = ""] = columns;
    return map({ pattern, apply_to, definition, priority });
  }
  const [pattern, definition, priority] = columns.slice(-3);
  return map({ ...columns.length === 6 && { apply_to: columns[2] }, pattern, definition, priority });
}

const POLICY_TITLES = ["vhost", "name", "pattern", "apply-to", "definition", "priority"];

async function policies(vhost: string, runas: string | null, context: JobContext): Promise<ValueMap> {
  const words = ["list_policies", "-q", ...ofVirtualHost(vhost)];
  const output = checkedOutput(await control(words, runas, context));
  const lines = dataLines(output);
  // A version that prints titles is not old.
  const hasTitles = lines[0] === POLICY_TITLES.join("\t");
  const version = hasTitles || lines.length === 0 ? "" : await packageVersion(context);
  const isOld = version !== "" && compareLooseVersions(version, "3.7") < 0;
  const found: ValueMap = new Map();
  for (const line of hasTitles ? lines.slice(1) : lines) {
    const columns = line.trim().split("\t");
    if (columns.length !== 5 && columns.length !== 6) continue;
    mapUnder(found, columns[0]).set(columns[1], policyOf(columns, isOld));
  }
  return found;
}

export const list_policies: ModuleFunction<JobContext> = fn({
  doc: describe("Return the policies of a virtual host, by its name and theirs.", "rabbitmq.list_policies"),
  permissions: "all",
  params: { vhost: p.str("/"), ...RUNAS },
  run: ({ vhost, runas }, context) => policies(vhost, runas, context),
});

export const policy_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a virtual host has a policy.", "rabbitmq.policy_exists / HA"),
  permissions: "all",
  params: { vhost: p.str(), name: p.str(), ...RUNAS },
  async run({ vhost, name, runas }, context) {
    const found = (await policies(vhost, runas, context)).get(vhost);
    return isMap(found) && found.has(name);
  },
});

export const set_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set a policy: a definition, as a map or as JSON, for what matches a pattern.",
    `rabbitmq.set_policy / HA '.*' '{"ha-mode":"all"}'`,
  ),
  permissions: "all",
  params: {
    vhost: p.str(),
    name: p.str(),
    pattern: p.str(),
    definition: p.any(),
    priority: p.any(null),
    ...RUNAS,
    apply_to: p.str(null),
  },
  async run({ vhost, name, pattern, definition, priority, runas, apply_to }, context) {
    const json = isMap(definition) ? dumpJson(definition, { ensureAscii: false }) : definition;
    if (typeof json !== "string") {
      throw new InvocationError("The 'definition' argument must be a dictionary or JSON string");
    }
    const words = [
      "set_policy",
      ...ofVirtualHost(vhost),
      ...truthy(priority) ? ["--priority", str(priority)] : [],
      ...apply_to ? ["--apply-to", apply_to] : [],
      ...operands(name, pattern, json),
    ];
    return { Set: checkedOutput(await control(words, runas, context)) };
  },
});

export const delete_policy: ModuleFunction<JobContext> = fn({
  doc: describe("Delete a policy.", "rabbitmq.delete_policy / HA"),
  permissions: "all",
  params: { vhost: p.str(), name: p.str(), ...RUNAS },
  async run({ vhost, name, runas }, context) {
    const words = ["clear_policy", ...ofVirtualHost(vhost), ...operands(name)];
    return { Deleted: checkedOutput(await control(words, runas, context)) };
  },
});

async function upstreams(runas: string | null, context: JobContext): Promise<ValueMap> {
  const { stdout } = await control(["list_parameters", "-q"], runas, context);
  return new Map(
    dataLines(stdout, ["component", "name", "value"]).map((line) => line.split("\t")).filter((columns) =>
      columns.length === 3
    )
      .map(([, name, definition]): [Value, Value] => [name, definition]),
  );
}

export const list_upstreams: ModuleFunction<JobContext> = fn({
  doc: describe("Return the definitions of the upstreams, by name.", "rabbitmq.list_upstreams"),
  permissions: "all",
  params: RUNAS,
  run: ({ runas }, context) => upstreams(runas, context),
});

export const upstream_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether an upstream exists.", "rabbitmq.upstream_exists rabbit_upstream"),
  permissions: "all",
  params: { name: p.str(), ...RUNAS },
  run: async ({ name, runas }, context) => (await upstreams(runas, context)).has(name),
});

export const set_upstream: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set an upstream of exchanges or queues: its URI, and the fields of its definition that have a value.",
    "rabbitmq.set_upstream upstream_name ack_mode=on-confirm max_hops=1 trust_user_id=True uri=amqp://hostname",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    uri: p.any(),
    prefetch_count: p.any(null),
    reconnect_delay: p.any(null),
    ack_mode: p.any(null),
    trust_user_id: p.any(null),
    exchange: p.any(null),
    max_hops: p.any(null),
    expires: p.any(null),
    message_ttl: p.any(null),
    ha_policy: p.any(null),
    queue: p.any(null),
    ...RUNAS,
  },
  async run({ name, runas, ...definition }, context) {
    const fields = Object.entries(definition).filter(([, value]) => truthy(value));
    const json = dumpJson(new Map(fields.map(([key, value]) => [key.replaceAll("_", "-"), value])), {
      ensureAscii: false,
    });
    // Its URI may have a password in it.
    const words = ["set_parameter", "federation-upstream", ...operands(name, json)];
    checkedOutput(await control(words, runas, context, { secret: true }));
    return true;
  },
});

export const delete_upstream: ModuleFunction<JobContext> = fn({
  doc: describe("Delete an upstream.", "rabbitmq.delete_upstream upstream_name"),
  permissions: "all",
  params: { name: p.str(), ...RUNAS },
  async run({ name, runas }, context) {
    const words = ["clear_parameter", "federation-upstream", ...operands(name)];
    checkedOutput(await control(words, runas, context));
    return true;
  },
});
