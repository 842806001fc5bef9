import { execFileSync } from 'node:child_process'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { KubeApi } from './api.js'
import type { ClusterFolders } from './cluster-folders.js'

/** Something that connections are handed on to; undefined: nobody is there. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/**
 * What the network of scripts/cluster/up lacks and any other cluster has: this machine is on it, so that probes reach pods, and pods
 * reach the API server at the address that they are told, and a target on this machine.
 */
export class PodNetwork {
  /** Of this machine, seen from pods. */
  readonly machine: string
  readonly #addresses: readonly string[]
  readonly #bridge: string
  readonly #forwards: Forward[] = []

  private constructor({ bridge, subnet }: ClusterFolders['network'], serviceOfApi: string) {
    this.machine = subnet.replace(/\.0\/24$/, '.1')
    this.#bridge = bridge
    this.#addresses = [`${this.machine}/24`, `${serviceOfApi}/32`]
  }

  static async open({ network }: ClusterFolders, api: KubeApi): Promise<PodNetwork> {
    const { spec } = (await api.request('GET', '/api/v1/namespaces/default/services/kubernetes')) as {
      spec: { clusterIP: string }
    }
    const opened = new PodNetwork(network, spec.clusterIP)
    opened.#join()
    const { hostname: host, port } = new URL(api.server)
    await opened.forward({ host: spec.clusterIP, port: 443 }, () =>
      Promise.resolve({ host, port: Number(port) })
    )
    return opened
  }

  /** Hands connections on, as kube-proxy would. Resolves with the port. */
  async forward(from: Endpoint, find: () => Promise<Endpoint | undefined>): Promise<number> {
    const forward = new Forward(find)
    this.#forwards.push(forward)
    return forward.listen(from)
  }

  close(): void {
    for (const forward of this.#forwards) forward.close()
    for (const address of this.#addresses) ip('address', 'delete', address, 'dev', this.#bridge)
  }

  #join(): void {
    // The first pod would create it.
    try {
      ip('link', 'show', this.#bridge)
    } catch {
      ip('link', 'add', this.#bridge, 'type', 'bridge')
    }
    // Once it is set, it stays when pods come and go, and what they remember of it stays true.
    ip('link', 'set', this.#bridge, 'up', 'address', '0a:58:0a:f4:4d:01')
    for (const address of this.#addresses) ip('address', 'replace', address, 'dev', this.#bridge)
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' })
}

class Forward {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(find: () => Promise<Endpoint | undefined>) {
    this.#server = createServer((incoming) => {
      this.#watch(incoming)
      find().then(
        (endpoint) => (endpoint ? this.#join(incoming, endpoint) : incoming.resetAndDestroy()),
        () => incoming.resetAndDestroy()
      )
    })
  }

  async listen({ host, port }: Endpoint): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, resolve)
    })
    return (this.#server.address() as { port: number }).port
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #join(incoming: Socket, endpoint: Endpoint): void {
    const outgoing = connect(endpoint)
    this.#watch(outgoing)
    incoming.pipe(outgoing).pipe(incoming)
    incoming.once('close', () => outgoing.destroy())
    outgoing.once('close', () => incoming.destroy())
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => this.#sockets.delete(socket))
  }
}
