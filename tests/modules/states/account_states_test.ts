/**
 * States of users and groups in a root directory of their own, with useradd, groupadd and chage.
 * @module
 */
import { which } from "#lib/programs/which.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { AccountRoot } from "#tests/support/calls/account_root.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";

const there = Deno.uid() === 0 && which("useradd") !== undefined && which("chage") !== undefined;

/** States on a root directory with accounts of its own. */
class Accounts implements Disposable {
  readonly #root = new AccountRoot();
  readonly #job: JobContext = testContext({ grains: map({ kernel: "Linux", os: "Debian", os_family: "Debian" }) });

  /** All accounts, as text. */
  read(): string {
    return ["passwd", "group", "shadow"].map((name) => this.#root.read(name)).join("");
  }

  /** Makes the functions of accounts use the root directory. */
  #call = async (name: string, args: Value[] = [], kwargs: ValueMap = new Map()): Promise<Value> => {
    const isAccount = /^(user|group|shadow)\.(?!list_groups|primary_group|default_hash|gen_password)/.test(name);
    if (isAccount) return await this.#run(name, args, new Map([...kwargs, ["root", this.#root.path]]));
    if (!/^file\.(gid_to_group|group_to_gid)$/.test(name)) return await this.#run(name, args, kwargs);
    const groups = await this.#run("group.getent", [], map({ root: this.#root.path }));
    const [key, resultKey] = name === "file.gid_to_group" ? ["gid", "name"] : ["name", "gid"];
    const entry = (Array.isArray(groups) ? groups : []).find((one) => isMap(one) && one.get(key) === args[0]);
    return isMap(entry) ? entry.get(resultKey) ?? null : args[0];
  };

  #run(name: string, args: Value[], kwargs: ValueMap): Promise<Value> {
    return callFunction(name, { args, kwargs, context: this.#job });
  }

  /** A state's result, comment and changes; in test mode nothing may change. */
  async state(fun: string, args: Record<string, unknown>, test = false): Promise<[Value, string, ValueMap]> {
    const before = this.read();
    const result = await callState(fun, args, { test, job: this.#job, state: { call: this.#call } });
    if (test) assertEquals(this.read(), before, "test mode changes nothing");
    const changes = result.get("changes");
    assert(isMap(changes));
    return [result.get("result") ?? null, str(result.get("comment") ?? ""), changes];
  }

  [Symbol.dispose](): void {
    this.#root[Symbol.dispose]();
  }
}

Deno.test({
  name: "a group is planned, added, changed, and removed, and a second run changes nothing",
  ignore: !there,
  async fn() {
    using root = new Accounts();
    const team = { name: "team", gid: 2000 };
    assertEquals(await root.state("group.present", team, true), [null, "Group team set to be added", map({})]);
    assertEquals(await root.state("group.present", team), [
      true,
      "New group team created",
      map({ name: "team", passwd: "x", gid: 2000, members: [] }),
    ]);
    assertEquals(await root.state("group.present", team), [true, "Group team is present and up to date", map({})]);
    await root.state("user.present", { name: "ann", createhome: false });
    const more = { name: "team", gid: 2001, addusers: ["ann"] };
    const comment = "The following group attributes are set to be changed:\ngid: 2001\naddusers: ['ann']\n";
    assertEquals(await root.state("group.present", more, true), [null, comment, map({})]);
    assertEquals(await root.state("group.present", more), [
      true,
      comment,
      map({ Final: "All changes applied successfully" }),
    ]);
    assertStringIncludes(root.read(), "team:x:2001:ann\n");
    assertEquals(
      (await root.state("group.present", { name: "other", gid: 2001 }))[1],
      [
        "Group other is not present but gid 2001 is already taken by group team",
      ][0],
    );
    assertEquals((await root.state("group.present", { name: "team", members: [] }))[0], true);
    assertStringIncludes(root.read(), "team:x:2001:\n");
    assertEquals(await root.state("group.absent", { name: "team" }), [true, "Removed group team", map({ team: "" })]);
    assertEquals(await root.state("group.absent", { name: "team" }), [true, "Group not present", map({})]);
  },
});

Deno.test({
  name: "a user is planned, added, changed, locked and removed, and a second run changes nothing",
  ignore: !there,
  async fn() {
    using root = new Accounts();
    const ann = {
      name: "ann",
      uid: 1500,
      shell: "/bin/sh",
      home: "/home/ann",
      createhome: false,
      fullname: "Ann A",
      groups: ["web"],
      password: "$6$salt$hash",
      maxdays: 90,
    };
    assertEquals(await root.state("user.present", { ...ann, groups: ["nope"] }), [
      false,
      "The following group(s) are not present: nope",
      map({}),
    ]);
    assertEquals(await root.state("user.present", ann, true), [null, "User ann set to be added", map({})]);
    const [added, comment, changes] = await root.state("user.present", ann);
    assertEquals([added, comment], [true, "New user ann created"]);
    assertEquals([changes.get("uid"), changes.get("home"), changes.get("groups")], [1500, "", ["ann", "web"]]);
    assertEquals([changes.get("password"), changes.get("maxdays")], ["XXX-REDACTED-XXX", 90]);
    assertStringIncludes(root.read(), "ann:$6$salt$hash:");
    assertEquals(await root.state("user.present", ann), [true, "User ann is present and up to date", map({})]);

    const other = { ...ann, shell: "/bin/bash", groups: ["staff"], password: "$6$salt$new", mindays: 1 };
    const plan = "The following user attributes are set to be changed:\ngroups: ['staff']\nshell: /bin/bash\n" +
      "passwd: XXX-REDACTED-XXX\nmindays: 1\n";
    assertEquals(await root.state("user.present", other, true), [null, plan, map({})]);
    assertEquals(await root.state("user.present", other), [
      true,
      "Updated user ann",
      map({ groups: ["ann", "staff"], shell: "/bin/bash", passwd: "XXX-REDACTED-XXX", min: 1 }),
    ]);
    assertEquals((await root.state("user.present", other))[1], "User ann is present and up to date");
    const [refused, why] = await root.state("user.present", { ...other, uid: 1600 });
    assertEquals(refused, false);
    assertStringIncludes(why, "- Changing uid (1500 -> 1600) not permitted, set allow_uid_change to True");
    const allowed = { ...other, uid: 1600, allow_uid_change: true, enforce_password: false, password_lock: true };
    assertEquals((await root.state("user.present", allowed))[1], "Updated user ann");
    assertStringIncludes(root.read(), "ann:!$6$salt$new:");

    assertEquals(await root.state("user.absent", { name: "ann" }, true), [null, "User ann set for removal", map({})]);
    assertEquals(await root.state("user.absent", { name: "ann" }), [true, "Removed user ann", map({ ann: "removed" })]);
    assertEquals(await root.state("user.absent", { name: "ann" }), [true, "User ann is not present", map({})]);
  },
});
