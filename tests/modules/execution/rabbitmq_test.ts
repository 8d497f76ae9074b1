import { packageVersion } from "#modules/execution/rabbitmq/running.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

testRecordedCases("execution", "rabbitmq");

Deno.test("a user without a password gets one that nobody knows and that is cleared; if it cannot be, the user goes", async () => {
  using programs = new RecordedPrograms();
  programs.answer("rabbitmqctl");
  const context = testContext();
  const added = new Map([["Added", ""]]);
  const passwords = new Set<string>();
  for (let i = 0; i < 2; i++) {
    assertEquals(await resultOrError(context, "rabbitmq.add_user", ["fred"]), added);
    const [add, ...others] = programs.calls();
    const password = /^rabbitmqctl add_user fred ([A-Z0-9]{15})$/.exec(add)?.[1];
    assertEquals([password === undefined, others], [false, ["rabbitmqctl clear_password fred"]]);
    passwords.add(password ?? "");
  }
  assertEquals(passwords.size, 2);
  assertEquals(await resultOrError(context, "rabbitmq.add_user", ["fred", "-pw"]), added);
  assertEquals(programs.calls(), ["rabbitmqctl add_user -- fred -pw"]);

  programs.answer("rabbitmqctl", [{ args: "clear_password*", stderr: "down\n", code: 1 }]);
  assertEquals(await resultOrError(context, "rabbitmq.add_user", ["fred"]), "RabbitMQ command failed: down");
  assertEquals(programs.calls().slice(1), ["rabbitmqctl clear_password fred", "rabbitmqctl delete_user fred"]);
  // A user that was there already keeps its password, and stays.
  programs.answer("rabbitmqctl", [{ args: "add_user*", stderr: "exists\n", code: 1 }]);
  assertEquals(await resultOrError(context, "rabbitmq.add_user", ["fred"]), "RabbitMQ command failed: exists");
  assertEquals(programs.calls().length, 1);
});

Deno.test("permissions that are no JSON are the error of the program", async () => {
  using programs = new RecordedPrograms();
  programs.answer("rabbitmqctl", [{ args: "list_user_permissions*", stdout: "no json\n" }, {
    args: "*",
    stderr: "down\n",
    code: 1,
  }]);
  const context = testContext();
  assertEquals(await resultOrError(context, "rabbitmq.list_permissions", ["/"]), "RabbitMQ command failed: down");
  assertEquals(
    await resultOrError(context, "rabbitmq.list_user_permissions", ["fred"]),
    "RabbitMQ command failed: no json",
  );
});

Deno.test("the version of RabbitMQ's package is empty on a host whose packages no module knows", async () => {
  const context = testContext();
  assertEquals(
    await packageVersion({ ...context, catalogue: { ...context.catalogue, get: () => Promise.resolve(undefined) } }),
    "",
  );
});
