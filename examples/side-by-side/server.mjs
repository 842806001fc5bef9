// The server of the example workflow, in place of your own. Each page takes about this long, as it would with real work.
import { createServer } from 'node:http'

const SERVICE_MS = 40

createServer((request, reply) => {
  const tookMs = SERVICE_MS * (0.75 + Math.random() / 2)
  request.resume().once('end', () => setTimeout(() => reply.end('ok'), tookMs))
}).listen(Number(process.env.PORT), '127.0.0.1')
