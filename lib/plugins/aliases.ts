/**
 * Further names of built-in modules.
 * Source: `__virtual_aliases__` in `salt/modules`, `salt/states` and `salt/returners` of Salt 3006.28 and 3008.3, of
 * those modules that are built.
 * @module
 */

import type { Aliases } from "./loader.ts";

/** The families with such modules. */
type AliasedFamily = "execution" | "states" | "returners";

/** The module that each further name stands for, by family. */
export const ALIASES: Readonly<Record<AliasedFamily, Aliases>> = {
  execution: { dockerng: "docker", moby: "docker" },
  states: {
    moby_container: "docker_container",
    moby_image: "docker_image",
    moby_network: "docker_network",
    moby_volume: "docker_volume",
  },
  returners: { redis_return: "redis" },
};
