import { CommandError } from "../../lib/errors.ts";
import { resolveHost } from "../../lib/template_filters/resolve_host.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";

Deno.test("dns_check: the address of a host that answers, else the first one; a name without an address is refused", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  assertEquals(await resolveHost("127.0.0.1", { port, family: undefined }), "127.0.0.1");
  assertEquals(await resolveHost("127.0.0.1", { port, family: 4 }), "127.0.0.1");
  assertEquals(await resolveHost("127.0.0.1", { port, family: 6 }), "127.0.0.1");
  listener.close();
  assertEquals(await resolveHost("127.0.0.1", { port, family: undefined }), "127.0.0.1");
  await assertRejects(() => resolveHost("no.such.name.invalid", { port, family: 6 }), CommandError, "DNS lookup");
});
