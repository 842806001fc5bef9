import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { isOwnPeer } from '../../../../src/service/programs/selenium-hub/peer.js'
import { until } from '../../../e2e/cli-command.js'

let server: Server
let client: Socket
let accepted: Socket

async function open(localAddress: string): Promise<void> {
  server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const connection = new Promise<Socket>((resolve) => server.once('connection', resolve))
  client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, localAddress })
  accepted = await connection
}

beforeEach(() => open('127.0.0.1'))
afterEach(async () => {
  client.destroy()
  accepted.destroy()
  await new Promise((resolve) => server.close(resolve))
})

const onLinux = process.platform === 'linux' ? test : test.skip
const uid = process.getuid?.() ?? 0

test('a connection of the same user is its own', () => {
  expect(isOwnPeer(accepted)).toBe(true)
})

onLinux('a connection of another user is not', () => {
  expect(isOwnPeer(accepted, uid + 1)).toBe(false)
})

onLinux('the address from which it comes makes no difference', async () => {
  client.destroy()
  accepted.destroy()
  await new Promise((resolve) => server.close(resolve))
  await open('127.0.0.2')
  expect([isOwnPeer(accepted), isOwnPeer(accepted, uid + 1)]).toEqual([true, false])
})

onLinux('nor is one whose other end nobody holds any more, whose user is unknown', async () => {
  client.destroy()
  await until(() => !isOwnPeer(accepted, 0))
})
