// Reads a reply by undici while the other side closes the connection: node slow-reader.mjs <folder of undici>
// Prints how many bytes came.
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { connect, createServer } from 'node:net'
import { resolve } from 'node:path'

const BYTES = 10_000
const { Agent } = createRequire(import.meta.url)(resolve(process.argv[2]))

/** A length is not told: the end of the connection is the end of the reply. */
const server = createServer((socket) => {
  socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'x'.repeat(BYTES)}`))
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const { port } = server.address()

let socket
const agent = new Agent({
  connect: (_options, done) => {
    socket = connect(port, '127.0.0.1', () => done(null, socket))
  }
})
// Far less than is sent may wait: undici pauses its parser.
const request = { origin: `http://127.0.0.1:${port}`, path: '/', method: 'GET', highWaterMark: 1 }
const { body } = await agent.request(request)
if (!socket.readableEnded) await once(socket, 'end')
let bytes = 0
for await (const chunk of body) bytes += chunk.length
console.log(bytes)
await agent.close()
server.close()
