import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { parse, parseAllDocuments } from 'yaml'
import { type Clock, systemClock } from '../../../../src/contract/clock.js'
import { checkAccess, grantManifest } from '../../../../src/service/nodes/kubernetes/access.js'
import { ClusterError, type Cluster } from '../../../../src/service/nodes/kubernetes/cluster.js'

interface Attributes {
  readonly namespace: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly verb: string
}

interface Parts {
  readonly version?: unknown
  readonly namespace?: unknown
  readonly user?: unknown
  readonly isAllowed?: (attributes: Attributes) => boolean
}

const UNREACHABLE = new ClusterError('The cluster at https://a cannot be reached: ECONNREFUSED', undefined)
const CURRENT = { major: '1', minor: '34+', gitVersion: 'v1.34.4-eks' }

/** What is an error is thrown. */
function makeCluster({ version = CURRENT, namespace = {}, user = 'jane', isAllowed = () => true }: Parts): {
  cluster: Cluster
  asked: Attributes[]
} {
  const asked: Attributes[] = []
  const give = (value: unknown): unknown => {
    if (value instanceof Error) throw value
    return value
  }
  const answers: Record<string, (body: unknown) => unknown> = {
    'GET /version': () => give(version),
    'GET /api/v1/namespaces/load': () => give(namespace),
    'POST /apis/authentication.k8s.io/v1/selfsubjectreviews': () => ({
      status: { userInfo: { username: give(user) } }
    }),
    'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews': (body) => {
      const { resourceAttributes } = (body as { spec: { resourceAttributes: Attributes } }).spec
      asked.push(resourceAttributes)
      return { status: { allowed: isAllowed(resourceAttributes) } }
    }
  }
  const cluster: Cluster = {
    address: { kubeconfig: '/config', context: 'load-eu', namespace: 'load' },
    name: 'namespace load of the cluster load-eu',
    request: async <T>(method: string, path: string, options?: { body?: unknown }) =>
      answers[`${method} ${path}`]!(options?.body) as T,
    exec: () => Promise.reject(new Error('not asked for'))
  }
  return { cluster, asked }
}

/** Time passes only while somebody waits. */
function makePatience(): Clock & { readonly waits: number[] } {
  const waits: number[] = []
  let nowMs = 0
  return {
    ...systemClock,
    waits,
    now: () => nowMs,
    sleep: async (delayMs) => {
      waits.push(delayMs)
      nowMs += delayMs
    }
  }
}

const messagesOf = async (parts: Parts, patience = makePatience()): Promise<string[]> =>
  (await checkAccess(makeCluster(parts).cluster, undefined, patience)).map(({ message }) => message)

