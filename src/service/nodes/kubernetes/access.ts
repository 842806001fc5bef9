import { stringify } from 'yaml'
import { type Clock, systemClock } from '../../../contract/clock.js'
import { asSentence, messageOf } from '../../../contract/text.js'
import { clauseOf } from '../../errors.js'
import { ClusterError, type Cluster, hasStatus, isBusy } from './cluster.js'

export interface AccessProblem {
  readonly message: string
  /** What would grant what is missing, for `kubectl apply -f -`. */
  readonly manifest?: string
}

type Ask = <T>(method: 'GET' | 'POST', path: string, body?: object) => Promise<T>

/** The first version whose Jobs can lose one pod and keep the others. */
const OLDEST_MINOR = 29

/** Everything that prevents runs in this namespace. Nothing is created. */
export async function checkAccess(
  cluster: Cluster,
  signal?: AbortSignal,
  clock = systemClock
): Promise<AccessProblem[]> {
  const ask = askPatiently(cluster, signal, clock)
  let version: Version | undefined
  try {
    version = await ask<Version>('GET', '/version')
  } catch (error) {
    signal?.throwIfAborted()
    // Some clusters do not show their version without login; a refusal still shows that the cluster is there.
    if (!hasStatus(error, 403)) return [{ message: messageOf(error) }]
  }
  const [namespace, permissions] = await Promise.all([
    checkNamespace(cluster, ask),
    checkPermissions(cluster, ask)
  ])
  signal?.throwIfAborted()
  // In a namespace that does not exist nobody but an administrator is allowed anything.
  const orMissing = `Or the namespace does not exist, and this user may not check that: see \`namespace\` in \`regions\` (${cluster.address.namespace}).`
  const missing = permissions.map((problem) =>
    namespace === 'hidden' ? { ...problem, message: `${asSentence(problem.message)} ${orMissing}` } : problem
  )
  return [...checkVersion(cluster, version), ...(namespace === 'hidden' ? [] : namespace), ...missing]
}

type Version = Partial<Record<'major' | 'minor' | 'gitVersion', string>>

function checkVersion({ name }: Cluster, version: Version | undefined): AccessProblem[] {
  const [major = NaN, minor = NaN] = [version?.major, version?.minor].map((part = '') =>
    Number.parseInt(part, 10)
  )
  if (!(major < 1 || (major === 1 && minor < OLDEST_MINOR))) return []
  const found = version?.gitVersion ?? `${major}.${minor}`
  const message = `The cluster of ${name} is Kubernetes ${found}; the oldest supported version is 1.${OLDEST_MINOR}.`
  return [{ message }]
}

/** A user who may not read the namespace cannot know whether it exists. */
async function checkNamespace({ address, name }: Cluster, ask: Ask): Promise<AccessProblem[] | 'hidden'> {
  const { namespace } = address
  try {
    await ask('GET', `/api/v1/namespaces/${encodeURIComponent(namespace)}`)
    return []
  } catch (error) {
    if (hasStatus(error, 403)) return 'hidden'
    const message = hasStatus(error, 404)
      ? `There is no ${name}: ${messageOf(error)}. Create it (kubectl create namespace ${namespace}), or set \`namespace\` in \`regions\`.`
      : messageOf(error)
    return [{ message }]
  }
}

async function checkPermissions({ address, name }: Cluster, ask: Ask): Promise<AccessProblem[]> {
  const { namespace } = address
  const isAllowed = async ({ group, resource: path }: Rule, verb: string): Promise<boolean> => {
    const [resource, subresource] = path.split('/')
    const review = {
      ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
      spec: { resourceAttributes: { namespace, group, resource, subresource, verb } }
    }
    const address = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const { status } = await ask<{ status?: { allowed?: boolean } }>('POST', address, review)
    return status?.allowed === true
  }
  try {
    const lists = await Promise.all(
      RULES.map(async (rule) => {
        const answers = await Promise.all(rule.verbs.map((verb) => isAllowed(rule, verb)))
        const missing = rule.verbs.filter((_, index) => answers[index] !== true)
        const resource = `${rule.resource}${rule.group === '' ? '' : `.${rule.group}`}`
        return missing.length === 0 ? [] : [`${missing.join(', ')} ${resource}`]
      })
    )
    const missing = lists.flat().join('; ')
    if (missing === '') return []
    const user = await whoAmI(ask)
    const who = user === undefined ? 'the user of the kubeconfig' : `the user ${user}`
    const message = `In ${name}, ${who} is not allowed to: ${missing}.`
    return [{ message, manifest: grantManifest(namespace, user) }]
  } catch (error) {
    return [{ message: `The permissions in ${name} could not be checked: ${messageOf(error)}` }]
  }
}

/** Undefined if the cluster does not say, as before 1.28. */
async function whoAmI(ask: Ask): Promise<string | undefined> {
  const review = await ask<{ status?: { userInfo?: { username?: string } } }>(
    'POST',
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  ).catch(() => undefined)
  return review?.status?.userInfo?.username
}

/** How long requests to a busy cluster are repeated. */
const LIMIT_MS = 20_000
const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 5_000

/** Requests that the cluster is too busy for are repeated, all together no longer than the limit from now on. */
function askPatiently(cluster: Cluster, signal: AbortSignal | undefined, clock: Clock): Ask {
  const deadlineMs = clock.now() + LIMIT_MS
  return async <T>(method: 'GET' | 'POST', path: string, body?: object) => {
    for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(2 * delayMs, LAST_RETRY_MS)) {
      try {
        return await cluster.request<T>(method, path, { ...(body && { body }), ...(signal && { signal }) })
      } catch (error) {
        if (!isBusy(error)) throw error
        const waitMs = error.retryAfterMs ?? delayMs
        if (clock.now() + waitMs > deadlineMs)
          throw new ClusterError(
            `The cluster has been too busy for ${LIMIT_MS / 1000} s: ${clauseOf(error)}. Run again later.`,
            error.status,
            { cause: error }
          )
        await clock.sleep(waitMs, signal)
      }
    }
  }
}

interface Rule {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
}

/** Everything that is asked of a cluster. From Kubernetes 1.35 on, exec needs both of its verbs. */
export const RULES: readonly Rule[] = [
  { group: 'batch', resource: 'jobs', verbs: ['create', 'get', 'list', 'watch', 'delete'] },
  { group: '', resource: 'pods', verbs: ['get', 'list', 'watch'] },
  { group: '', resource: 'pods/exec', verbs: ['get', 'create'] },
  { group: '', resource: 'pods/log', verbs: ['get'] },
  { group: '', resource: 'events', verbs: ['list', 'watch'] }
]

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/

/** The manifest that grants everything in a namespace to a user, as the cluster calls it; by default to a service account `loadgate`. */
export function grantManifest(namespace: string, user = `system:serviceaccount:${namespace}:loadgate`) {
  const apiGroup = 'rbac.authorization.k8s.io'
  const metadata = { name: 'loadgate', namespace }
  const head = (kind: string): object => ({ apiVersion: `${apiGroup}/v1`, kind, metadata })
  const [, home, name] = SERVICE_ACCOUNT.exec(user) ?? []
  const subject =
    name === undefined
      ? { apiGroup, kind: 'User', name: user }
      : { kind: 'ServiceAccount', name, namespace: home }
  const rules = RULES.map(({ group, resource, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs
  }))
  const binding = { roleRef: { apiGroup, kind: 'Role', name: 'loadgate' }, subjects: [subject] }
  return `${stringify({ ...head('Role'), rules })}---\n${stringify({ ...head('RoleBinding'), ...binding })}`
}
