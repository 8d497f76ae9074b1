/**
 * Rejects Node's timers in the product: a plugin of `deno lint`, named in deno.json. The global `setTimeout` and
 * `setInterval` load Node's compatibility layer in each thread; lib/os/timers.ts has the same functions without it.
 * @module
 */

const MESSAGE = "loads Node's compatibility layer: import it from lib/os/timers.ts";
const GLOBAL = new Set(["setTimeout", "setInterval"]);

/** The rule `timers/ours`. */
const plugin: Deno.lint.Plugin = {
  name: "timers",
  rules: {
    ours: {
      create(context) {
        if (!/(?:^|\/)(?:lib|modules)\//.test(context.filename) || /(?:^|\/)tests\//.test(context.filename)) return {};
        const imported = new Set<string>();
        return {
          ImportSpecifier: ({ local }) => void imported.add(local.name),
          CallExpression({ callee, range }) {
            if (callee.type !== "Identifier" || !GLOBAL.has(callee.name) || imported.has(callee.name)) return;
            if (context.filename.endsWith("lib/os/timers.ts")) return;
            context.report({ range, message: `${callee.name} ${MESSAGE}` });
          },
        };
      },
    },
  },
};
export default plugin;
