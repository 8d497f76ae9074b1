/**
 * Ports by which threads reach one thread that serves them: the main thread gives each a port, and a new one when the
 * serving thread is replaced.
 * @module
 */

/** Sends a message, and hands ports in it over. */
export type PortPost<Message> = (message: Message, transfer: readonly MessagePort[]) => void;

/** The ports to one thread. `Message` is what carries a port, to either side. */
export class ThreadPorts<Message> {
  readonly #server: PortPost<Message>;
  readonly #message: (port: MessagePort) => Message;
  readonly #takers = new Map<string, PortPost<Message>>();

  /**
   * @param server Sends to the serving thread, or to its successor.
   * @param message The message with a port.
   */
  constructor(server: PortPost<Message>, message: (port: MessagePort) => Message) {
    this.#server = server;
    this.#message = message;
  }

  /** The serving thread has a successor: all others get new ports. */
  replaced(): void {
    for (const post of this.#takers.values()) {
      const port = this.open();
      post(this.#message(port), [port]);
    }
  }

  /**
   * A port for a thread that starts; its next ones are posted.
   * @param name The name of the thread, whose predecessor gets no more.
   */
  openFor(name: string, post: PortPost<Message>): MessagePort {
    this.#takers.set(name, post);
    return this.open();
  }

  /** A port for a thread that will not be told of a successor. */
  open(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#server(this.#message(port1), [port1]);
    return port2;
  }
}
