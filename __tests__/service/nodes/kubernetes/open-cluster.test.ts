import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { ClusterError } from '../../../../src/service/nodes/kubernetes/cluster.js'
import type { Cluster, ClusterChoice } from '../../../../src/service/nodes/kubernetes/cluster.js'
import { Credentials } from '../../../../src/service/nodes/kubernetes/credentials.js'
import { loadKubeconfig } from '../../../../src/service/nodes/kubernetes/kubeconfig.js'
import { openCluster, reopenCluster } from '../../../../src/service/nodes/kubernetes/open-cluster.js'
import { writeKubeconfig } from '../../../support/kubernetes/kubeconfig.js'
import type { KubeconfigParts } from '../../../support/kubernetes/kubeconfig.js'
import { makeStatus, startStandInCluster } from '../../../support/kubernetes/stand-in-cluster.js'
import type {
  StandInCluster,
  StandInOptions,
  StandInReply,
  StandInRequest
} from '../../../support/kubernetes/stand-in-cluster.js'

const CURRENT: ClusterChoice = { context: undefined, namespace: undefined }
const SERVER = 'http://127.0.0.1:1'
const FOREVER = new AbortController().signal
const UNAUTHORIZED = { status: 401, body: makeStatus(401, 'Unauthorized', 'Unauthorized') }

let folder: string
let standIn: StandInCluster

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-cluster-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function failureOf(work: Promise<unknown>): Promise<ClusterError> {
  const error: unknown = await work.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ClusterError)
  return error as ClusterError
}

describe('the kubeconfig', () => {
  const openWith = (KUBECONFIG: string, choice = CURRENT): Promise<Cluster> =>
    openCluster(choice, { KUBECONFIG })

  test('gives the current context and its namespace; the address has paths and names only', async () => {
    const file = writeKubeconfig(folder, { server: SERVER, namespace: 'load' })
    const cluster = await openWith(file)
    expect(cluster.address).toEqual({ kubeconfig: file, context: 'load-eu', namespace: 'load' })
    expect(cluster.name).toBe('namespace load of the cluster load-eu')
  })

  test('without a namespace means `default`; what was chosen goes first', async () => {
    const file = writeKubeconfig(folder, { server: SERVER })
    expect((await openWith(file)).address.namespace).toBe('default')
    const chosen = await openWith(file, { context: undefined, namespace: 'own' })
    expect(chosen.address.namespace).toBe('own')
  })

  test('is the one of the home folder without KUBECONFIG', async () => {
    mkdirSync(join(folder, '.kube'))
    const file = writeKubeconfig(join(folder, '.kube'), { server: SERVER })
    const cluster = await openCluster(CURRENT, { HOME: folder, KUBERNETES_SERVICE_HOST: '10.0.0.1' })
    expect(cluster.address.kubeconfig).toBe(file)
  })

  test('is what a pod has if there is no file', async () => {
    const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
    Object.assign(process.env, pod)
    const cluster = await openCluster(CURRENT, { HOME: folder, ...pod })
    for (const name of Object.keys(pod)) Reflect.deleteProperty(process.env, name)
    expect(cluster.address).toMatchObject({ kubeconfig: undefined, namespace: 'default' })
    expect(cluster.name).toBe('namespace default of the cluster that this runs in')
  })

  test('may be several files, of which one is missing: the first one wins, also where they have the same names', async () => {
    const first = writeKubeconfig(folder, { name: 'first', server: SERVER, namespace: 'one' })
    const other = writeKubeconfig(folder, { name: 'other', server: SERVER, context: 'load-us' })
    const same = writeKubeconfig(folder, { name: 'same', server: SERVER, namespace: 'three' })
    const paths = [first, join(folder, 'none'), other, same].join(delimiter)
    expect((await openWith(paths)).address).toMatchObject({ context: 'load-eu', namespace: 'one' })
    const us = await openWith(paths, { context: 'load-us', namespace: undefined })
    expect(us.address).toEqual({ kubeconfig: paths, context: 'load-us', namespace: 'default' })
  })

  test('is found again by its address, whatever the environment says then', async () => {
    const { address } = await openWith(writeKubeconfig(folder, { server: SERVER }))
    const again = await reopenCluster({ ...address, namespace: 'own' }, { KUBECONFIG: '/nowhere' })
    expect(again.address).toEqual({ ...address, namespace: 'own' })
  })

  test.each<[string, string, RegExp]>([
    ['is missing', '', /kubeconfig .*config cannot be read: .*ENOENT.*Set KUBECONFIG/],
    ['is empty', ' \n', /is empty or not a map/],
    ['is not YAML', 'users:\n  - "secret-token\n', /is not valid YAML \(line \d+\)\.$/],
    [
      'has a cluster without a server',
      'clusters: [{ name: a, cluster: {} }]',
      /not complete: .*server is missing/
    ],
    ['has no contexts', 'kind: Config', /has no current context.*It has none/]
  ])('says so if it %s', async (_, text, words) => {
    const file = join(folder, 'config')
    const write: Record<string, () => void> = { '': () => undefined }
    ;(write[text] ?? (() => writeFileSync(file, text)))()
    const error = await failureOf(openWith(file))
    expect(error.message).toMatch(words)
    expect(error.message).not.toContain('secret-token')
  })

  test('without the context that was chosen: says which ones there are', async () => {
    const file = writeKubeconfig(folder, { server: SERVER })
    const error = await failureOf(openWith(file, { context: 'load-us', namespace: undefined }))
    expect(error.message).toBe(`There is no context load-us in the kubeconfig ${file}. It has: load-eu.`)
  })

  test.each([
    ['cluster', /names the cluster gone, which is not in/],
    ['user', /names the user gone, which is not in/]
  ])('with a context whose %s is not there: says so', async (key, words) => {
    const file = writeKubeconfig(folder, { server: SERVER })
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(`      ${key}: ${key}-of-load-eu`, `      ${key}: gone`))
    expect((await failureOf(openWith(file))).message).toMatch(words)
  })
})