describe('access to a cluster', () => {
  test('is fine if everything is allowed: every verb is asked for', async () => {
    const { cluster, asked } = makeCluster({})
    expect(await checkAccess(cluster)).toEqual([])
    const said = asked.map(
      ({ group, resource, subresource, verb }) => `${verb} ${group}/${resource}/${subresource ?? ''}`
    )
    expect(said.sort()).toEqual(
      [
        ...['create', 'get', 'list', 'watch', 'delete'].map((verb) => `${verb} batch/jobs/`),
        ...['get', 'list', 'watch'].map((verb) => `${verb} /pods/`),
        ...['get', 'create'].map((verb) => `${verb} /pods/exec`),
        'get /pods/log',
        ...['list', 'watch'].map((verb) => `${verb} /events/`)
      ].sort()
    )
    expect(new Set(asked.map(({ namespace }) => namespace))).toEqual(new Set(['load']))
  })

  test('tells all problems at once: version, namespace, and every missing permission with what grants it', async () => {
    const problems = await checkAccess(
      makeCluster({
        version: { major: '1', minor: '28', gitVersion: 'v1.28.3' },
        namespace: new ClusterError('namespaces "load" not found', 404),
        isAllowed: ({ resource, subresource, verb }) =>
          !(subresource === 'exec' || (resource === 'jobs' && ['create', 'delete'].includes(verb)))
      }).cluster
    )
    expect(problems.map(({ message }) => message)).toEqual([
      'The cluster of namespace load of the cluster load-eu is Kubernetes v1.28.3; the oldest supported version is 1.29.',
      'There is no namespace load of the cluster load-eu: namespaces "load" not found. Create it (kubectl create namespace load), or set `namespace` in `regions`.',
      'In namespace load of the cluster load-eu, the user jane is not allowed to: create, delete jobs.batch; get, create pods/exec.'
    ])
    expect(problems.map(({ manifest }) => manifest)).toEqual([
      undefined,
      undefined,
      grantManifest('load', 'jane')
    ])
  })

  test('that is missing may mean that there is no namespace, for a user who may not look at it', async () => {
    const namespace = new ClusterError('forbidden', 403)
    const isAllowed = ({ verb }: Attributes): boolean => verb !== 'create'
    expect(await messagesOf({ namespace, isAllowed })).toEqual([
      'In namespace load of the cluster load-eu, the user jane is not allowed to: create jobs.batch; create pods/exec. Or the namespace does not exist, and this user may not check that: see `namespace` in `regions` (load).'
    ])
    expect((await messagesOf({ isAllowed })).join()).not.toContain('does not exist')
  })

  test('that cannot be asked for is one problem', async () => {
    expect(await messagesOf({ version: UNREACHABLE })).toEqual([UNREACHABLE.message])
    const parts = {
      isAllowed: () => {
        throw new ClusterError('etcdserver: request timed out', 500)
      }
    }
    expect(await messagesOf(parts)).toEqual([
      'The permissions in namespace load of the cluster load-eu could not be checked: ' +
        'The cluster has been too busy for 20 s: etcdserver: request timed out. Run again later.'
    ])
  })

  test.each([429, 500, 503])('is asked for again where the cluster is busy: HTTP %i', async (status) => {
    const patience = makePatience()
    let failures = 0
    const isAllowed = (): boolean => {
      failures += 1
      if (failures <= 2)
        throw new ClusterError('too many requests', status, { retryAfterMs: failures * 1000 })
      return true
    }
    expect(await messagesOf({ isAllowed }, patience)).toEqual([])
    expect(patience.waits).toEqual([1000, 2000])
  })

  test('is not asked for again where the cluster says no, or cannot be reached', async () => {
    const patience = makePatience()
    await messagesOf({ version: UNREACHABLE }, patience)
    await messagesOf({ namespace: new ClusterError('forbidden', 403) }, patience)
    expect(patience.waits).toEqual([])
  })

  test.each<[string, Parts]>([
    ['the namespace may not be looked at', { namespace: new ClusterError('forbidden', 403) }],
    ['the version is secret', { version: new ClusterError('forbidden', 403) }],
    ['the version is the oldest supported one', { version: { major: '1', minor: '29+' } }],
    ['the version is of a new kind', { version: { major: '2', minor: '0' } }]
  ])('is fine if %s', async (_, parts) => {
    expect(await messagesOf(parts)).toEqual([])
  })

  test('of a user that the cluster does not name is granted to a service account', async () => {
    const { cluster } = makeCluster({
      user: new ClusterError('the server could not find the requested resource', 404),
      isAllowed: () => false
    })
    const [problem] = await checkAccess(cluster)
    expect(problem!.message).toContain('the user of the kubeconfig is not allowed to: create, get, list')
    expect(problem!.manifest).toBe(grantManifest('load'))
  })
})

describe('the manifest', () => {
  interface Manifest {
    readonly kind: string
    readonly subjects?: readonly unknown[]
    readonly rules?: readonly unknown[]
  }
  const read = (text: string): Manifest[] =>
    parseAllDocuments(text).map((document) => document.toJS() as Manifest)

  test('is the one in the examples', () => {
    const example = read(readFileSync('examples/kubernetes/rbac.yaml', 'utf8'))
    expect(example.filter(({ kind }) => kind !== 'ServiceAccount')).toEqual(read(grantManifest('load')))
    expect(example.map(({ kind }) => kind)).toEqual(['ServiceAccount', 'Role', 'RoleBinding'])
  })

  test.each([
    ['system:serviceaccount:ci:gate', { kind: 'ServiceAccount', name: 'gate', namespace: 'ci' }],
    ['jane', { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
    [
      'arn:aws:iam::1:role/ci "x"\n',
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'arn:aws:iam::1:role/ci "x"\n' }
    ]
  ])('names the user %j as its subject', (user, subject) => {
    expect(read(grantManifest('load', user))[1]!.subjects).toEqual([subject])
  })

  test('keeps a namespace of digits a string', () => {
    expect((parse(grantManifest('42').split('---')[0]!) as { metadata: unknown }).metadata).toEqual({
      name: 'loadgate',
      namespace: '42'
    })
  })
})
