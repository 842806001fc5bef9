import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ConfigProblem } from '../../../src/service/config/config.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import type { ServeRequest } from '../../../src/cli/ports.js'
import { makeCommandPorts, type TestCommandPorts } from '../command-ports.js'
import { removeFolder } from '../../support/remove-folder.js'

/** A service that is open until a signal, which comes at once by default. */
function makeServingPorts(
  changes: Partial<TestCommandPorts> = {}
): TestCommandPorts & { asked: ServeRequest[]; closed: number } {
  const asked: ServeRequest[] = []
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
      'expected a whole number from 0 to 65535'
    )
    expect(ports.asked).toEqual([])
  })

  test.each([
    ['grid', '--service-name: grid is a word of the API itself'],
    ['user', '--service-name: user is a word of the API itself'],
    ['event', '--service-name: event is a word of the API itself'],
    [':id', '--service-name: ":id" is invalid; expected a word of lowercase letters'],
    ['a/b', '--service-name: "a/b" is invalid; expected a word of lowercase letters']
  ])('the service name %s', async (name, words) => {
    const ports = makeServingPorts()
    await expect(runCommandLine(['serve', '--service-name', name], ports)).rejects.toThrow(words)
    expect(ports.asked).toEqual([])
  })

  test('Windows', async () => {
    const ports = makeServingPorts({ platform: 'win32' })
    await expect(runCommandLine(['serve'], ports)).rejects.toThrow('needs Linux or macOS')
    expect(ports.asked).toEqual([])
  })
})

describe('with a config file', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'loadgate-serve-'))
    writeFileSync(join(folder, 'service.yml'), 'listen: 127.0.0.1:0\ndata: kept\n')
  })
  afterEach(() => removeFolder(folder))

  const makeTeamPorts = (hasNoUsers: boolean): TestCommandPorts & { asked: ServeRequest[] } => {
    const asked: ServeRequest[] = []
    const ports: TestCommandPorts = makeCommandPorts({
      workspace: folder,
      token: 'of-the-environment',
      serve: (options) => {
        asked.push(options)
        ports.cancellation.abort(new Error('SIGTERM'))
        return Promise.resolve({
          ...{ url: 'https://load.example.com', listening: '127.0.0.1:1', token: undefined, hasNoUsers },
          close: () => Promise.resolve()
        })
      }
    })
    return Object.assign(ports, { asked })
  }

  test('it decides, no token is taken from the environment, and the first user is asked for', async () => {
    const ports = makeTeamPorts(true)
    expect(await runCommandLine(['serve', '--config', 'service.yml'], ports)).toBe(0)
    expect(ports.screen.out.text).toBe(
      'Address: https://load.example.com\nListens: 127.0.0.1:1\nThere are no users yet. Add the first one: loadgate user add NAME --role admin --config service.yml\nStop it with Ctrl-C.\n'
    )
    expect(ports.asked[0]?.setUp).toMatchObject({ dataDir: join(folder, 'kept') })
    expect(JSON.stringify(ports.asked)).not.toContain('of-the-environment')
  })

  test('--json gives one line', async () => {
    const ports = makeTeamPorts(false)
    await runCommandLine(['serve', '--config', 'service.yml', '--json'], ports)
    expect(ports.screen.out.text).toBe('{"url":"https://load.example.com","listening":"127.0.0.1:1"}\n')
  })

  test.each([
    ['--port', '1', 'set listen in the file'],
    ['--data', 'd', 'set data in the file'],
    ['--regions', '{ a: { processes: {} } }', 'set regions in the file']
  ])('%s is refused beside it', async (flag, value, words) => {
    const ports = makeTeamPorts(false)
    await expect(runCommandLine(['serve', '--config', 'service.yml', flag, value], ports)).rejects.toThrow(
      words
    )
    expect(ports.asked).toEqual([])
  })

  test('what shows only at the start is said with the name of the file', async () => {
    const ports = makeCommandPorts({
      workspace: folder,
      serve: () => Promise.reject(new ConfigProblem('listen: 127.0.0.1:1 is in use'))
    })
    await expect(runCommandLine(['serve', '--config', 'service.yml'], ports)).rejects.toThrow(
      `${join(folder, 'service.yml')}: listen: 127.0.0.1:1 is in use`
    )
  })

  test('what is wrong with it is said, and nothing starts', async () => {
    writeFileSync(join(folder, 'service.yml'), 'listen: 0.0.0.0:1\nport: 1\n')
    const ports = makeTeamPorts(false)
    await expect(runCommandLine(['serve', '--config', 'service.yml'], ports)).rejects.toThrow(
      /^3 problems in .*service.yml:\n- unknown key port[^]*\n- data is missing[^]*\n- listen: 0.0.0.0 can be reached/
    )
    expect(ports.asked).toEqual([])
  })
})