describe('with a cluster', () => {
  afterEach(() => standIn.close())

  async function open(options: StandInOptions, parts: Partial<KubeconfigParts> = {}): Promise<Cluster> {
    standIn = await startStandInCluster(options)
    const KUBECONFIG = writeKubeconfig(folder, { server: standIn.url, ...parts })
    return openCluster(CURRENT, { KUBECONFIG, PATH: process.env.PATH })
  }

  describe('a request', () => {
    test('is sent with the token, and its reply is JSON', async () => {
      const cluster = await open({ answer: ({ body }) => ({ status: 201, body: { got: body } }) })
      const path = '/apis/batch/v1/namespaces/load/jobs'
      const reply = await cluster.request('POST', `${path}?fieldManager=loadgate`, { body: { kind: 'Job' } })
      expect(reply).toEqual({ got: { kind: 'Job' } })
      const [asked] = standIn.requests
      expect(asked).toMatchObject({ method: 'POST', path })
      expect(asked!.query.get('fieldManager')).toBe('loadgate')
      expect(asked!.headers.authorization).toBe('Bearer secret-token')
    })

    test('without TLS is sent without credentials, as by kubectl', async () => {
      const cluster = await open(
        { answer: () => ({}) },
        { cluster: { 'insecure-skip-tls-verify': undefined } }
      )
      expect(await cluster.request('GET', '/version')).toEqual({})
      expect(standIn.requests[0]!.headers.authorization).toBeUndefined()
    })

    test('goes to the path of the server if it has one', async () => {
      standIn = await startStandInCluster({ answer: () => ({}) })
      const KUBECONFIG = writeKubeconfig(folder, { server: `${standIn.url}/k8s/clusters/c-1/` })
      const cluster = await openCluster(CURRENT, { KUBECONFIG })
      await cluster.request('GET', '/version')
      expect(standIn.requests[0]!.path).toBe('/k8s/clusters/c-1/version')
    })

    test.each<[string, StandInReply, string]>([
      [
        'in Kubernetes’ words',
        { status: 403, body: makeStatus(403, 'Forbidden', 'jobs.batch is forbidden: exceeded quota') },
        'GET /x was answered with HTTP 403: jobs.batch is forbidden: exceeded quota'
      ],
      [
        'by a proxy',
        { status: 502, body: '<h1>Bad\n  Gateway</h1>' },
        'GET /x was answered with HTTP 502: <h1>Bad Gateway</h1>'
      ],
      ['without words', { status: 500, body: '' }, 'GET /x was answered with HTTP 500']
    ])('that is refused %s is a ClusterError with them', async (_, reply, message) => {
      const cluster = await open({ answer: () => reply })
      const error = await failureOf(cluster.request('GET', '/x'))
      expect(error).toMatchObject({ message, status: reply.status })
    })

    test('that is answered by something else than Kubernetes is a ClusterError', async () => {
      const cluster = await open({ answer: () => ({ body: '<html>' }) })
      expect((await failureOf(cluster.request('GET', '/x'))).message).toMatch(/not JSON.*Kubernetes API\?/)
    })

    test('that is cut is a ClusterError without a status, and is not repeated', async () => {
      const cluster = await open({ answer: () => Promise.reject(new Error('cut')) })
      const error = await failureOf(cluster.request('POST', '/x', { body: {} }))
      expect(error.status).toBeUndefined()
      expect(error.message).toMatch(
        /^The cluster at http:\/\/127.0.0.1:\d+ cannot be reached: .*socket hang up/
      )
      expect(standIn.requests).toHaveLength(1)
    })

    test('that is aborted ends with the reason', async () => {
      const stopper = new AbortController()
      const cluster = await open({
        answer: () => {
          stopper.abort(new Error('enough'))
          return new Promise(() => undefined)
        }
      })
      await expect(cluster.request('GET', '/x', { signal: stopper.signal })).rejects.toThrow('enough')
    })
  })

  describe('credentials', () => {
    const accepts =
      (token: string) =>
      ({ headers }: StandInRequest): StandInReply | undefined =>
        headers.authorization === `Bearer ${token}` ? undefined : UNAUTHORIZED

    /** Each call gives the next token. */
    function writePlugin(): Record<string, unknown> {
      const file = join(folder, 'plugin')
      writeFileSync(
        file,
        `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO $STAGE" >> "${folder}/calls"
n=$(wc -l < "${folder}/calls")
echo "{\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"token-$((n))\\",\\"expirationTimestamp\\":\\"2999-01-01T00:00:00Z\\"}}"
`,
        { mode: 0o755 }
      )
      // A path relative to the kubeconfig.
      return {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: './plugin',
          env: [{ name: 'STAGE', value: 'test' }]
        }
      }
    }
    const calls = (): string[] => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')

    test('of a plugin are asked for once for all requests at the same time', async () => {
      const accepted = accepts('token-1')
      const cluster = await open({ answer: (request) => accepted(request) ?? {} }, { user: writePlugin() })
      await Promise.all(Array.from({ length: 20 }, () => cluster.request('GET', '/x')))
      expect(calls()).toHaveLength(1)
      expect(calls()[0]).toContain('"apiVersion":"client.authentication.k8s.io/v1"')
      expect(calls()[0]).toContain(' test')
    })

    test('that expired are asked for again, once, by requests and by streams', async () => {
      const accepted = accepts('token-2')
      const cluster = await open(
        {
          answer: (request) => accepted(request) ?? {},
          refuseExec: accepted,
          onExec: (exec) => exec.exit(4)
        },
        { user: writePlugin() }
      )
      const results = await Promise.all([
        cluster.request('GET', '/x'),
        cluster.request('GET', '/x'),
        cluster.exec('pod', ['true'], {}, FOREVER)
      ])
      expect(results).toEqual([{}, {}, { code: 4 }])
      expect(calls()).toHaveLength(2)
    })

    test('that are refused again: says so, without them', async () => {
      const cluster = await open({ answer: () => UNAUTHORIZED, refuseExec: () => UNAUTHORIZED })
      const error = await failureOf(cluster.request('GET', '/x'))
      expect(error.message).toMatch(/HTTP 401: Unauthorized\. The credentials .* log in to the cluster again/)
      const ofStream = await failureOf(cluster.exec('pod', ['true'], {}, FOREVER))
      expect(ofStream.message).toMatch(/^Running a command in the pod pod was answered with HTTP 401/)
      expect(error.message + ofStream.message).not.toContain('secret-token')
      expect(standIn.requests).toHaveLength(4)
    })

    test('in a file are read from there, without the line break', async () => {
      writeFileSync(join(folder, 'token'), 'token-of-file\n')
      const cluster = await open({ answer: () => ({}) }, { user: { tokenFile: 'token' } })
      await cluster.request('GET', '/x')
      expect(standIn.requests[0]!.headers.authorization).toBe('Bearer token-of-file')
    })

    describe('of a plugin that hangs', () => {
      const isAlive = (pid: number): boolean => {
        try {
          return process.kill(pid, 0)
        } catch {
          return false
        }
      }
      async function until(holds: () => boolean): Promise<void> {
        while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
      }
      const pidFile = (): string => join(folder, 'pid')
      const pid = (): number => Number(readFileSync(pidFile(), 'utf8'))
      const hangs = (): Record<string, unknown> => ({
        exec: {
          command: 'sh',
          args: ['-c', `echo $$ > ${pidFile()}.new; mv ${pidFile()}.new ${pidFile()}; exec sleep 600`]
        }
      })

      test('are not waited for after the request is called off', async () => {
        const cluster = await open({}, { user: hangs() })
        const calledOff = new AbortController()
        const { signal } = calledOff
        const asked = [cluster.request('GET', '/x', { signal }), cluster.exec('pod', ['true'], {}, signal)]
        const ends = Promise.allSettled(asked)
        await until(() => existsSync(pidFile()))
        calledOff.abort(new Error('called off'))
        const reasons = (await ends).map((end) => (end as PromiseRejectedResult).reason as Error)
        expect(reasons.map(({ message }) => message)).toEqual(['called off', 'called off'])
        process.kill(pid())
      })

      test('are given up after a while, and the plugin is named and ended', async () => {
        const file = writeKubeconfig(folder, { server: SERVER, user: hangs() })
        const config = loadKubeconfig(file, {})
        const credentials = new Credentials(config, file, 'load-eu', {}, 300)
        const error = await failureOf(credentials.access())
        expect(error.message).toBe(
          'The credentials of the context load-eu could not be obtained from `sh`: no answer within 0.3 s. Try `kubectl --context load-eu version` in the same environment.'
        )
        await until(() => !existsSync(pidFile()) || !isAlive(pid()))
      })
    })

    test.each<[string, string, RegExp]>([
      [
        'is missing',
        'nosuchplugin',
        /could not be obtained from `nosuchplugin`: .*spawn nosuchplugin ENOENT/
      ],
      [
        'fails',
        'echo expired session >&2; exit 1',
        /from `sh`: expired session\. Try `kubectl --context load-eu/
      ],
      ['says something else', 'echo secret-token', /from `sh`: its output is not an ExecCredential/],
      ['says nothing useful', 'echo "{}"', /from `sh`: its output is not an ExecCredential/]
    ])('of a plugin that %s: says so, without its output', async (_, script, words) => {
      const isMissing = script === 'nosuchplugin'
      const exec = isMissing ? { command: script } : { command: 'sh', args: ['-c', script] }
      const cluster = await open({}, { user: { exec } })
      const error = await failureOf(cluster.request('GET', '/x'))
      expect(error.message).toMatch(words)
      expect(error.message).not.toContain('secret-token')
    })
  })
})
