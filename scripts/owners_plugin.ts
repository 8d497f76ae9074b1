/**
 * Rejects changes of owner and mode by name in the product, and files that modules write and trees that they remove by
 * name: a plugin of `deno lint`, named in deno.json. Another user may exchange what a name leads to between two calls,
 * and root would give away, open up, overwrite or remove any file. `Held.path` of lib/os/held_path.ts leads to one
 * object whatever happens.
 * @module
 */

const CHANGES = new Set(["chown", "chownSync", "chmod", "chmodSync", "lchown", "lchownSync", "lchmod", "lchmodSync"]);
const MESSAGE = "changes what the name leads to by now: hold it (lib/os/held_path.ts), and change its `path`";

/** Files that may, by name: the directory is only this service's user's, or root's. */
const ALLOWED: ReadonlyMap<string, string> = new Map([
  [
    "lib/host/accounts/cron.ts",
    "a file of root's in a temporary directory, whose sticky bit keeps others from exchanging it",
  ],
  ["lib/host/accounts/passwords.ts", "/etc"],
  ["lib/bus/pump.ts", "sock_dir"],
  ["lib/bus/python_bus.ts", "sock_dir"],
  ["lib/bus/logged_bus.ts", "sock_dir"],
  [
    "lib/commands/daemons/directories.ts",
    "the service's directories, whose parents are looked at first (isTrustedPath)",
  ],
  ["lib/host/debian_packages/apt_keys.ts", "/etc/apt"],
  ["lib/files/client/extension_sync.ts", "cachedir"],
  ["lib/files/client/local_cache.ts", "cachedir"],
  ["lib/files/client/placing.ts", "cachedir, where downloads are before they are placed"],
  ["lib/host/git/run_git.ts", "a file of root's in a temporary directory, as in cron.ts"],
  ["lib/programs/script_source.ts", "a file of root's in a temporary directory, as in cron.ts"],
  ["lib/keys/dropfile.ts", "cachedir"],
  ["lib/os/shared_parents.ts", "what it made itself above the directories of a program, and only where nothing was"],
  ["lib/host/language_packages/pip_passwords.ts", "a directory of root's, made for the call"],
  ["lib/host/language_packages/pip_requirements.ts", "a directory of root's, made for the call"],
  ["lib/os/atomic_file.ts", "the service's own directories"],
  ["lib/runtime/log_file.ts", "the log directory, which is looked at first (isTrustedPath)"],
  ["lib/runtime/pid_file.ts", "the pid directory, which is looked at first (isTrustedPath)"],
  ["lib/master/publisher/publisher.ts", "sock_dir"],
  ["modules/execution/cmd/scripts.ts", "a file of root's in a temporary directory, as in cron.ts"],
  ["modules/execution/postgres/databases.ts", "a file of root's in a temporary directory, as in cron.ts"],
  ["modules/wheel/key.ts", "a directory of the master's for keys"],
]);

const WRITES = new Set(["writeFile", "writeFileSync", "writeTextFile", "writeTextFileSync"]);
const REMOVES = new Set(["remove", "removeSync"]);
const WRITTEN = "goes through links that another user makes: writeWithUmask (lib/os/new_files.ts) does not";
const REMOVED = "removes what the name leads to by now: removeAny (lib/host/filesystem/trees.ts) does not";

/** Modules that may write, or remove a tree, by name. */
const ALLOWED_WRITES: ReadonlyMap<string, string> = new Map([
  ["modules/states/_cron_file.ts", "a file of root's in a temporary directory"],
  ["modules/execution/_templates.ts", "a file of root's in a temporary directory"],
  ["modules/execution/cmd/scripts.ts", "a file of root's in a temporary directory"],
  ["modules/execution/debconfmod.ts", "a file of root's in a temporary directory"],
  ["modules/execution/postgres/databases.ts", "a file of root's in a temporary directory"],
  ["modules/execution/postgres/psql.ts", "a file of root's in a temporary directory"],
  ["modules/execution/rsync.ts", "a temporary directory of root's"],
  ["modules/execution/saltutil/minion.ts", "cachedir"],
  ["modules/execution/selinux.ts", "/sys"],
  ["modules/execution/ssh/known_hosts.ts", "cachedir"],
]);

/** Whether a call of `Deno.remove` removes a tree. */
function isRecursive(options: Deno.lint.Node | undefined): boolean {
  return options?.type === "ObjectExpression" &&
    options.properties.some((one) =>
      one.type === "Property" && one.key.type === "Identifier" && one.key.name === "recursive"
    );
}

/** Whether a node is `x.path`, or `x.at(…)` of a held directory. */
function isHeldPath(node: Deno.lint.Node | undefined): boolean {
  const member = node?.type === "CallExpression" ? node.callee : node;
  return member?.type === "MemberExpression" && member.property.type === "Identifier" &&
    ["path", "at"].includes(member.property.name);
}

/** The rules `owners/held` and `owners/written`. */
const plugin: Deno.lint.Plugin = {
  name: "owners",
  rules: {
    held: {
      create(context) {
        const file = /(?:^|\/)((?:lib|modules)\/.*)$/.exec(context.filename)?.[1];
        if (file === undefined || /(?:^|\/)tests\//.test(context.filename) || ALLOWED.has(file)) return {};
        /** Names of values that are held, with how they are made. */
        const held = new Set<string>();
        return {
          VariableDeclaration({ kind, declarations }) {
            if (kind !== "using") return;
            for (const { id } of declarations) if (id.type === "Identifier") held.add(id.name);
          },
          CallExpression({ callee, arguments: given }) {
            // What putBeside has made is held, and handed to the function.
            const last = given.at(-1);
            if (callee.type !== "Identifier" || callee.name !== "putBeside") return;
            if (last?.type !== "ArrowFunctionExpression") return;
            for (const param of last.params) if (param.type === "Identifier") held.add(param.name);
          },
          MemberExpression(node) {
            const { property, parent } = node;
            if (property.type !== "Identifier" || !CHANGES.has(property.name)) return;
            const path = parent.type === "CallExpression" && parent.callee === node ? parent.arguments[0] : undefined;
            const isHeld = path?.type === "MemberExpression" && path.object.type === "Identifier" &&
              path.property.type === "Identifier" && path.property.name === "path" && held.has(path.object.name);
            if (!isHeld) context.report({ node, message: `${property.name} ${MESSAGE}` });
          },
        };
      },
    },
    written: {
      create(context) {
        const file = /(?:^|\/)(modules\/(?:execution|states)\/.*)$/.exec(context.filename)?.[1];
        if (file === undefined || /(?:^|\/)tests\//.test(context.filename) || ALLOWED_WRITES.has(file)) return {};
        return {
          CallExpression(node) {
            const { callee, arguments: given } = node;
            if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
            if (callee.object.type !== "Identifier" || callee.object.name !== "Deno" || isHeldPath(given[0])) return;
            const { name } = callee.property;
            if (WRITES.has(name)) context.report({ node, message: `${name} ${WRITTEN}` });
            if (REMOVES.has(name) && isRecursive(given[1])) context.report({ node, message: `${name} ${REMOVED}` });
          },
        };
      },
    },
  },
};
export default plugin;
