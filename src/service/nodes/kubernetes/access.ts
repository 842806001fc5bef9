import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../contract/text.js'
import { clauseOf } from '../../errors.js'
import { ClusterError, type Cluster, isBusy } from './cluster.js'

/** Why runs cannot use a namespace. */
export interface AccessProblem {
  readonly message: string
  /** What would grant what is missing, for `kubectl apply -f -`. */
  readonly manifest?: string
}

interface Version {
  readonly major?: string
  readonly minor?: string
  readonly gitVersion?: string
}

interface Review {
  readonly status?: { readonly allowed?: boolean }
}

/** The first version whose Jobs can lose one pod and keep the others. */
const OLDEST_MINOR = 29

/** All that stands in the way of runs in this namespace. Nothing is created. */
export async function checkAccess(
  asked: Cluster,
  signal?: AbortSignal,
  patience = PATIENCE
): Promise<AccessProblem[]> {
  const cluster = askPatiently(asked, patience)
  const options = signal === undefined ? {} : { signal }
  let version: Version | undefined
  try {
    version = await cluster.request<Version>('GET', '/version', options)
  } catch (error) {
    signal?.throwIfAborted()
    // Some clusters do not tell strangers their version; whoever refuses is there.
    if (!(error instanceof ClusterError) || error.status !== 403) return [{ message: messageOf(error) }]
  }
  const [namespace, permissions] = await Promise.all([
    checkNamespace(cluster, options),
    checkPermissions(cluster, options)
  ])
  signal?.throwIfAborted()
  const missing = namespace.mayBeMissing
    ? permissions.map((problem) => orNoNamespace(problem, cluster))
    : permissions
  return [...checkVersion(cluster, version), ...namespace.problems, ...missing]
}

/** All problems as one text, with the manifest last. */
export function describeAccess(problems: readonly AccessProblem[]): string {
  return problems
    .map(({ message, manifest }) =>
      manifest === undefined
        ? message
        : `${message} This grants it (kubectl apply -f -):\n\n${manifest.trimEnd()}\n`
    )
    .join('\n')
}

function checkVersion(cluster: Cluster, version: Version | undefined): AccessProblem[] {
  const major = Number.parseInt(version?.major ?? '', 10)
  const minor = Number.parseInt(version?.minor ?? '', 10)
  if (!(major < 1 || (major === 1 && minor < OLDEST_MINOR))) return []
  return [
    {
      message: `The cluster of ${cluster.name} is Kubernetes ${version?.gitVersion ?? `${major}.${minor}`}; the oldest supported version is 1.${OLDEST_MINOR}.`
    }
  ]
}

interface NamespaceCheck {
  readonly problems: readonly AccessProblem[]
  /** Whoever may not look at it cannot tell. */
  readonly mayBeMissing: boolean
}

async function checkNamespace(cluster: Cluster, options: { signal?: AbortSignal }): Promise<NamespaceCheck> {
  const { namespace } = cluster.address
  try {
    await cluster.request('GET', `/api/v1/namespaces/${encodeURIComponent(namespace)}`, options)
    return { problems: [], mayBeMissing: false }
  } catch (error) {
    if (error instanceof ClusterError && error.status === 404)
      return found(
        `There is no ${cluster.name}: ${error.message}. Create it (kubectl create namespace ${namespace}), or set \`namespace\` in \`regions\`.`
      )
    // Most users may not look at the namespace itself, and need not.
    if (error instanceof ClusterError && error.status === 403) return { problems: [], mayBeMissing: true }
    return found(messageOf(error))
  }
}

function found(message: string): NamespaceCheck {
  return { problems: [{ message }], mayBeMissing: false }
}

/** In a namespace that does not exist nobody but an administrator is allowed anything. */
function orNoNamespace(problem: AccessProblem, { address: { namespace } }: Cluster): AccessProblem {
  const words = `Or the namespace does not exist, which this user may not find out: check \`namespace\` in \`regions\` (${namespace}).`
  return { ...problem, message: `${asSentence(problem.message)} ${words}` }
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

async function checkPermissions(
  cluster: Cluster,
  options: { signal?: AbortSignal }
): Promise<AccessProblem[]> {
  try {
    const rules = await Promise.all(RULES.map((rule) => missingOf(cluster, rule, options)))
    const missing = rules.filter(({ verbs }) => verbs.length > 0)
    return missing.length === 0 ? [] : [await describeMissing(cluster, missing, options)]
  } catch (error) {
    return [{ message: `The permissions in ${cluster.name} could not be checked: ${messageOf(error)}` }]
  }
}

async function missingOf(cluster: Cluster, rule: Rule, options: { signal?: AbortSignal }): Promise<Rule> {
  const answers = await Promise.all(rule.verbs.map((verb) => mayI(cluster, rule, verb, options)))
  return { ...rule, verbs: rule.verbs.filter((_, index) => answers[index] !== true) }
}

async function mayI(
  cluster: Cluster,
  { group, resource: path }: Rule,
  verb: string,
  options: { signal?: AbortSignal }
): Promise<boolean> {
  const [resource, subresource] = path.split('/')
  const attributes = { namespace: cluster.address.namespace, group, resource, subresource, verb }
  const { status } = await cluster.request<Review>(
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    {
      ...options,
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: attributes }
      }
    }
  )
  return status?.allowed === true
}

