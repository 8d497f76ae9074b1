/**
 * StartTLS in front of an LDAP server that uses TLS from the start: answers the StartTLS request, and forwards all data
 * that follows. Source: RFC 4511, 4.14.
 * @module
 */

/**
 * The tags of an extended request and its response. Their positions are fixed, since the messages are shorter than 128
 * bytes.
 */
const EXTENDED = 0x77, EXTENDED_ANSWER = 0x78;
const NUMBER_AT = 4, OPERATION_AT = 5;

/** A proxy on a free port in front of the port `inner` of this host; `close` stops it. */
export class StartTls {
  /** The tags of the operations received before TLS. */
  readonly operationTags: number[] = [];
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #serving: Promise<void>;

  constructor(inner: number) {
    this.#serving = this.#accept(inner);
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  async #accept(inner: number): Promise<void> {
    const connections: Promise<void>[] = [];
    for await (const connection of this.#listener) connections.push(this.#serve(connection, inner));
    await Promise.all(connections);
  }

  async #serve(outside: Deno.Conn, port: number): Promise<void> {
    const message = new Uint8Array(128);
    await outside.read(message);
    this.operationTags.push(message[OPERATION_AT]);
    if (message[OPERATION_AT] !== EXTENDED) return outside.close();
    const success = [0x0a, 1, 0, 0x04, 0, 0x04, 0];
    const answer = [0x02, 1, message[NUMBER_AT], EXTENDED_ANSWER, success.length, ...success];
    await outside.write(Uint8Array.from([0x30, answer.length, ...answer]));
    const inside = await Deno.connect({ hostname: "127.0.0.1", port });
    // Either side may close the connection at any time, also before TLS is established.
    await Promise.allSettled([outside.readable.pipeTo(inside.writable), inside.readable.pipeTo(outside.writable)]);
  }

  async close(): Promise<void> {
    this.#listener.close();
    await this.#serving;
  }
}
