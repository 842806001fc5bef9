import { once } from 'node:events'
import type { WebSocket } from 'ws'

const STDIN = 0
const STDOUT = 1
const STDERR = 2
const STATUS = 3
const CLOSE = 255

/** The server's end of one command in a pod. */
export class StandInExec {
  readonly pod: string
  readonly command: readonly string[]
  readonly hasStdin: boolean
  readonly protocol: string
  /** Fulfilled when the connection is gone. */
  readonly closed: Promise<unknown>
  readonly #socket: WebSocket
  readonly #input: Buffer[] = []
  #isInputClosed = false
  #wake: (() => void) | undefined

  constructor(socket: WebSocket, path: string, query: URLSearchParams) {
    this.#socket = socket
    this.pod = decodeURIComponent(/\/pods\/([^/]+)\/exec$/.exec(path)?.[1] ?? '')
    this.command = query.getAll('command')
    this.hasStdin = query.get('stdin') === 'true'
    this.protocol = socket.protocol
    this.closed = once(socket, 'close')
    socket.on('message', (data: Buffer) => this.#receive(data))
    socket.on('close', () => this.#closeInput())
    socket.on('error', () => this.#closeInput())
  }

  /** What is sent to the command, until its input is closed. */
  async *stdin(): AsyncGenerator<Buffer> {
    for (;;) {
      const next = this.#input.shift()
      if (next !== undefined) yield next
      else if (this.#isInputClosed) return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }

  /** Fulfilled when the bytes are handed to the system. */
  stdout(bytes: Uint8Array | string): Promise<void> {
    return this.#send(STDOUT, bytes)
  }

  stderr(bytes: Uint8Array | string): Promise<void> {
    return this.#send(STDERR, bytes)
  }

  /** The command ended. */
  async exit(code: number): Promise<void> {
    await this.fail(
      code === 0
        ? { metadata: {}, status: 'Success' }
        : {
            metadata: {},
            status: 'Failure',
            message: `command terminated with non-zero exit code: error executing command, exit code ${code}`,
            reason: 'NonZeroExitCode',
            details: { causes: [{ reason: 'ExitCode', message: String(code) }] }
          }
    )
  }

  /** The last message, whatever it says. */
  async fail(status: unknown): Promise<void> {
    await this.sendStatus(status)
    this.#socket.close(1000)
  }

  async sendStatus(status: unknown): Promise<void> {
    await this.#send(STATUS, typeof status === 'string' ? status : JSON.stringify(status))
  }

  /** As if the network were gone. */
  cut(): void {
    this.#socket.terminate()
  }

  /** Reads nothing any more, until it is told to. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  #send(channel: number, bytes: Uint8Array | string): Promise<void> {
    const message = Buffer.concat([Buffer.from([channel]), Buffer.from(bytes as Uint8Array)])
    return new Promise((resolve, reject) => {
      this.#socket.send(message, (error) => {
        if (error) reject(error)
        else resolve()
      })
    })
  }

  #receive(message: Buffer): void {
    if (message[0] === STDIN) this.#input.push(message.subarray(1))
    else if (message[0] === CLOSE && message[1] === STDIN) this.#isInputClosed = true
    this.#wake?.()
  }

  #closeInput(): void {
    this.#isInputClosed = true
    this.#wake?.()
  }
}
