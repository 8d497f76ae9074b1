/**
 * A process of root that changes to another user: prints as JSON which files it can read before and afterwards. Its
 * arguments are the user, and a directory whose files only root may read.
 * @module
 */

import { shadowEntries } from "#lib/host/accounts/account_entries.ts";
import { messageOf } from "#lib/errors.ts";
import { knownLogins } from "#lib/host/git/stored_logins.ts";
import { becomeRunUser, userToBecome } from "#lib/programs/run_user.ts";
import { actAsUser } from "#lib/libc/users.ts";
import { map, str, type Value } from "#lib/values/value.ts";
import { run, testContext } from "./job_context.ts";

const [name, directory] = Deno.args;
const user = userToBecome(name);
if (user === undefined) throw new Error(`this process is ${name}'s already`);

const mayRead = () => {
  try {
    return Deno.readTextFileSync(`${directory}/etc/shadow`).length > 0;
  } catch (error) {
    return messageOf(error);
  }
};
const look = () => ({
  reads: mayRead(),
  shadow: shadowEntries(directory).length,
  logins: knownLogins(directory).stored.length,
});

const asRoot = actAsUser(user);
const acting = { ...look(), asRoot: asRoot(mayRead), again: mayRead() };
// It removes root's rights permanently.
const before = asRoot(() => {
  becomeRunUser(user);
  return Deno.uid();
});
let back = "";
try {
  becomeRunUser({ ...user, name: "root", uid: 0, gid: 0 });
} catch (error) {
  back = messageOf(error);
}
const call = async (fun: string, ...args: Value[]) => (await run(fun, args, testContext())).return;
const file = `${directory}/etc/shadow`;
const comments = [str(await call("file.set_mode", file, "0644"))];
for (const wanted of [["root", "root", "0644"], ["daemon", "daemon", "0600"]]) {
  const answer = await call("file.check_perms", file, map({}), ...wanted);
  if (!Array.isArray(answer)) throw new Error(str(answer));
  comments.push(str(answer[0] instanceof Map ? answer[0].get("comment") ?? null : null));
}
const env = Object.fromEntries(["HOME", "USER", "LOGNAME", "SHELL"].map((key) => [key, Deno.env.get(key)]));
const report = { acting, before, after: { ...look(), uid: Deno.uid(), gid: Deno.gid() }, back, env, comments };
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(report)));
