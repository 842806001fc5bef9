import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * A caller who resets the connection right behind a request takes the address along; so it is asked for as soon as there is a
 * connection, after which the socket knows it. Whoever has gone before that is not served: nobody could say from where it came.
 */
export function keepAddresses(server: Server): void {
  server.prependListener('connection', (socket: Socket) => {
    if (socket.remoteAddress === undefined) socket.destroy()
  })
  server.prependListener('secureConnection', (socket: Socket & { readonly _parent?: Socket }) => {
    const value = socket._parent?.remoteAddress
    if (socket.remoteAddress !== undefined) return
    if (value === undefined) socket.destroy()
    else Object.defineProperty(socket, 'remoteAddress', { value })
  })
}