async function describeMissing(
  cluster: Cluster,
  missing: readonly Rule[],
  options: { signal?: AbortSignal }
): Promise<AccessProblem> {
  const user = await whoAmI(cluster, options)
  const list = missing.map(
    ({ group, resource, verbs }) => `${verbs.join(', ')} ${resource}${group === '' ? '' : `.${group}`}`
  )
  return {
    message: `In ${cluster.name}, ${user === undefined ? 'the user of the kubeconfig' : `the user ${user}`} is not allowed to: ${list.join('; ')}.`,
    manifest: grantManifest(cluster.address.namespace, user)
  }
}

/** Undefined where the cluster does not say; since 1.28 it does. */
async function whoAmI(cluster: Cluster, options: { signal?: AbortSignal }): Promise<string | undefined> {
  try {
    const review = await cluster.request<{ status?: { userInfo?: { username?: string } } }>(
      'POST',
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      {
        ...options,
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
      }
    )
    return review.status?.userInfo?.username
  } catch {
    return undefined
  }
}

/** How long a busy cluster is asked again; tests replace the waiting. */
export interface Patience {
  readonly limitMs: number
  readonly now: () => number
  readonly wait: (delayMs: number, signal: AbortSignal | undefined) => Promise<unknown>
}

const PATIENCE: Patience = {
  limitMs: 20_000,
  now: () => Date.now(),
  wait: (delayMs, signal) => sleep(delayMs, undefined, { ...(signal && { signal }) })
}

const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 5_000

/** The same cluster; requests that it is too busy for are repeated, all together no longer than the limit from now on. */
function askPatiently(cluster: Cluster, { limitMs, now, wait }: Patience): Cluster {
  const deadlineMs = now() + limitMs
  return {
    ...cluster,
    request: async <T>(...request: Parameters<Cluster['request']>): Promise<T> => {
      for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(2 * delayMs, LAST_RETRY_MS)) {
        try {
          return await cluster.request<T>(...request)
        } catch (error) {
          if (!isBusy(error)) throw error
          const waitMs = error.retryAfterMs ?? delayMs
          if (now() + waitMs > deadlineMs) throw stillBusy(error, limitMs)
          await wait(waitMs, request[2]?.signal)
        }
      }
    }
  }
}

function stillBusy(error: ClusterError, limitMs: number): ClusterError {
  return new ClusterError(
    `The cluster has been too busy for ${limitMs / 1000} s: ${clauseOf(error)}. Run again later.`,
    error.status,
    { cause: error }
  )
}

/** One kind of object, and what is done with it. */
export interface Rule {
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
export function grantManifest(
  namespace: string,
  user = `system:serviceaccount:${namespace}:loadgate`
): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: loadgate
  namespace: ${quote(namespace)}
rules:
${RULES.map(ruleLines).join('\n')}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: loadgate
  namespace: ${quote(namespace)}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: loadgate
subjects:
${subjectLines(user)}
`
}

function ruleLines({ group, resource, verbs }: Rule): string {
  return `  - apiGroups: ['${group}']
    resources: ['${resource}']
    verbs: [${verbs.map((verb) => `'${verb}'`).join(', ')}]`
}

function subjectLines(user: string): string {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(user) ?? []
  if (namespace === undefined || name === undefined)
    return `  - apiGroup: rbac.authorization.k8s.io
    kind: User
    name: ${quote(user)}`
  return `  - kind: ServiceAccount
    name: ${quote(name)}
    namespace: ${quote(namespace)}`
}

/** Only where YAML needs it; what JSON writes is valid there. */
function quote(text: string): string {
  return /^[a-z][a-z\d-]*$/.test(text) && !/^(null|true|false|yes|no|on|off|y|n)$/.test(text)
    ? text
    : JSON.stringify(text)
}
