/**
 * Execution module `rabbitmq`: the functions of its parts. The compiler refuses a name that two parts export.
 * Source: the functions of Salt 3008.3 `salt/modules/rabbitmq.py`.
 * @module
 */

import type { Virtual } from "#lib/plugins/virtual.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["rabbitmqctl"],
    otherwise: "Module rabbitmq: module only works when RabbitMQ is installed",
  }],
};

export * from "./node.ts";
export * from "./parameters.ts";
export * from "./users.ts";
