/**
 * One's own module, to begin with: `periodic.scripts`, `periodic.full`. The names of the exports are those of the
 * functions.
 * @module
 */

import type { ModuleFunction } from "./salt_module.d.ts";

export const scripts: ModuleFunction<{ every: { type: "str"; default: "daily" } }> = {
  doc: "What runs hourly, daily, weekly or monthly.\n\nCLI Example:\n\n    salt '*' periodic.scripts weekly",
  params: { every: { type: "str", default: "daily" } },
  permissions: { read: ["/etc"] },
  run: ({ every }, context) => {
    try {
      return [...Deno.readDirSync(`/etc/cron.${every}`)].map(({ name }) => name);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      context.setRetcode(1);
      return `Nothing runs ${every}`;
    }
  },
};

export const full: ModuleFunction<{ path: { type: "str"; default: "/" } }> = {
  doc: "How full a file system is, in percent.",
  params: { path: { type: "str", default: "/" } },
  permissions: "all",
  run: async ({ path }, { call }) => await call("disk.percent", [path]),
};
