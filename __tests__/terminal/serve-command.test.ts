import { describe, expect, test } from '@jest/globals'
import { resolve } from 'node:path'
import { runCommandLine } from '../../src/terminal/commands.js'
import type { ServeOptions } from '../../src/terminal/serve-command.js'
import { makeCommandPorts } from './command-ports.js'
import type { TestCommandPorts } from './command-ports.js'

/** A service that is open until a signal, which comes at once by default. */
function makeServingPorts(
  changes: Partial<TestCommandPorts> = {}
): TestCommandPorts & { asked: ServeOptions[]; closed: number } {
  const asked: ServeOptions[] = []
  const ports = makeCommandPorts({
    serve: (options) => {
      asked.push(options)
      options.log('a line\u001b[2J')
      queueMicrotask(() => serving.cancellation.abort(new Error('Ctrl-C')))
      const close = async (): Promise<void> => {
        serving.closed++
      }
      return Promise.resolve({ url: 'http://127.0.0.1:4711', token: 't0ken', hasNoUsers: false, close })
    },
    ...changes
  })
  const serving = Object.assign(ports, { asked, closed: 0 })
  return serving
}

test('address and token are printed once, the log goes elsewhere, and a signal closes it', async () => {
  const ports = makeServingPorts({ workspace: '/home/dev' })
  expect(await runCommandLine(['serve'], ports)).toBe(0)
  expect(ports.screen.out.text).toBe(
    'Address: http://127.0.0.1:4711\nToken:   t0ken\nPage:    http://127.0.0.1:4711/?token=t0ken\nStop it with Ctrl-C.\n'
  )
  expect(ports.screen.err.text).toBe('a line [2J\n')
  expect(ports.closed).toBe(1)
  expect(ports.asked).toMatchObject([
    {
      setUp: { dataDir: '/home/dev/.loadgate', port: 0, token: undefined },
      rehearse: false,
      serviceName: undefined
    }
  ])
})

test('a signal while it starts ends that', async () => {
  const ports: TestCommandPorts = makeCommandPorts({
    serve: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
        setImmediate(() => ports.cancellation.abort(new Error('SIGINT')))
      })
  })
  expect(await runCommandLine(['serve'], ports)).toBe(0)
})

test('--json for scripts, and every flag arrives', async () => {
  const ports = makeServingPorts({ workspace: '/home/dev', token: 'mine' })
  const flags = ['--port', '8080', '--data', 'here', '--rehearse', '--service-name', 'acme']
  await runCommandLine(['serve', '--json', ...flags], ports)
  expect(JSON.parse(ports.screen.out.text)).toEqual({
    url: 'http://127.0.0.1:4711',
    token: 't0ken',
    page: 'http://127.0.0.1:4711/?token=t0ken'
  })
  expect(ports.asked).toMatchObject([
    {
      setUp: { dataDir: resolve('/home/dev/here'), port: 8080, token: 'mine' },
      rehearse: true,
      serviceName: 'acme'
    }
  ])
})

describe('refusing', () => {
  test.each(['99999', '80a', '-1', '1.5'])('port %s', async (port) => {
    const ports = makeServingPorts()
    await expect(runCommandLine(['serve', '--port', port], ports)).rejects.toThrow(
      '--port takes a number from 0 to 65535'
    )
    expect(ports.asked).toEqual([])
  })

  test('Windows', async () => {
    const ports = makeServingPorts({ platform: 'win32' })
    await expect(runCommandLine(['serve'], ports)).rejects.toThrow('needs Linux or macOS')
    expect(ports.asked).toEqual([])
  })
})
