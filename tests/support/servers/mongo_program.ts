/**
 * The program of a {@linkcode MongoServer}, for programs that are not tests: it prints its port, and ends when its
 * standard input ends. Its first argument are the server's options as JSON.
 * @module
 */

import { MongoServer, type MongoServerOptions } from "./mongo_server.ts";

const options: MongoServerOptions = JSON.parse(Deno.args[0] ?? "{}");
await using server = new MongoServer(options);
await Deno.stdout.write(new TextEncoder().encode(`${server.port}\n`));
await Deno.stdin.readable.pipeTo(new WritableStream());
