import { fleetTest } from "./fleet.ts";
import { assertEquals } from "./assert.ts";
fleetTest("salt prints each return as it comes", { minions: ["web1", "db1"] }, async (fleet) => {
  const run = await fleet.salt("*", "test.ping");
  console.log(run);
  console.log(await fleet.salt("web1", "cmd.run", "uname -s"));
  console.log(await fleet.saltKey("-L"));
  console.log(await fleet.saltRun("manage.up"));
  assertEquals(run.code, 0);
});
